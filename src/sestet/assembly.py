"""Builds the parts of an assistant from its settings: tools with their services, limits, policy."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sestet.agents import default_specs, room_names, room_tools
from sestet.api import OrchestrationConfig, build_agent_tree, build_single_agent, tool_owners
from sestet.config import Loaded, Settings, data_directory, settings_from
from sestet.config.installation import install_command
from sestet.config.load import PASSPHRASE_FILE, passphrase_file, session_bus
from sestet.core.agent import UNMATCHED, Agent, AgentSpec, RemotePeer, normalise_name
from sestet.core.errors import ConfigError, DefinitionError, VaultError
from sestet.core.model import Model
from sestet.core.record import Record, replace
from sestet.core.schema import suggest
from sestet.core.tool import CallInfo, Tool
from sestet.core.words import local_now
from sestet.models.choice import Models, is_local, is_small
from sestet.orchestration.routing import PromptProfile
from sestet.plugins import Plugins
from sestet.processes import Processes, workspace_roots
from sestet.runtime.fast_route import FastRoute
from sestet.runtime.gate import Allowed, Policy
from sestet.runtime.hooks import Hooks
from sestet.runtime.limits import Limits
from sestet.services.browser.page_search import PageSearch
from sestet.services.day_budget import DayBudget
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.file_changes.service import FileChanges
from sestet.services.file_changes.undo import Undo
from sestet.services.files import Files
from sestet.services.forgetting import Forgetting
from sestet.services.memory.recall import Recall, Recollection
from sestet.services.own_files import own_files
from sestet.services.retrieval import Retrieval
from sestet.services.skills.service import Skills
from sestet.services.vault.entries import FILE_NAME as VAULT_FILE
from sestet.services.vault.scanner import Scanner
from sestet.services.vault.setting_keys import keys_in_vault, with_vault_keys
from sestet.services.vault.signing import Signer
from sestet.services.vault.vault import Vault
from sestet.services.web_search import EndpointSearch, WebSearch
from sestet.services.workspace import Workspace
from sestet.storage.database import Database
from sestet.storage.file_changes import FileChangeStore
from sestet.storage.graph import GraphStore, Predicates
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore
from sestet.storage.passages import PassageStore
from sestet.storage.session_search import SessionSearch
from sestet.storage.spending import SpendingStore

if TYPE_CHECKING:
    from sestet.remote.load import LoadedPeers
    from sestet.services.telemetry import Telemetry


class Additions(Record):
    """Tools and specialists beside those that ship: given by an embedding program, or found as plug-ins."""

    tools: Sequence[Tool] = ()
    specs: Sequence[AgentSpec] = ()
    model: Model | None = None
    plugins: Plugins = Plugins()
    #: Where the settings were read from: no tool shows that file.
    settings_file: Path | None = None
    #: The present moment in the person's time zone, which every agent is told.
    clock: Callable[[], datetime] = local_now
    #: The scanner of the vault, if that is open already.
    scanner: Scanner | None = None

    @property
    def all_specs(self) -> tuple[AgentSpec, ...]:
        return (*self.specs, *self.plugins.specs)

    def __post_init__(self) -> None:
        _require_kind(self.tools, Tool, "a tool; '@sestet.tool' makes one of a function")
        _require_kind(self.specs, AgentSpec, "a spec; 'sestet.AgentSpec' makes one")
        given = self.model
        missing = [name for name in ("name", "stream", "close") if not hasattr(given, name)]
        if given is not None and (missing or isinstance(given, type)):
            why = f"it has no {missing[0]!r}" if missing else "it is a class"
            raise DefinitionError(f"model: {given!r} is not a model: {why}")


def settings_of(given: Settings | Loaded | Mapping[str, object]) -> Settings:
    """Settings in any form in which a program may give them."""
    if isinstance(given, Loaded):
        return given.settings
    return given if isinstance(given, Settings) else settings_from(given)


def with_plugins(
    additions: Additions, wanted: bool | Path | None, settings: Settings, given: object
) -> Additions:
    """The additions with the plug-ins that fit beside them, and with the file of loaded settings.

    ``wanted`` None: look for plug-ins only if settings were loaded.
    """
    loaded = given if isinstance(given, Loaded) else None
    additions = replace(additions, settings_file=loaded.file) if loaded else additions
    if not wanted and (wanted is False or loaded is None):
        return additions
    # Loaded on use: a program that gives its own settings need not pay for the search.
    from sestet.plugins.find import find_plugins, read_folder

    peers = settings.a2a.remote_agents if settings.a2a.enabled else ()
    beside = (*additions.specs, *(AgentSpec(peer.name) for peer in peers))
    if isinstance(wanted, Path):
        return replace(additions, plugins=read_folder(wanted, beside, additions.tools))
    return replace(additions, plugins=find_plugins(loaded, beside, additions.tools))


def _require_kind(items: Sequence[object], kind: type, what: str) -> None:
    for item in items:
        if not isinstance(item, kind):
            raise DefinitionError(f"{item!r} is not {what}")


def available_tools(
    settings: Settings,
    database: Database,
    embedding: EmbeddingIndex | None = None,
    additions: Additions = Additions(),  # noqa: B008 - frozen
    processes: Processes = Processes(),  # noqa: B008 - frozen
) -> tuple[Tool, ...]:
    """Every tool of every room whose services the settings switch on, then those that are added.

    A tool that a program adds has to find its services; one of a plug-in is left out without them.
    """
    own = own_files(database.path, additions.settings_file)
    roots = workspace_roots(settings)
    store = FileChangeStore(database)
    services: dict[type, object] = {
        Files: Files(roots[0], own=own, more=roots[1:]),
        FileChanges: FileChanges(Workspace(roots, own), own, store),
        Undo: Undo(store, own),
        MemoryStore: MemoryStore(database, lambda: additions.clock().timestamp()),
        Recall: Recall(database, embedding=embedding, clock=additions.clock),
        Forgetting: Forgetting(database),
        KnowledgeStore: KnowledgeStore(database),
        LearningStore: LearningStore(database),
        SessionSearch: SessionSearch(database),
        Skills: Skills(database.path.parent, roots, processes.commands),
        **processes.services(),
    }
    vault = additions.scanner.vault if additions.scanner else vault_in(database.path.parent)
    services |= {Vault: vault, Signer: vault}
    if settings.payments.enabled:
        from sestet.services.payments.opening import Payments, open_payments

        services[Payments] = open_payments(settings, database, vault)
    if settings.graph.enabled:
        services[GraphStore] = GraphStore(database)
        services[Predicates] = Predicates(settings.graph.predicates)
    if settings.embedding.provider != "none":
        graph = GraphStore(database) if settings.graph.enabled else None
        services[Retrieval] = Retrieval(PassageStore(database), graph, embedding)
    if settings.search.url:
        services[WebSearch] = EndpointSearch(settings.search.url, key=settings.search.api_key)
    elif settings.search.page and processes.browser:
        services[WebSearch] = PageSearch(processes.browser, settings.search.page)
    if settings.observational_memory.enabled:
        services[ObservationStore] = ObservationStore(database)
    switches = {"payments": settings.payments.enabled, "mcp": processes.mcp is not None}
    off = [module for module, is_on in switches.items() if not is_on]
    built_in = (tool.bind(services) for name in room_names() for tool in room_tools(name, without=off))
    optional = (tool.bind(services) for tool in additions.plugins.tools)
    return (
        *(tool for tool in built_in if tool is not None),
        *(_bind_added(tool, services) for tool in additions.tools),
        *(tool for tool in optional if tool is not None),
        *(processes.mcp.tools if processes.mcp else ()),
    )


def home_directory(home: Path | str | None) -> Path:
    """The directory of the stored data; None is the usual one."""
    return Path(home).expanduser() if home else data_directory()


def vault_in(directory: Path) -> Vault:
    """The vault of a data directory. Nothing is started or asked before it is used."""
    return Vault(directory / VAULT_FILE, passphrase_file(), session_bus())


def unlock_unattended(vault: Vault) -> None:
    """Open the vault with the passphrase file or the keyring; raise if neither does: nobody is asked."""
    if not vault.unlock_unattended():
        keyring = f" ({vault.keyring_problem})" if vault.keyring_problem else ""
        raise VaultError(
            f"the vault is locked{keyring}; write its passphrase into a file that only you can read, and set "
            f"{PASSPHRASE_FILE} to its path",
            locked=True,
        )


class OpenedVault(Record):
    """The vault of an assistant, where it lies, and the settings with the keys that lie in it."""

    directory: Path
    scanner: Scanner
    settings: Settings
    warnings: tuple[str, ...] = ()


@asynccontextmanager
async def opened_vault(
    directory: Path, settings: Settings, unlock: Callable[[Vault], None]
) -> AsyncGenerator[OpenedVault]:
    """Unlock the vault if a key of the settings lies in it, or if nobody has to be asked for that."""
    vault, warnings = vault_in(directory), ()
    scanner = Scanner(vault)
    try:
        if any(keys_in_vault(settings)):
            settings = await asyncio.to_thread(with_vault_keys, settings, vault, unlock)
        try:
            if vault.exists():
                await asyncio.to_thread(vault.unlock_unattended)
            if vault.keyring_problem and not vault.is_unlocked:
                warnings = (f"the vault stays locked: {vault.keyring_problem}",)
        except VaultError as error:
            warnings = (f"the vault stays locked: {error}",)
        yield OpenedVault(directory, scanner, settings, warnings)
    finally:
        scanner.close()
        vault.close()


def unmatched_tools(
    settings: Settings, tools: Sequence[Tool], specs: Sequence[AgentSpec], processes: Processes
) -> tuple[Tool, ...]:
    """The tools that no agent can call."""
    # One flat agent holds every tool, whatever its name.
    unmatched = tool_owners(tools, specs)[UNMATCHED] if settings.agent.multi_agent else ()
    return (*unmatched, *processes.quarantined)


def unmatched_warnings(unmatched: Iterable[Tool]) -> tuple[str, ...]:
    owned = (tool for tool in unmatched if tool.outside is None)
    return tuple(f"the tool '{tool.name}' belongs to no agent, so no agent can call it" for tool in owned)


def _bind_added(tool: Tool, services: Mapping[type, object]) -> Tool:
    """Raise if an embedder's tool needs a service that this assistant does not have."""
    if (bound := tool.bind(services)) is not None:
        return bound
    lacking = (need for need in tool.needs if need is not CallInfo and need not in services)
    missing = [getattr(need, "__name__", repr(need)) for need in lacking]
    raise DefinitionError(
        f"tool '{tool.name}' needs {' and '.join(missing)}, which this assistant does not have; "
        f"give it what it needs: {tool.name}.bind({{{missing[0]}: …}})"
    )


async def load_peers(settings: Settings) -> "LoadedPeers | None":
    """The remote agents of the settings that can be used now; None: the settings want none."""
    if not settings.a2a.enabled or not settings.agent.multi_agent:
        return None
    for entry in settings.a2a.remote_agents:
        # Requests that are meant for a specialist here must never go to a stranger.
        if normalise_name(entry.name) in {normalise_name(spec.name) for spec in default_specs()}:
            raise ConfigError(
                [f"a2a.remoteAgents: '{entry.name}' is the name of a specialist; choose another"]
            )
    from sestet.remote.load import load_remote_agents

    return await load_remote_agents(settings.a2a.remote_agents)


def build_root(
    settings: Settings, tools: Sequence[Tool], specs: Sequence[AgentSpec], remote_agents: Sequence[RemotePeer]
) -> Agent:
    """The orchestrator over its specialists, or the one flat agent."""
    agent = settings.agent
    config = OrchestrationConfig(
        tools=tools,
        system_prompt=agent.system_prompt,
        remote_agents=remote_agents,
        max_delegation_rounds=agent.max_delegation_rounds,
        specs=specs,
        prompt_profile=prompt_profile(settings),
    )
    return build_agent_tree(config) if agent.multi_agent else build_single_agent(config)


def prompt_profile(settings: Settings) -> PromptProfile:
    """How long the agents' instructions are."""
    profile = settings.agent.prompt_profile
    if profile != "auto":
        return profile
    return "compact" if is_small(settings) else "full"


def history_tokens(settings: Settings) -> int:
    """How much of a session the root agent is shown."""
    tokens = settings.agent.context_tokens
    if is_local(settings, settings.agent.provider):
        # The rest of a small context is for the instruction, tool results and the reply.
        tokens = min(tokens, settings.local.context_tokens // 4)
    return tokens


def hooks_of(
    settings: Settings,
    database: Database,
    models: Models,
    root: Agent,
    clock: Callable[[], datetime],
    after_turn: Callable[[str, bool], None],
    telemetry: "Telemetry | None",
) -> Hooks:
    """What is done before, in and after every turn."""
    recall, fast_route = _recall_hook(settings, database), _fast_route(settings, models, root)
    hooks = Hooks(recall, fast_route, clock=clock, after_turn=after_turn)
    return replace(hooks, on_event=telemetry.read) if telemetry else hooks


def telemetry_of(settings: Settings, root: Agent) -> "Telemetry | None":
    """The reader of events that sends spans; None: no collector is named, and nothing is sent."""
    if not settings.telemetry.otlp_endpoint:
        return None
    try:
        # The packages of the extra take a while to load.
        from sestet.services.telemetry import Telemetry
    except ImportError as error:
        needed = f"telemetry.otlpEndpoint needs the extra 'otel': {install_command('otel')}"
        raise ConfigError([needed]) from error
    return Telemetry(settings, root.name)


def _recall_hook(settings: Settings, database: Database) -> Callable[[str], Recollection | None]:
    """Finds what is remembered about a message, for the root agent's prompt."""
    memory = settings.observational_memory
    tokens = memory.prompt_tokens if memory.enabled else 0
    if is_local(settings, settings.agent.provider):
        tokens = min(tokens, history_tokens(settings) // 4)
    return Recall(database, tokens).section if tokens else lambda text: None


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
        tool_calls=limits.tool_calls,
        seconds=limits.seconds,
        delegation_seconds=limits.delegation_seconds,
        tool_output=tool_output,
        tokens=limits.tokens or None,
        dollars=limits.dollars or None,
        dollars_per_day=limits.dollars_per_day or None,
    )


def day_budget(settings: Settings, database: Database) -> DayBudget | None:
    """The limit of dollars for one day, if the settings have one."""
    dollars = settings.limits.dollars_per_day
    return DayBudget(SpendingStore(database), dollars) if dollars else None


def policy_of(settings: Settings, agents: Iterable[str]) -> Policy:
    """The owner's policy. Agents with a small model are asked about before every change."""
    allowed = (Allowed(entry.tool, entry.target, entry.private) for entry in settings.policy.allow)
    # Specialists of a small orchestrator do what it asks, so they count as small too.
    careful = frozenset(name for name in agents if is_small(settings) or is_small(settings, name))
    scratch = tuple(str(Path(place).expanduser().absolute()) for place in settings.policy.scratch)
    return Policy(settings.policy.block, tuple(allowed), careful, scratch, settings.a2a.server.tools)


def _fast_route(settings: Settings, models: Models, root: Agent) -> FastRoute | None:
    """The fast route, if the settings switch it on."""
    wanted = settings.agent.fast_route
    # The built-in model routes in the same way, so there is no call to save.
    if wanted == "off" or not models.is_real(root.name):
        return None
    return FastRoute(lambda: models.router, only_measured=wanted == "auto")


def require_agents(
    named: Iterable[str], root: Agent, specs: Iterable[AgentSpec], skipped: Iterable[str]
) -> None:
    """Refuse settings for an agent that does not exist; one of a plug-in may have been skipped."""
    known = (root.name, *(spec.name for spec in specs), *skipped)
    problems = [
        f"agents.{name}: there is no such agent{suggest(name, known)}" for name in named if name not in known
    ]
    if problems:
        raise ConfigError(problems)
