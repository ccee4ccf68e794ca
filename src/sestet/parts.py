"""The parts of an assistant that follow from its settings: tools with their services, limits, policy."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sestet.agents import NAMES, room_tools
from sestet.config import Settings
from sestet.core.agent import Agent, AgentSpec
from sestet.core.errors import DefinitionError
from sestet.core.model import Model
from sestet.core.record import Record
from sestet.core.tool import CallInfo, Tool
from sestet.models.choice import Models, is_local, is_small
from sestet.orchestration.routing import PromptProfile
from sestet.runtime.gate import Allowed, Policy
from sestet.runtime.history import History
from sestet.runtime.turn import Limits
from sestet.services.embedding.work import Embedding
from sestet.services.files import Files
from sestet.services.memory.forgetting import Forgetting
from sestet.services.memory.recall import Recall
from sestet.services.retrieval import Retrieval
from sestet.storage.database import Database
from sestet.storage.exchanges import ExchangeStore
from sestet.storage.graph import GraphStore
from sestet.storage.journal import Journal
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.links import LinkStore
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore
from sestet.storage.passages import PassageStore
from sestet.storage.predicates import Predicates

if TYPE_CHECKING:
    from sestet.runtime.fast_route import FastRoute


class Additions(Record):
    """What a program that embeds the assistant adds to it."""

    tools: Sequence[Tool] = ()
    specs: Sequence[AgentSpec] = ()
    model: Model | None = None

    def __post_init__(self) -> None:
        _require_kind(self.tools, Tool, "a tool; '@sestet.tool' makes one of a function")
        _require_kind(self.specs, AgentSpec, "a spec; 'sestet.AgentSpec' makes one")
        given = self.model
        missing = [name for name in ("name", "stream", "close") if not hasattr(given, name)]
        if given is not None and (missing or isinstance(given, type)):
            why = f"it has no {missing[0]!r}" if missing else "it is a class"
            raise DefinitionError(f"model: {given!r} is not a model: {why}")


def _require_kind(items: Sequence[object], kind: type, what: str) -> None:
    for item in items:
        if not isinstance(item, kind):
            raise DefinitionError(f"{item!r} is not {what}")


def available_tools(
    settings: Settings, database: Database, embedding: Embedding | None = None, added: Iterable[Tool] = ()
) -> tuple[Tool, ...]:
    """Every tool of every room whose services the settings switch on, then those that a program adds."""
    services: dict[type, object] = {
        Files: Files(Path.cwd()),
        MemoryStore: MemoryStore(database),
        Recall: Recall(database, embedding=embedding),
        Forgetting: Forgetting(database),
        KnowledgeStore: KnowledgeStore(database),
        LearningStore: LearningStore(database),
        ExchangeStore: ExchangeStore(database),
    }
    if settings.graph.enabled:
        services[GraphStore] = GraphStore(database)
        services[Predicates] = Predicates(settings.graph.predicates)
    if settings.embedding.provider != "none":
        links = LinkStore(database) if settings.graph.enabled else None
        services[Retrieval] = Retrieval(PassageStore(database), links, embedding)
    if settings.search.url:
        from sestet.services.web_search import WebSearch

        services[WebSearch] = WebSearch(settings.search.url)
    if settings.observational_memory.enabled:
        services[ObservationStore] = ObservationStore(database)
    bound = (tool.bind(services) for name in NAMES for tool in room_tools(name))
    return (*(tool for tool in bound if tool is not None), *(_bind_added(tool, services) for tool in added))


def _bind_added(tool: Tool, services: Mapping[type, object]) -> Tool:
    """Whoever added it is told what is missing: nobody else could give it."""
    if (bound := tool.bind(services)) is not None:
        return bound
    lacking = (need for need in tool.needs if need is not CallInfo and need not in services)
    missing = [getattr(need, "__name__", repr(need)) for need in lacking]
    raise DefinitionError(
        f"tool '{tool.name}' needs {' and '.join(missing)}, which this assistant does not have; "
        f"give it what it needs: {tool.name}.bind({{{missing[0]}: …}})"
    )


def prompt_profile(settings: Settings) -> PromptProfile:
    """How much the agents are told about their work."""
    profile = settings.agent.prompt_profile
    if profile != "auto":
        return profile
    return "compact" if is_small(settings) else "full"


def open_history(settings: Settings, journal: Journal, database: Database) -> History:
    """What the root agent is shown of a session, and of what is remembered beside a message."""
    memory, tokens = settings.observational_memory, settings.agent.context_tokens
    recalled = memory.prompt_tokens if memory.enabled else 0
    if is_local(settings, settings.agent.provider):
        # The rest of its context is for what it is told, what tools give back, and its reply.
        tokens = min(tokens, settings.local.context_tokens // 4)
        recalled = min(recalled, tokens // 4)
    if not recalled:
        return History(journal, tokens)
    return History(journal, tokens, Recall(database, recalled).section)


def limits_of(settings: Settings) -> Limits:
    """What one turn may use."""
    limits = settings.limits
    tool_output = limits.tool_output
    if is_local(settings, settings.agent.provider):
        # A quarter of its context, in characters.
        tool_output = min(tool_output, settings.local.context_tokens)
    return Limits(
        rounds=settings.agent.max_delegation_rounds,
        model_calls=limits.model_calls,
        seconds=limits.seconds,
        delegation_seconds=limits.delegation_seconds,
        tool_output=tool_output,
        tokens=limits.tokens or None,
        dollars=limits.dollars or None,
    )


def policy_of(settings: Settings, agents: Iterable[str]) -> Policy:
    """What is blocked, what is allowed, and whose every change is asked about."""
    allowed = (Allowed(entry.tool, entry.target, entry.private) for entry in settings.policy.allow)
    # Whoever works for a small model does what it has asked for.
    careful = frozenset(name for name in agents if is_small(settings) or is_small(settings, name))
    return Policy(settings.policy.block, tuple(allowed), careful)


def fast_route(settings: Settings, models: Models, root: Agent) -> "FastRoute | None":
    """What sends sure requests straight to their owner, if that is wished for."""
    wanted = settings.agent.fast_route
    # Without a model to save the call of, there is nothing to be gained.
    if wanted == "off" or not models.is_real(root.name):
        return None
    from sestet.runtime.fast_route import FastRoute

    return FastRoute(lambda: models.router, only_measured=wanted == "auto")
