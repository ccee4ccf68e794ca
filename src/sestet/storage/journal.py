"""The event log: the source of truth of every conversation.

Events go in before anybody sees them; sessions and turns are projections kept in the same transaction.
What all running turns record within one round of the event loop is written in one transaction.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias, cast

from sestet.core.errors import StorageError
from sestet.core.event import (
    EVENTS,
    Event,
    ModelCalled,
    Stamp,
    TextStreamed,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
    TurnStarted,
    event_fields,
)
from sestet.core.label import Label
from sestet.core.message import ToolCall
from sestet.core.model import Usage
from sestet.core.record import Values, record
from sestet.storage.database import Database, Rows

Columns: TypeAlias = tuple[str | int | float, ...]

_TITLE_LENGTH = 60
#: A turn number that no session reaches.
_NEVER = 2**62
_KINDS: dict[str, type[Event]] = {event.kind: event for event in EVENTS}
_FIELDS: dict[type[Event], tuple[str, ...]] = {event: event_fields(event) for event in EVENTS}
#: Of a result that was recorded before results had labels: the worst.
_UNLABELLED = Label(untrusted=True, private=True, sources=("an earlier version of Sestet",))
_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"
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


@record
class TurnRow(Values):
    id: str
    session_id: str
    number: int
    state: str


class Writer(Protocol):
    """Whoever has events written, and hears what became of them."""

    def on_written(self, event: Event) -> None: ...

    def on_failed(self, error: StorageError) -> None: ...


class _Staged(NamedTuple):
    event: Event
    writer: Writer | None


class Journal:
    """Writes events, and reads them back."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._staged: list[_Staged] = []
        self._sync = False
        #: Turn → the places in it whose streamed pieces of text may be in the file.
        self._pieces: dict[str, set[str]] = {}

    def stage(self, event: Event, writer: Writer, *, sync: bool = False) -> None:
        """Have one event written before the event loop comes back to any task that is waiting now."""
        if not self._staged:
            asyncio.get_running_loop().call_soon(self.commit)
        self._staged.append(_Staged(event, writer))
        self._sync = self._sync or sync

    def append(self, event: Event) -> None:
        """Write one event at once; when this returns, a killed process no longer loses it."""
        error = self._try_to_write([_Staged(event, None)], sync=False)
        if error is not None:
            raise error

    def commit(self) -> None:
        """Write what is staged, all of it in one transaction, and tell whoever staged it."""
        staged, self._staged = self._staged, []
        sync, self._sync = self._sync, False
        if not staged:
            return
        error = self._try_to_write(staged, sync)
        turns = {each.event.stamp.turn_id for each in staged}
        if error is None or len(turns) == 1:
            _tell(staged, error)
            return
        # Perhaps only one of them cannot be written: the others must not fail with it.
        for turn_id in turns:
            part = [each for each in staged if each.event.stamp.turn_id == turn_id]
            _tell(part, self._try_to_write(part, sync))

    def _try_to_write(self, staged: list[_Staged], sync: bool) -> StorageError | None:
        try:
            with self._database.transaction(sync=sync):
                settled = self._write(staged)
        except StorageError as error:
            return error
        except Exception as bug:
            # Somebody waits for every event, so whatever it was has to reach them.
            return StorageError(f"the journal could not be written: {type(bug).__name__}: {bug}")
        for turn_id in settled:
            self._pieces.pop(turn_id, None)
        return None

    def _write(self, staged: list[_Staged]) -> list[str]:
        """The events, and what follows from them; the turns whose state has changed."""
        rows: list[Columns] = []
        started: list[TurnStarted] = []
        states: list[tuple[str, str]] = []
        pieces: dict[tuple[str, str], list[Event]] = {}
        for event, _ in staged:
            kind, stamp = type(event), event.stamp
            if kind is TextStreamed:
                pieces.setdefault((stamp.turn_id, stamp.delegation_id), []).append(event)
                continue
            rows.append(_columns(event))
            if kind is ModelCalled:
                # The whole reply goes in, so the pieces it was streamed in are not needed.
                pieces.pop((stamp.turn_id, stamp.delegation_id), None)
                self._fold_text(stamp)
            elif isinstance(event, TurnStarted):
                started.append(event)
            elif kind in _STATES:
                states.append((_STATES[kind], stamp.turn_id))
                if kind is TurnResumed:
                    self._drop_text(stamp)
        for (turn_id, delegation_id), texts in pieces.items():
            self._pieces.setdefault(turn_id, set()).add(delegation_id)
            rows += map(_columns, texts)
        if started:
            self._open_turns(started)
        if states:
            self._database.execute_many("UPDATE turns SET state = ? WHERE id = ?", states)
        self._database.execute_many(_INSERT, rows)
        return [turn_id for _, turn_id in states]

    def insert(self, event: Event) -> None:
        """Write one event inside a transaction of the caller's."""
        self._database.execute(_INSERT, _columns(event))

    def _open_turns(self, started: list[TurnStarted]) -> None:
        self._database.execute_many(
            """INSERT INTO sessions VALUES (?, ?, ?, ?)
               ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at""",
            [(e.stamp.session_id, _title(e.text), e.stamp.at, e.stamp.at) for e in started],
        )
        self._database.execute_many(
            """INSERT INTO turns
               SELECT ?1, ?2, coalesce(max(number), 0) + 1, 'running' FROM turns WHERE session_id = ?2""",
            [(e.stamp.turn_id, e.stamp.session_id) for e in started],
        )

    def _drop_text(self, stamp: Stamp) -> None:
        """The model that was cut off is asked again, so what it had said does not count."""
        self._database.execute(
            "DELETE FROM events WHERE turn_id = ? AND kind = 'text_streamed'", (stamp.turn_id,)
        )

    def _fold_text(self, stamp: Stamp) -> None:
        """Take out the pieces of a reply that were written before it was whole."""
        if stamp.delegation_id not in self._pieces.get(stamp.turn_id, ()):
            return
        self._database.execute(
            """DELETE FROM events
               WHERE turn_id = ? AND seq < ? AND kind = 'text_streamed' AND delegation_id = ?""",
            (stamp.turn_id, stamp.seq, stamp.delegation_id),
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

    def next_number(self, session_id: str) -> int:
        """The place in its session that the next turn will have."""
        (number,) = self._database.execute(
            "SELECT coalesce(max(number), 0) + 1 FROM turns WHERE session_id = ?", (session_id,)
        ).only()
        return number

    def turn_state(self, turn_id: str) -> str:
        (state,) = self._database.execute("SELECT state FROM turns WHERE id = ?", (turn_id,)).only()
        return state

    def turn(self, turn_id: str) -> TurnRow | None:
        row = self._database.execute("SELECT * FROM turns WHERE id = ?", (turn_id,)).fetchone()
        return TurnRow(*row) if row else None

    def open_turns(self) -> list[TurnRow]:
        """Turns that have not ended: paused, running, or cut off by a crash. The oldest first."""
        rows = self._database.execute(
            """SELECT turns.* FROM turns JOIN sessions ON sessions.id = session_id
               WHERE state IN ('running', 'paused') ORDER BY updated_at, number"""
        )
        return [TurnRow(*row) for row in rows]

    def sessions(self, limit: int = 50) -> list[SessionRow]:
        """The conversations, the most recent first."""
        rows = self._database.execute(
            """SELECT sessions.*, (SELECT count(*) FROM turns WHERE session_id = sessions.id)
               FROM sessions ORDER BY updated_at DESC, rowid DESC LIMIT ?""",
            (limit,),
        )
        return [SessionRow(*row) for row in rows]


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


def _title(text: str) -> str:
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


def encode(event: Event) -> str:
    """An event's own facts as JSON, without its stamp."""
    return _to_json({name: getattr(event, name) for name in _FIELDS[type(event)]})


def _as_dict(value: object) -> dict[str, object]:
    """What events are made of, beside texts and numbers. Written out, because a turn has a dozen of them."""
    match value:
        case Usage():
            return {
                "input_tokens": value.input_tokens,
                "output_tokens": value.output_tokens,
                "nano_dollars": value.nano_dollars,
                "cached_tokens": value.cached_tokens,
            }
        case ToolCall():
            return {
                "name": value.name,
                "arguments": value.arguments,
                "id": value.id,
                "malformed": value.malformed,
            }
        case Label():
            return {"untrusted": value.untrusted, "private": value.private, "sources": value.sources}
        case _:
            raise TypeError(f"no event holds a {type(value).__name__}")


_to_json = json.JSONEncoder(default=_as_dict, check_circular=False).encode


def decode(stamp: Stamp, kind: str, data: str) -> Event:
    """The event that ``encode`` wrote."""
    values = cast("dict[str, object]", json.loads(data))
    if "usage" in values:
        values["usage"] = Usage(**cast("dict[str, int]", values["usage"]))
    if kind in (ToolFinished.kind, TurnFailed.kind) and "label" not in values:
        values["label"] = _UNLABELLED
    elif "label" in values:
        label = cast("dict[str, object]", values["label"])
        values["label"] = Label(bool(label["untrusted"]), bool(label["private"]), _texts(label["sources"]))
    for name in ("sources", "waiting_for", "ids", "citations"):
        if name in values:
            values[name] = _texts(values[name])
    if "call" in values:
        values["call"] = _tool_call(values["call"])
    if "calls" in values:
        values["calls"] = tuple(_tool_call(call) for call in cast("list[object]", values["calls"]))
    return _KINDS[kind](stamp, **values)  # pyright: ignore[reportArgumentType] - fields as written by encode


def _texts(values: object) -> tuple[str, ...]:
    return tuple(cast("list[str]", values))


def _tool_call(values: object) -> ToolCall:
    return ToolCall(**cast("dict[str, str]", values))  # pyright: ignore[reportArgumentType] - fields as written by encode
