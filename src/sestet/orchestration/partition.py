"""Puts every tool in exactly one bucket: its owner's, or the bucket of unmatched tools."""

from collections.abc import Callable, Iterable, Sequence

from sestet.core.agent import ORCHESTRATOR, UNMATCHED, AgentSpec, normalise_name
from sestet.core.errors import DefinitionError
from sestet.core.tool import Tool

_RESERVED = (ORCHESTRATOR, UNMATCHED)


def partition(tools: Iterable[Tool], specs: Sequence[AgentSpec]) -> dict[str, tuple[Tool, ...]]:
    """Give each tool to its declared owner, or else to the first spec, in this order, that owns its name."""
    tools = tuple(tools)
    require_distinct("tool", (tool.name for tool in tools))
    require_agent_names(spec.name for spec in specs)
    buckets: dict[str, list[Tool]] = {spec.name: [] for spec in specs} | {UNMATCHED: []}
    for tool in tools:
        owners = (spec.name for spec in specs if tool.belongs_to(spec.name, by_name=spec.owns(tool.name)))
        buckets[next(owners, UNMATCHED)].append(tool)
    return {name: tuple(bucket) for name, bucket in buckets.items()}


def in_match_order(specs: Iterable[AgentSpec], built_in: Sequence[str]) -> tuple[AgentSpec, ...]:
    """User-defined specs first, in the order given; then the built-in ones in their own order."""
    rank = {name: position for position, name in enumerate(built_in)}
    return tuple(sorted(specs, key=lambda spec: rank.get(spec.name, -1)))


def require_agent_names(names: Iterable[str]) -> None:
    """Raise for a reserved name, and for two agents of one name."""
    names = tuple(names)
    for name in names:
        if normalise_name(name) in _RESERVED:
            raise DefinitionError(f"agent '{name}': this name is reserved, choose another")
    require_distinct("agent", names, normalise_name)


def require_distinct(what: str, names: Iterable[str], normalise: Callable[[str], str] = str) -> None:
    """Raise for the first name that occurs twice."""
    seen: dict[str, str] = {}
    for name in names:
        key = normalise(name)
        if key in seen:
            other = "" if seen[key] == name else f" (as '{seen[key]}')"
            raise DefinitionError(f"{what} '{name}' is defined twice{other}")
        seen[key] = name
