"""Builds the tree: an orchestrator without tools above the specialists that have something to do."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from sestet.core.agent import (
    ASSISTANT,
    NAME_RULE,
    ORCHESTRATOR,
    UNMATCHED,
    Agent,
    AgentSpec,
    RemotePeer,
    is_valid_name,
)
from sestet.core.errors import AdaptError, DefinitionError
from sestet.core.model import Model
from sestet.core.offer import fit_to_tools
from sestet.core.record import Record
from sestet.core.tool import Tool
from sestet.orchestration.capability import describe_capabilities, phrases_of
from sestet.orchestration.partition import in_match_order, partition, require_agent_names, require_distinct
from sestet.orchestration.routing import (
    DEFAULT_ROUNDS,
    PromptProfile,
    fill_prompt,
    render_instruction,
    shorten,
)

AdaptTool: TypeAlias = Callable[[Tool, str], Tool]


def _unchanged(tool: Tool, agent_name: str) -> Tool:
    return tool


class OrchestrationConfig(Record):
    """All that a tree is built from."""

    tools: Sequence[Tool] = ()
    model: Model | None = None
    system_prompt: str = ""
    #: Called exactly once for each owned tool, with its owner's name.
    adapt_tool: AdaptTool = _unchanged
    remote_agents: Sequence[Agent | RemotePeer] = ()
    #: Zero, negative or None: the default of 5.
    max_delegation_rounds: int | None = None
    #: In creation order; None means those that ship.
    specs: Sequence[AgentSpec] | None = None
    prompt_profile: PromptProfile = "full"

    @property
    def rounds(self) -> int:
        limit = self.max_delegation_rounds
        return limit if limit is not None and limit > 0 else DEFAULT_ROUNDS


def build_tree(
    config: OrchestrationConfig, *, specs: Sequence[AgentSpec], match_order: Sequence[str], fragments: str
) -> Agent:
    """The orchestrator with one sub-agent for each spec that has tools or is always included."""
    _require_names("tool", (tool.name for tool in config.tools))
    _require_names("agent", (spec.name for spec in specs))
    buckets = partition(config.tools, in_match_order(specs, match_order))
    # From here on nobody reads of an ability whose tool is not there.
    specs = [fit_to_tools(spec, (tool.name for tool in buckets[spec.name])) for spec in specs]
    local = [
        _build_specialist(spec, buckets[spec.name], config, specs, fragments)
        for spec in specs
        if buckets[spec.name] or spec.always_include
    ]
    agents = (*local, *(_as_agent(remote) for remote in config.remote_agents))
    require_agent_names(agent.name for agent in agents)
    _require_names("agent", (agent.name for agent in agents))
    # A plaque belongs to a local specialist: a remote agent of the same name gets none.
    plaques = {spec.name: spec for spec in specs if any(agent.name == spec.name for agent in local)}
    instruction = render_instruction(
        agents, plaques, buckets[UNMATCHED], config.system_prompt, config.rounds, config.prompt_profile
    )
    return Agent(ORCHESTRATOR, "Talks with the person and delegates", instruction, None, agents)


def build_single_agent(config: OrchestrationConfig) -> Agent:
    """One flat agent that holds every tool."""
    require_distinct("tool", (tool.name for tool in config.tools))
    _require_names("tool", (tool.name for tool in config.tools))
    return Agent(
        ASSISTANT,
        "Talks with the person and does the work itself",
        fill_prompt("assistant.md", system_prompt=config.system_prompt),
        _adapt(config.tools, ASSISTANT, config.adapt_tool),
    )


def _build_specialist(
    spec: AgentSpec,
    tools: Sequence[Tool],
    config: OrchestrationConfig,
    specs: Sequence[AgentSpec],
    fragments: str,
) -> Agent:
    # A spec's own phrase for a prefix wins over another spec's.
    phrases = {**phrases_of(specs), **spec.capabilities}
    description = spec.description
    if tools:
        description = f"{spec.description}. Capabilities: {describe_capabilities(tools, phrases)}"
    own = shorten(spec.instruction) if config.prompt_profile == "compact" else spec.instruction.strip()
    instruction = f"{own}\n\n{fragments.strip()}\n".lstrip()
    adapted = _adapt(tools, spec.name, config.adapt_tool)
    return Agent(
        spec.name, description, instruction, adapted, exclusive=spec.exclusive, summary=spec.description
    )


def _adapt(tools: Iterable[Tool], agent_name: str, adapt_tool: AdaptTool) -> tuple[Tool, ...]:
    adapted: list[Tool] = []
    for tool in tools:
        try:
            adapted.append(adapt_tool(tool, agent_name))
        except Exception as error:
            raise AdaptError(f"adapt {agent_name} tools: '{tool.name}': {error}") from error
    return tuple(adapted)


def _as_agent(remote: Agent | RemotePeer) -> Agent:
    if isinstance(remote, Agent):
        return remote
    return Agent(remote.name, remote.description, remote=remote)


def _require_names(what: str, names: Iterable[str]) -> None:
    for name in names:
        if not is_valid_name(name):
            raise DefinitionError(f"{what} '{name}': {NAME_RULE}")
