"""The event log: the source of truth of every conversation.

Events go in before anybody sees them; sessions and turns are projections kept in the same transaction.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import NamedTuple, cast

from sestet.core.event import (
    EVENTS,
    Event,
    ModelCalled,
    Stamp,
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
from sestet.storage.database import Database, Rows

_TITLE_LENGTH = 60
#: A turn number that no session reaches.
_NEVER = 2**62
_KINDS: dict[str, type[Event]] = {event.kind: event for event in EVENTS}
_FIELDS: dict[type, tuple[str, ...]] = {
    **{event: event_fields(event) for event in EVENTS},
    **{record: tuple(field.name for field in fields(record)) for record in (ToolCall, Usage, Label)},
}
#: Of a result that was recorded before results had labels: the worst.
_UNLABELLED = Label(untrusted=True, private=True, sources=("an earlier version of Sestet",))
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


class TurnRow(NamedTuple):
    id: str
    session_id: str
    number: int
    state: str


class Journal:
    """Appends events, and reads them back."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, event: Event, *, sync: bool = False) -> None:
        """Write one event; when this returns, a killed process no longer loses it."""
        if isinstance(event, TurnStarted):
            with self._database.transaction():
                self._open_turn(event)
                self.insert(event)
        elif isinstance(event, ModelCalled):
            with self._database.transaction():
                self.insert(event)
                self._fold_text(event.stamp)
        elif (state := _STATES.get(type(event))) is not None:
            with self._database.transaction():
                self.insert(event)
                self._mark_turn(event.stamp, state)
        elif sync:
            with self._database.transaction(sync=True):
                self.insert(event)
        else:
            self.insert(event)

    def insert(self, event: Event) -> None:
        """Write one event inside a transaction of the caller's."""
        stamp = event.stamp
        self._database.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                stamp.turn_id,
                stamp.seq,
                event.kind,
                stamp.author,
                stamp.delegation_id,
                stamp.at,
                encode(event),
            ),
        )

    def _open_turn(self, event: TurnStarted) -> None:
        stamp = event.stamp
        self._database.execute(
            """INSERT INTO sessions VALUES (?, ?, ?, ?)
               ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at""",
            (stamp.session_id, " ".join(event.text.split())[:_TITLE_LENGTH], stamp.at, stamp.at),
        )
        self._database.execute(
            """INSERT INTO turns
               SELECT ?, ?, coalesce(max(number), 0) + 1, 'running' FROM turns WHERE session_id = ?""",
            (stamp.turn_id, stamp.session_id, stamp.session_id),
        )

    def _mark_turn(self, stamp: Stamp, state: str) -> None:
        self._database.execute("UPDATE turns SET state = ? WHERE id = ?", (state, stamp.turn_id))
        self._database.execute(
            "UPDATE sessions SET updated_at = ? WHERE id = ?", (stamp.at, stamp.session_id)
        )

    def _fold_text(self, stamp: Stamp) -> None:
        """The whole reply is written, so the pieces it was streamed in are no longer needed."""
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

    def turn_number(self, turn_id: str) -> int:
        (number,) = self._database.execute("SELECT number FROM turns WHERE id = ?", (turn_id,)).only()
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


def encode(event: Event) -> str:
    """An event's own facts as JSON, without its stamp."""
    return json.dumps({name: getattr(event, name) for name in _FIELDS[type(event)]}, default=_as_dict)


def _as_dict(value: object) -> dict[str, object]:
    return {name: getattr(value, name) for name in _FIELDS[type(value)]}


def decode(stamp: Stamp, kind: str, data: str) -> Event:
    """The event that ``encode`` wrote."""
    values = cast("dict[str, object]", json.loads(data))
    if "usage" in values:
        values["usage"] = Usage(**cast("dict[str, int]", values["usage"]))
    if kind == ToolFinished.kind and "label" not in values:
        values["label"] = _UNLABELLED
    elif "label" in values:
        label = cast("dict[str, object]", values["label"])
        values["label"] = Label(bool(label["untrusted"]), bool(label["private"]), _texts(label["sources"]))
    for name in ("sources", "waiting_for"):
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
