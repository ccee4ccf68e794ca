"""The public functions of orchestration, with the specialists that ship as their default."""

from collections import namedtuple
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

from sestet.agents import default_specs, match_order, room_names, shared_fragments
from sestet.core.agent import UNMATCHED, Agent, AgentSpec
from sestet.core.tool import Tool
from sestet.orchestration.capability import capability_of, describe_capabilities, phrases_of
from sestet.orchestration.partition import in_match_order, partition
from sestet.orchestration.tree import OrchestrationConfig, build_single_agent, build_tree

__all__ = [
    "OrchestrationConfig",
    "RoleToolSet",
    "build_agent_tree",
    "build_single_agent",
    "capability_description",
    "default_specs",
    "partition_tools",
    "tool_capability",
]

Partition = dict[str, tuple[Tool, ...]]

if TYPE_CHECKING:

    class RoleToolSet(NamedTuple):
        """The partition among the rooms; for a type checker, among the six of the specification."""

        operator: tuple[Tool, ...] = ()
        navigator: tuple[Tool, ...] = ()
        vault: tuple[Tool, ...] = ()
        librarian: tuple[Tool, ...] = ()
        planner: tuple[Tool, ...] = ()
        chronicler: tuple[Tool, ...] = ()
        unmatched: tuple[Tool, ...] = ()

else:
    _FIELDS = (*room_names(), UNMATCHED)
    RoleToolSet = namedtuple("RoleToolSet", _FIELDS, defaults=((),) * len(_FIELDS))
    RoleToolSet.__doc__ = "The partition among the rooms: one field for each, and one for unmatched tools."


@overload
def partition_tools(tools: Iterable[Tool], specs: None = None) -> RoleToolSet: ...
@overload
def partition_tools(tools: Iterable[Tool], specs: Sequence[AgentSpec]) -> RoleToolSet | Partition: ...
def partition_tools(
    tools: Iterable[Tool], specs: Sequence[AgentSpec] | None = None
) -> RoleToolSet | Partition:
    """Put every tool in exactly one bucket; among other agents than those that ship, a mapping by name."""
    buckets = tool_owners(tools, default_specs() if specs is None else specs)
    if buckets.keys() == set(RoleToolSet._fields):
        return RoleToolSet(**buckets)
    return buckets


def tool_owners(tools: Iterable[Tool], specs: Sequence[AgentSpec]) -> Partition:
    """The partition as a mapping, among any agents."""
    return partition(tools, in_match_order(specs, match_order()))


def tool_capability(name: str) -> str:
    """The words for a tool's prefix; empty when the prefix is not known."""
    return capability_of(name, phrases_of(default_specs()))


def capability_description(tools: Iterable[Tool]) -> str:
    """The capabilities of a set of tools, each once, in order of first appearance."""
    return describe_capabilities(tools, phrases_of(default_specs()))


def build_agent_tree(config: OrchestrationConfig) -> Agent:
    """The orchestrator and the specialists that the tools call for."""
    specs = default_specs() if config.specs is None else config.specs
    fragments = shared_fragments(config.prompt_profile)
    return build_tree(config, specs=specs, match_order=match_order(), fragments=fragments)
