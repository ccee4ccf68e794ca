"""What a turn needs of its storage, as protocols, and SQLite behind them.

A turn awaits its storage, so a database over a network can stand behind these protocols. SQLite never
suspends here: a task that awaits it goes on at once, unless another process has locked the file.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol, TypeVar

from sestet.core.event import ApprovalRequested, Event, ToolCalled
from sestet.core.scanner import TextScanner
from sestet.core.tool import Tool
from sestet.storage.approvals import ApprovalStore, Basis, Question
from sestet.storage.journal import Journal, NextTurn, TurnRow, Writer
from sestet.storage.lock_wait import when_free

EventT = TypeVar("EventT", bound=Event)


class PromptNames(Protocol):
    def name(self, instruction: str, tools: tuple[Tool, ...]) -> str:
        """The name of an instruction with its tools. Both are stored with the next event."""
        ...


class TurnLog(Protocol):
    """Keeps the events of turns, in the order in which they were staged and appended."""

    @property
    def scanner(self) -> TextScanner: ...

    @property
    def prompts(self) -> PromptNames: ...

    def clean(self, event: EventT, /) -> EventT:
        """The event as it may be written and shown."""
        ...

    def stage(self, event: EventT, writer: Writer, *, sync: bool = False) -> EventT:
        """Queue one event. Its writer is told when it is written, or why it cannot be."""
        ...

    async def settled(self) -> None:
        """Wait for the next moment at which staged events may have been written."""
        ...

    async def flushed(self) -> None:
        """Write what is staged without waiting for the end of the round."""
        ...

    async def append(self, *events: Event, patient: bool = False) -> None:
        """Write events; when this returns, a killed process no longer loses them.

        ``patient``: wait for a lock of another process, instead of raising ``BusyError``.
        """
        ...

    async def next_turn(self, session_id: str) -> NextTurn: ...

    async def last_forgetting(self) -> int: ...

    async def find(self, turn_id: str) -> TurnRow | None: ...

    async def last_seq(self, turn_id: str) -> int: ...

    async def past_of(self, turn_id: str) -> Sequence[Event]:
        """The events of one turn so far, in order."""
        ...

    async def events_before(
        self, session_id: str, kinds: Sequence[str], last_turns: int, before: int
    ) -> Iterable[Event]:
        """Events of some kinds from the last turns of a session before one of them, oldest first."""
        ...

    async def stop_requests(self) -> Collection[str]:
        """The turns that another process wants to stop."""
        ...


class Approvals(Protocol):
    """Questions to the person, bound to exact calls; each is stored together with its event."""

    async def ask(self, event: ApprovalRequested, basis: Basis) -> bool: ...

    async def get(self, approval_id: str) -> Question | None: ...

    async def use(self, approval_id: str, intent: ToolCalled) -> bool:
        """Spend an approval on exactly this call; False when it is for another call."""
        ...

    async def overtake(self, approval_id: str, intent: ToolCalled) -> bool:
        """Close an open question that a standing answer covers; False: it was decided."""
        ...

    async def is_granted(self, session_id: str, agent: str, tool: str, basis: Basis) -> bool: ...


class JournalLog:
    """The journal of the SQLite file."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.scanner = journal.scanner
        self.prompts = journal.prompts
        # The journal's own methods: most of a turn is staging.
        self.clean = journal.clean
        self.stage = journal.stage

    async def settled(self) -> None:
        await self._journal.unlocked()

    async def flushed(self) -> None:
        self._journal.commit()

    async def append(self, *events: Event, patient: bool = False) -> None:
        if patient:
            await when_free(lambda: self._journal.append(*events))
        else:
            self._journal.append(*events)

    async def next_turn(self, session_id: str) -> NextTurn:
        return self._journal.next_turn(session_id)

    async def last_forgetting(self) -> int:
        return self._journal.last_forgetting()

    async def find(self, turn_id: str) -> TurnRow | None:
        return self._journal.turn(turn_id)

    async def last_seq(self, turn_id: str) -> int:
        return self._journal.last_seq(turn_id)

    async def past_of(self, turn_id: str) -> Sequence[Event]:
        return tuple(self._journal.events_of(turn_id))

    async def events_before(
        self, session_id: str, kinds: Sequence[str], last_turns: int, before: int
    ) -> Iterable[Event]:
        return self._journal.session_events(session_id, kinds, last_turns, before)

    async def stop_requests(self) -> Collection[str]:
        return self._journal.stop_requests.all()


class StoredApprovals:
    """The questions in the SQLite file."""

    def __init__(self, store: ApprovalStore) -> None:
        self._store = store

    async def ask(self, event: ApprovalRequested, basis: Basis) -> bool:
        return self._store.ask(event, basis)

    async def get(self, approval_id: str) -> Question | None:
        return self._store.get(approval_id)

    async def use(self, approval_id: str, intent: ToolCalled) -> bool:
        return self._store.use(approval_id, intent)

    async def overtake(self, approval_id: str, intent: ToolCalled) -> bool:
        return self._store.overtake(approval_id, intent)

    async def is_granted(self, session_id: str, agent: str, tool: str, basis: Basis) -> bool:
        return self._store.is_granted(session_id, agent, tool, basis)
