"""The event log: the source of truth of every conversation.

An event is written before a reader gets it. The same transaction updates the rows of sessions and turns.
All events that running turns record in one round of the event loop share one transaction.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from sestet.core.errors import BusyError, StorageError
from sestet.core.event import (
    PIECES,
    Event,
    ModelCalled,
    OutputStreamed,
    Stamp,
    TextStreamed,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
    TurnStarted,
)
from sestet.core.record import Record
from sestet.core.scanner import NO_SCANNER, TextScanner, clean_record
from sestet.storage.database import Database, Rows
from sestet.storage.event_json import decode, encode
from sestet.storage.forgettings import Forgettings
from sestet.storage.lock_wait import LockWait, held_too_long
from sestet.storage.prompts import PromptStore
from sestet.storage.spending import SpendingStore
from sestet.storage.stop_requests import StopRequests

EventT = TypeVar("EventT", bound=Event)
Columns: TypeAlias = tuple[str | int | float, ...]

_TITLE_LENGTH = 60
#: A turn number that no session reaches.
_NEVER = 2**62
_INSERT = """INSERT INTO events (turn_id, seq, kind, author, delegation_id, at, data)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_SESSIONS = """SELECT id, coalesce((SELECT title FROM session_titles WHERE session_id = sessions.id), title),
    created_at, updated_at, (SELECT count(*) FROM turns WHERE session_id = sessions.id) FROM sessions"""
#: The pieces that are not needed any more after an event that holds them whole.
_FOLDED: dict[type[Event], str] = {ModelCalled: TextStreamed.kind, ToolFinished: OutputStreamed.kind}
#: The state that a turn is in after an event.
_STATES: dict[type[Event], str] = {
    TurnFinished: "finished",
    TurnFailed: "failed",
    TurnCancelled: "cancelled",
    TurnPaused: "paused",
    TurnResumed: "running",
}


class SessionRow(NamedTuple):
    id: str
    title: str
    created_at: float
    updated_at: float
    turns: int


class TurnRow(Record):
    id: str
    session_id: str
    number: int
    state: str


class NextTurn(NamedTuple):
    """What a new turn of a session starts from, read at once."""

    #: Its place in the session.
    number: int
    last_forgetting: int


class Writer(Protocol):
    """A turn that stages events, and is told whether they were written."""

    def on_written(self, event: Event) -> None: ...

    def on_failed(self, error: StorageError) -> None: ...


class _NothingWrittenError(StorageError):
    """Rolls a transaction back whose other row could not be written."""


#: An event, and the turn that is told what became of it.
_Staged: TypeAlias = tuple[Event, Writer | None]


class Journal:
    """Writes events, and reads them back."""

    def __init__(self, database: Database, scanner: TextScanner = NO_SCANNER) -> None:
        """``scanner`` cleans every event before it is written, and so before anybody is shown it."""
        self._database = database
        self.scanner = scanner
        self._forgettings = Forgettings(database)
        self._spending = SpendingStore(database)
        self.prompts = PromptStore(database)
        self.stop_requests = StopRequests(database)
        self._staged: list[_Staged] = []
        self._sync = False
        #: Turn id → the delegations of it that may have pieces in the database, each with their kind.
        self._pieces: dict[str, set[tuple[str, str]]] = {}
        #: Set while another process has locked the database, with the next try.
        self._lock_wait: LockWait | None = None
        self._next_try: asyncio.TimerHandle | None = None
        self._waiting: list[asyncio.Future[None]] = []

    def stage(self, event: EventT, writer: Writer, *, sync: bool = False) -> EventT:
        """Queue one event. It is written before the event loop resumes any task that waits now.

        If another process has locked the database, it is written as soon as that has ended.
        Returns the event as it is written, without the vault's values.
        """
        if self.scanner.watches:
            event = self.clean(event)
        if not self._staged:
            asyncio.get_running_loop().call_soon(self.commit)
        self._staged.append((event, writer))
        self._sync = self._sync or sync
        return event

    def clean(self, event: EventT) -> EventT:
        """The event as it may be written and shown: with references in the places of the vault's values."""
        if not self.scanner.watches or self.scanner.clean(text := encode(event)) == text:
            return event
        return clean_record(self.scanner, event)

    def append(
        self, *events: Event, sync: bool = False, together_with: Callable[[], bool] | None = None
    ) -> bool:
        """Write events now; when this returns, a killed process no longer loses them.

        ``together_with`` writes a row in the same transaction. When it returns False, nothing is written.
        """
        cleaned: list[_Staged] = [(self.clean(event), None) for event in events]
        error = self._try_to_write(cleaned, sync, together_with)
        if isinstance(error, _NothingWrittenError):
            return False
        if error is not None:
            raise error
        return True

    def append_inside(self, events: Sequence[Event]) -> None:
        """Write events inside a transaction of the caller."""
        self._write([(self.clean(event), None) for event in events])

    def commit(self) -> None:
        """Write all staged events in one transaction, and tell their writers."""
        staged, self._staged = self._staged, []
        sync, self._sync = self._sync, False
        if not staged:
            return
        error = self._try_to_write(staged, sync)
        if isinstance(error, BusyError):
            self._lock_wait = self._lock_wait or LockWait()
            if not self._lock_wait.is_over:
                self._stage_again(staged, sync)
                return
            error = held_too_long(error)
        self._end_waiting()
        turns = {event.stamp.turn_id for event, _ in staged} if error else ()
        if len(turns) <= 1:
            _tell(staged, error)
            return
        # Perhaps the events of one turn alone cannot be written: the other turns must not fail with it.
        for turn_id in turns:
            part = [each for each in staged if each[0].stamp.turn_id == turn_id]
            error = self._try_to_write(part, sync)
            if isinstance(error, BusyError):
                self._stage_again(part, sync)
            else:
                _tell(part, error)

    def _stage_again(self, staged: list[_Staged], sync: bool) -> None:
        """Write the events a little later: another process has locked the database."""
        self._staged += staged
        self._sync = self._sync or sync
        self._lock_wait = self._lock_wait or LockWait()
        if self._next_try is not None:
            self._next_try.cancel()
        self._next_try = asyncio.get_running_loop().call_later(self._lock_wait.next_wait(), self.commit)

    def _end_waiting(self) -> None:
        if self._next_try is not None:
            self._next_try.cancel()
        self._lock_wait = self._next_try = None
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def unlocked(self) -> None:
        """Wait while another process has locked the database and events are staged."""
        if self._lock_wait is None:
            await asyncio.sleep(0)
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter

    def _try_to_write(
        self, staged: list[_Staged], sync: bool, together_with: Callable[[], bool] | None = None
    ) -> StorageError | None:
        try:
            with self._database.transaction(sync=sync):
                if together_with is not None and not together_with():
                    raise _NothingWrittenError
                settled = self._write(staged)
        except StorageError as error:
            return error
        except Exception as bug:
            # A turn waits for each of its events, so every error has to reach it.
            return StorageError(f"the journal could not be written: {type(bug).__name__}: {bug}")
        self.prompts.on_written()
        for turn_id in settled:
            self._pieces.pop(turn_id, None)
        return None

    def _write(self, staged: list[_Staged]) -> list[str]:
        """Write events with the rows they change. Returns the ids of the turns whose state has changed."""
        rows: list[Columns] = []
        started: list[TurnStarted] = []
        model_calls = 0
        states: list[tuple[str, str]] = []
        pieces: dict[tuple[str, str, str], list[Event]] = {}
        for event, _ in staged:
            kind, stamp = type(event), event.stamp
            if kind in PIECES:
                pieces.setdefault((stamp.turn_id, stamp.delegation_id, event.kind), []).append(event)
                continue
            rows.append(_columns(event))
            if folded := _FOLDED.get(kind):
                pieces.pop((stamp.turn_id, stamp.delegation_id, folded), None)
                self._fold(stamp, folded)
            if isinstance(event, ModelCalled):
                model_calls += 1
            elif isinstance(event, TurnStarted):
                started.append(event)
            elif kind in _STATES:
                states.append((_STATES[kind], stamp.turn_id))
                if kind is TurnResumed:
                    self._drop_pieces(stamp)
        for (turn_id, delegation_id, kind), texts in pieces.items():
            self._pieces.setdefault(turn_id, set()).add((delegation_id, kind))
            rows += map(_columns, texts)
        if started:
            self._open_turns(started)
        if states:
            self._database.execute_many("UPDATE turns SET state = ? WHERE id = ?", states)
        self._database.execute_many(_INSERT, rows)
        if model_calls:
            self._spending.on_called(model_calls)
        if self.prompts.has_new:
            self.prompts.write()
        return [turn_id for _, turn_id in states]

    def _open_turns(self, started: list[TurnStarted]) -> None:
        self._database.execute_many(
            """INSERT INTO sessions VALUES (?, ?, ?, ?)
               ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at""",
            [(e.stamp.session_id, title_of(e.text), e.stamp.at, e.stamp.at) for e in started],
        )
        self._database.execute_many(
            """INSERT INTO turns VALUES
               (?, ?, (SELECT coalesce(max(number), 0) + 1 FROM turns WHERE session_id = ?), 'running')""",
            [(e.stamp.turn_id, e.stamp.session_id, e.stamp.session_id) for e in started],
        )

    def _drop_pieces(self, stamp: Stamp) -> None:
        """Delete the pieces of the turn: what was interrupted is asked for again, or stays in doubt."""
        self._database.execute(
            "DELETE FROM events WHERE turn_id = ? AND kind IN ('text_streamed', 'output_streamed')",
            (stamp.turn_id,),
        )

    def _fold(self, stamp: Stamp, kind: str) -> None:
        """Delete the pieces of a text that is now stored whole."""
        if (stamp.delegation_id, kind) not in self._pieces.get(stamp.turn_id, ()):
            return
        self._database.execute(
            "DELETE FROM events WHERE turn_id = ? AND seq < ? AND kind = ? AND delegation_id = ?",
            (stamp.turn_id, stamp.seq, kind, stamp.delegation_id),
        )

    def events_of(self, turn_id: str) -> Iterator[Event]:
        """The facts of one turn, in order."""
        return _decoded(
            self._database.execute("SELECT * FROM log WHERE turn_id = ? ORDER BY seq", (turn_id,))
        )

    def session_events(
        self, session_id: str, kinds: Sequence[str], last_turns: int, before: int = _NEVER
    ) -> Iterator[Event]:
        """Facts of some kinds from the last turns of a session before one of them, oldest first."""
        rows = self._database.execute(
            """SELECT * FROM log WHERE kind IN (SELECT value FROM json_each(?)) AND turn_id IN
                   (SELECT id FROM turns WHERE session_id = ? AND number < ? ORDER BY number DESC LIMIT ?)
               ORDER BY number, seq""",
            (json.dumps(kinds), session_id, before, last_turns),
        )
        return _decoded(rows)

    def last_seq(self, turn_id: str) -> int:
        (seq,) = self._database.execute("SELECT max(seq) FROM events WHERE turn_id = ?", (turn_id,)).only()
        return seq or 0

    def next_turn(self, session_id: str) -> NextTurn:
        row = self._database.execute(
            """SELECT coalesce(max(number), 0) + 1, (SELECT coalesce(max(id), 0) FROM forgettings)
               FROM turns WHERE session_id = ?""",
            (session_id,),
        ).only()
        return NextTurn(*row)

    def last_forgetting(self) -> int:
        """A number that grows when something is forgotten: texts that were read before may hold it."""
        return self._forgettings.last()

    def turn_state(self, turn_id: str) -> str:
        (state,) = self._database.execute("SELECT state FROM turns WHERE id = ?", (turn_id,)).only()
        return state

    def turn(self, turn_id: str) -> TurnRow | None:
        row = self._database.execute("SELECT * FROM turns WHERE id = ?", (turn_id,)).fetchone()
        return TurnRow(*row) if row else None

    def latest_turn(self) -> str | None:
        """The id of the turn that began last: ids sort by time."""
        (turn_id,) = self._database.execute("SELECT max(id) FROM turns").only()
        return turn_id

    def open_turns(self) -> list[TurnRow]:
        """Turns that have not ended: paused, running, or cut off by a crash. The oldest first."""
        rows = self._database.execute(
            """SELECT turns.* FROM turns JOIN sessions ON sessions.id = session_id
               WHERE state IN ('running', 'paused') ORDER BY updated_at, number"""
        )
        return [TurnRow(*row) for row in rows]

    def sessions(self, limit: int = 50) -> list[SessionRow]:
        """The conversations, the most recent first."""
        rows = self._database.execute(f"{_SESSIONS} ORDER BY updated_at DESC, rowid DESC LIMIT ?", (limit,))
        return [SessionRow(*row) for row in rows]

    def session(self, session_id: str) -> SessionRow | None:
        rows = self._database.execute(f"{_SESSIONS} WHERE id = ?", (session_id,))
        return SessionRow(*rows[0]) if rows else None

    def rename_session(self, session_id: str, title: str) -> None:
        """Give an existing session a title that later messages and forgetting leave alone."""
        self._database.execute("INSERT OR REPLACE INTO session_titles VALUES (?, ?)", (session_id, title))


def _decoded(rows: Rows) -> Iterator[Event]:
    for *stamp, kind, data, _ in rows:
        yield decode(Stamp(*stamp), kind, data)


def _tell(staged: list[_Staged], error: StorageError | None) -> None:
    for event, writer in staged:
        if writer is None:
            continue
        if error is None:
            writer.on_written(event)
        else:
            writer.on_failed(error)


def title_of(text: str) -> str:
    """The title of a session that begins with this message."""
    return " ".join(text.split())[:_TITLE_LENGTH]


def _columns(event: Event) -> Columns:
    stamp = event.stamp
    return (
        stamp.turn_id,
        stamp.seq,
        event.kind,
        stamp.author,
        stamp.delegation_id,
        stamp.at,
        encode(event),
    )
