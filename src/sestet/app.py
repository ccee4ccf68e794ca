"""The composition root: settings → storage → services → rooms → tree → runner. The only wiring."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sestet.agents import default_specs
from sestet.assembly import (
    Additions,
    available_tools,
    build_root,
    day_budget,
    history_tokens,
    home_directory,
    hooks_of,
    limits_of,
    load_peers,
    opened_vault,
    policy_of,
    require_agents,
    settings_of,
    telemetry_of,
    unlock_unattended,
    unmatched_tools,
    unmatched_warnings,
    vault_in,
    with_plugins,
)
from sestet.config import Loaded, Settings, load_settings
from sestet.core.agent import AgentSpec
from sestet.core.errors import PersonError
from sestet.core.event import Event, ToolFinished
from sestet.core.model import Model
from sestet.core.record import replace
from sestet.core.tool import Tool
from sestet.core.words import local_now
from sestet.models.choice import Models, check_models
from sestet.plugins import without_tools
from sestet.processes import open_processes
from sestet.runtime.answer import Answer, read_answer
from sestet.runtime.approval import Gatekeeper
from sestet.runtime.delegation import REMOTE_SINK, require_agent
from sestet.runtime.gate import asks_every_time
from sestet.runtime.history import History
from sestet.runtime.runner import Runner
from sestet.runtime.steps import Steps
from sestet.runtime.turn import require_usable
from sestet.services.embedding.index import open_embedding
from sestet.services.file_changes.undo import undo_of
from sestet.services.sessions import new_session_id
from sestet.services.vault.scanner import Scanner
from sestet.services.vault.vault import Vault
from sestet.storage.approvals import ApprovalStore, Decision, Question, Scope
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.forgettings import Forgettings, close_wiped
from sestet.storage.graph import GraphStore
from sestet.storage.journal import Journal, TurnRow
from sestet.storage.locks import SessionLocks
from sestet.storage.turn_log import JournalLog, StoredApprovals

if TYPE_CHECKING:
    from sestet.background import Background
    from sestet.remote.load import LoadedPeers


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
        self.specs = (*default_specs(), *additions.all_specs)
        self._locks = SessionLocks.beside(database.path)
        self.embedding = open_embedding(settings.embedding, database, self._locks, settings.background)
        scanner = additions.scanner or Scanner(vault_in(database.path.parent))
        self.vault, additions = scanner.vault, replace(additions, scanner=scanner)
        self.processes = open_processes(settings, database.path, additions.settings_file, self.specs)
        self.tools = available_tools(settings, database, self.embedding, additions, self.processes)
        self.plugins = without_tools(additions.plugins, {tool.name for tool in self.tools})
        self.unmatched = unmatched_tools(settings, self.tools, self.specs, self.processes)
        self.root = build_root(settings, self.tools, self.specs, peers.peers if peers else ())
        require_agents(settings.agents, self.root, self.specs, self.plugins.skipped)
        self.budget = budget = day_budget(settings, database)
        self.models = Models(settings, self.root, self.specs, additions.model, budget and budget.require)
        self.remote_warnings = peers.warnings if peers else ()
        self.warnings = (*unmatched_warnings(self.unmatched), *self.remote_warnings, *self.plugins.warnings)
        self.warnings += self.processes.warnings
        self.journal = Journal(database, scanner)
        self.approvals = ApprovalStore(database, self.journal)
        self.graph = GraphStore(database) if settings.graph.enabled else None
        self.undo = undo_of(database, additions.settings_file)
        self.database = database
        self._has_traces = Forgettings(database).has_traces()
        agents = (self.root, *self.root.sub_agents) if additions.model is None else ()
        self._policy = policy_of(settings, [agent.name for agent in agents])
        self._telemetry = telemetry_of(settings, self.root)
        log, approvals = JournalLog(self.journal), StoredApprovals(self.approvals)
        gatekeeper = Gatekeeper(approvals, self._policy, settings.policy.question_hours * 3600)
        self.runner = Runner(
            Steps(self.root, self.processes.started_with(self.models.of, self.root), gatekeeper),
            log,
            History(log, history_tokens(settings)),
            self._locks,
            limits_of(settings),
            hooks_of(
                settings, database, self.models, self.root, additions.clock, self._after_turn, self._telemetry
            ),
        )

    @property
    def model(self) -> Model:
        """The model of every agent that has none of its own."""
        return self.models.default

    @property
    def is_small(self) -> bool:
        """Whether a small local model may be the one that answers; then every change is asked about."""
        return self.root.name in self._policy.careful

    def run_turn(
        self, session_id: str, text: str, *, can_ask: bool = True, mine: bool = True, agent: str = ""
    ) -> AsyncGenerator[Event]:
        """The events of one turn, from the person's message to the reply, as they happen.

        A call that needs an approval pauses the turn; with ``can_ask=False`` it is denied.
        With ``mine=False`` the text is not the person's: it is untrusted, and chooses no receiver.
        With ``agent``, that specialist answers, and the orchestrator takes no step.
        """
        agent = require_agent(self.root, agent)
        require_usable(self.journal, session_id, text)
        return self.runner.run_turn(session_id, text, can_ask=can_ask, mine=mine, agent=agent)

    async def ask(
        self, text: str, session_id: str | None = None, *, can_ask: bool = False, mine: bool = True
    ) -> Answer:
        """One message, one answer; without a session id it begins a new session."""
        name = new_session_id(self.journal) if session_id is None else session_id
        return await read_answer(self.run_turn(name, text, can_ask=can_ask, mine=mine))

    def resume_turn(self, turn_id: str, *, can_ask: bool = True) -> AsyncGenerator[Event]:
        """The rest of a turn that waited for a decision, or was cut off by a crash."""
        return self.runner.resume_turn(turn_id, can_ask=can_ask)

    @cached_property
    def background(self) -> "Background":
        """Observing, reflecting and extracting, between turns."""
        from sestet.background import Background

        return Background(self.settings, self.database, self._locks, self.models, self.embedding)

    def _after_turn(self, session_id: str, stored: bool) -> None:
        self.background.after_turn(session_id, stored)

    def wake(self) -> None:
        """Start the background work, if there is any."""
        self.background.wake()
        if self._has_traces:
            self.background.wipe()

    def standing_tool(self, question: Question) -> Tool | None:
        """The question's tool if a standing answer is possible; None: only this one call can be approved."""
        tool = next((tool for tool in (*self.tools, REMOTE_SINK) if tool.name == question.tool), None)
        if tool is None or question.why == "caller" or asks_every_time(tool, question.agent, self._policy):
            return None
        return tool

    def decide(self, approval_id: str, decision: Decision, scope: Scope = "once") -> Question:
        """Approve or deny one exact call; then resume its turn."""
        stands = decision == "approve" and scope != "once"
        question = self.approvals.get(approval_id) if stands else None
        if question is not None and self.standing_tool(question) is None:
            why = "it may move money, needs a value that you type, a caller asks, or a small model chose it"
            raise PersonError(f"'{question.tool}' can only be approved once at a time: {why}")
        return self.approvals.decide(approval_id, decision, scope)

    async def abandon_turn(self, turn_id: str) -> tuple[ToolFinished, ...]:
        """End a turn that waits or was cut off, without going on with it. Returns the calls in doubt."""
        return await self.runner.abandon_turn(turn_id)

    def unfinished_turns(self) -> list[TurnRow]:
        """Turns that wait for a decision or were cut off; not those that still run, in any process."""
        rows = self.journal.open_turns()
        return [row for row in rows if row.state == "paused" or self._locks.is_free(row.session_id)]

    def cancel_turn(self, session_id: str) -> bool:
        """Stop the running turn of a session; False when none is running."""
        return self.runner.running.cancel_turn(session_id)

    async def steer_turn(self, turn_id: str, text: str, *, mine: bool = True) -> bool:
        """Add words to a turn, which its root agent reads at its next step; False: it does not run here."""
        return await self.runner.running.steer(turn_id, text, mine=mine)

    def cancel_delegation(self, session_id: str, delegation_id: str) -> bool:
        """Stop one delegation of the running turn; the orchestrator goes on without it."""
        return self.runner.running.cancel_delegation(session_id, delegation_id)

    async def rest(self) -> None:
        """End commands and the browser, and let the background work finish only its current step."""
        await self.processes.close()
        if "background" in self.__dict__:
            await self.background.close()
        # The last observations are embedded too, so embedding closes last.
        if self.embedding:
            await self.embedding.close()
        if self._telemetry:
            await asyncio.to_thread(self._telemetry.close)

    def release(self) -> None:
        """Cut off the running turns and release their sessions."""
        self.runner.running.cut_off()
        self._locks.close()


@asynccontextmanager
async def open(
    settings: Settings | Loaded | Mapping[str, object] | None = None,
    *,
    model: Model | None = None,
    home: Path | str | None = None,
    tools: Sequence[Tool] = (),
    specs: Sequence[AgentSpec] = (),
    plugins: bool | Path | None = None,
    clock: Callable[[], datetime] = local_now,
    unlock: Callable[[Vault], None] = unlock_unattended,
) -> AsyncGenerator[App]:
    """Open an assistant: ``async with sestet.open() as app``.

    ``settings`` may be a mapping in the file's form; None reads the file that the command line would read.
    ``home`` is the directory of the database; None is the usual data directory. ``tools`` and ``specs`` join
    those that ship: a tool goes to the specialist that owns its prefix. ``plugins`` adds the person's
    plug-ins (True), or those of one folder (its path); None: if the settings are read from the file.
    ``clock`` gives the person's local time, which every agent is told. ``unlock`` is called with the vault if
    a key in the settings lies in it; by default the passphrase is taken from ``SESTET_PASSPHRASE_FILE``.
    """
    loaded = load_settings() if settings is None else settings
    settings = settings_of(loaded)
    additions = with_plugins(Additions(tools, specs, model, clock=clock), plugins, settings, loaded)
    if model is None:
        check_models(settings)
    async with AsyncExitStack() as stack:
        vault = await stack.enter_async_context(opened_vault(home_directory(home), settings, unlock))
        settings, additions = vault.settings, replace(additions, scanner=vault.scanner)
        peers = await load_peers(settings)
        for peer in peers.peers if peers else ():
            stack.push_async_callback(peer.close)
        database = Database(vault.directory / FILE_NAME, power=settings.storage.durability == "power")
        stack.callback(close_wiped, database)
        app = App(settings, database, additions, peers)
        app.warnings += vault.warnings
        stack.callback(app.release)
        stack.push_async_callback(app.rest)
        # Background work starts after the caller has its app.
        stack.callback(asyncio.get_running_loop().call_soon(app.wake).cancel)
        yield app
        await app.rest()
        await app.models.close()
