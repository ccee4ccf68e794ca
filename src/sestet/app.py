"""The composition root: settings → storage → services → rooms → tree → runner. The only wiring."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sestet.agents import NAMES, default_specs, room_tools
from sestet.api import OrchestrationConfig, build_agent_tree, build_single_agent, tool_owners
from sestet.config import Settings, data_directory, load_settings, settings_from
from sestet.core.agent import Agent, AgentSpec, RemotePeer, normalise_name
from sestet.core.errors import ConfigError
from sestet.core.event import Event
from sestet.core.model import Model
from sestet.core.tool import Tool
from sestet.runtime.runner import Runner
from sestet.runtime.turn import Limits
from sestet.services.files import Files
from sestet.services.retrieval import Retrieval
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.graph import GraphStore
from sestet.storage.journal import Journal
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore

if TYPE_CHECKING:
    from sestet.remote.load import LoadedPeers


@dataclass(frozen=True, slots=True)
class Additions:
    """What a program that embeds the assistant adds to it."""

    tools: Sequence[Tool] = ()
    specs: Sequence[AgentSpec] = ()
    model: Model | None = None


class App:
    """A running assistant: its tree of agents, its tools, and its conversations."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        additions: Additions = Additions(),  # noqa: B008 - frozen
        peers: "LoadedPeers | None" = None,
    ) -> None:
        self.settings = settings
        self.specs = (*default_specs(), *additions.specs)
        self.tools = (*available_tools(settings, database), *additions.tools)
        self.unmatched = tool_owners(self.tools, self.specs)["unmatched"]
        self.root = self._build_root(peers.peers if peers else ())
        self.model = additions.model or choose_model(settings, self.root, self.specs)
        self.warnings = _warnings(self.unmatched, peers)
        self.journal = Journal(database)
        limits = settings.limits
        self._runner = Runner(
            self.root,
            lambda agent_name: self.model,
            self.journal,
            Limits(
                settings.agent.max_delegation_rounds, limits.model_calls, limits.seconds, limits.tool_output
            ),
            settings.agent.context_tokens,
        )

    def _build_root(self, remote_agents: Sequence[RemotePeer]) -> Agent:
        """The orchestrator over its specialists, or the one flat agent."""
        agent = self.settings.agent
        config = OrchestrationConfig(
            tools=self.tools,
            system_prompt=agent.system_prompt,
            remote_agents=remote_agents,
            max_delegation_rounds=agent.max_delegation_rounds,
            specs=self.specs,
        )
        return build_agent_tree(config) if agent.multi_agent else build_single_agent(config)

    def run_turn(self, session_id: str, text: str) -> AsyncGenerator[Event]:
        """Everything that happens between the person's message and the reply, as it happens."""
        return self._runner.run_turn(session_id, text)

    def cancel_turn(self, session_id: str) -> bool:
        """Stop the running turn of a session; False when none is running."""
        return self._runner.cancel_turn(session_id)


@asynccontextmanager
async def open(
    settings: Settings | Mapping[str, object] | None = None,
    *,
    model: Model | None = None,
    home: Path | str | None = None,
    tools: Sequence[Tool] = (),
    specs: Sequence[AgentSpec] = (),
) -> AsyncGenerator[App]:
    """Open an assistant: ``async with sestet.open() as app``.

    ``settings`` may be a mapping in the file's form; None reads the file that the command line would read.
    ``home`` is the directory of the database; None is the usual data directory. ``tools`` and ``specs`` join
    those that ship: a tool goes to the specialist that owns its prefix.
    """
    if settings is None:
        settings = load_settings().settings
    elif not isinstance(settings, Settings):
        settings = settings_from(settings)
    peers = await _load_peers(settings)
    database = Database(Path(home or data_directory()) / FILE_NAME)
    try:
        app = App(settings, database, Additions(tools, specs, model), peers)
        yield app
        await app.model.close()
    finally:
        for peer in peers.peers if peers else ():
            await peer.close()
        database.close()


def available_tools(settings: Settings, database: Database) -> tuple[Tool, ...]:
    """Every tool of every room whose services the settings switch on."""
    knowledge = KnowledgeStore(database)
    services: dict[type, object] = {
        Files: Files(Path.cwd()),
        MemoryStore: MemoryStore(database),
        KnowledgeStore: knowledge,
    }
    if settings.graph.enabled:
        services[GraphStore] = GraphStore(database)
    if settings.embedding.provider != "none":
        services[Retrieval] = Retrieval(knowledge)
    if settings.observational_memory.enabled:
        services[ObservationStore] = ObservationStore(database)
    bound = (tool.bind(services) for name in NAMES for tool in room_tools(name))
    return tuple(tool for tool in bound if tool is not None)


def choose_model(settings: Settings, root: Agent, specs: Sequence[AgentSpec]) -> Model:
    """The model that the settings name."""
    if settings.agent.provider == "offline":
        from sestet.models.offline import OfflineModel

        owners = root.sub_agents or (root,)
        return OfflineModel(specs, {agent.name: agent.tools or () for agent in owners})
    from sestet.models.vendor import vendor_model

    return vendor_model(settings)


async def _load_peers(settings: Settings) -> "LoadedPeers | None":
    if not settings.a2a.enabled or not settings.agent.multi_agent:
        return None
    for entry in settings.a2a.remote_agents:
        # Requests that are meant for a specialist here must never go to a stranger.
        if normalise_name(entry.name) in NAMES:
            raise ConfigError(
                [f"a2a.remoteAgents: '{entry.name}' is the name of a specialist; choose another"]
            )
    from sestet.remote.load import load_remote_agents

    return await load_remote_agents(settings.a2a.remote_agents)


def _warnings(unmatched: tuple[Tool, ...], peers: "LoadedPeers | None") -> tuple[str, ...]:
    ownerless = tuple(
        f"the tool '{tool.name}' belongs to no agent, so nobody can use it" for tool in unmatched
    )
    return (*ownerless, *(peers.warnings if peers else ()))
