"""The events of one session in one order, across its turns: what a reader continues from."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sestet.core.errors import PersonError
from sestet.core.event import Event, Stamp
from sestet.core.record import to_json
from sestet.storage.apart import read_apart
from sestet.storage.clipping import clipped_event
from sestet.storage.database import Database, Rows
from sestet.storage.event_json import decode, encode


class Place(NamedTuple):
    """The place of an event in its session: the number of its turn, and its number in the turn.

    Places only grow, and none is ever given to two events, also after a crash.
    """

    turn: int
    seq: int

    def __str__(self) -> str:
        return f"{self.turn}.{self.seq}"


#: The place before the first event of every session.
START = Place(0, 0)
_LARGEST = 2**53


def read_place(text: str) -> Place:
    """The place that ``str`` wrote; raise for any other text."""
    turn, dot, seq = text.partition(".")
    parts = (turn, seq)
    if not dot or not all(
        part.isascii() and part.isdecimal() and int(part[:17]) < _LARGEST for part in parts
    ):
        raise PersonError(f"'{text[:40]}' is no place in a session: it has the form 3.14")
    return Place(int(turn), int(seq))


class Placed:
    """An event with its place. Many readers of a session share it."""

    __slots__ = ("_clipped", "_json", "event", "place")

    def __init__(self, place: Place, event: Event) -> None:
        self.place = place
        self.event = event
        self._json = b""
        self._clipped = b""

    @property
    def json(self) -> bytes:
        """The event as JSON, written once for all readers: its place and stamp, then its own facts."""
        if not self._json:
            head = to_json(self._head)
            own = encode(self.event).encode("utf-8", "surrogatepass")
            self._json = head[:-1] + (b"," + own[1:] if len(own) > len(b"{}") else b"}")
        return self._json

    @property
    def clipped(self) -> bytes:
        """The same with the beginnings of long texts alone, and a field that says how long they are."""
        if not self._clipped:
            self._clipped = clipped_event(self._head, self.event)
        return self._clipped

    @property
    def _head(self) -> dict[str, object]:
        stamp = self.event.stamp
        return {
            "place": str(self.place),
            "session": stamp.session_id,
            "turn": stamp.turn_id,
            "seq": stamp.seq,
            "kind": self.event.kind,
            "author": stamp.author,
            "delegation": stamp.delegation_id,
            "at": stamp.at,
        }


class SessionMark(NamedTuple):
    """What changes when anything is written to a session."""

    title: str
    #: The number of its latest turn, the state and the last event of this turn and of each open one.
    turns: tuple[object, ...]


class LatestTurn(NamedTuple):
    id: str
    began_at: float


class SessionLog:
    def __init__(self, database: Database) -> None:
        self._database = database

    def after(self, session_id: str, place: Place, limit: int) -> list[Placed]:
        """The next events of a session after a place, at most so many."""
        rows = self._database.execute(
            """SELECT * FROM log WHERE session_id = ? AND number >= ? AND (number > ? OR seq > ?)
               ORDER BY number, seq LIMIT ?""",
            (session_id, place.turn, place.turn, place.seq, limit),
        )
        return list(_placed(rows))

    def turns_before(self, session_id: str, number: int, most: int) -> Iterator[list[Placed]]:
        """The events of the last turns before one, at most so many turns: the latest turn first."""
        turns = self._database.execute(
            "SELECT id FROM turns WHERE session_id = ? AND number < ? ORDER BY number DESC LIMIT ?",
            (session_id, number, most),
        )
        for (turn_id,) in turns:
            # One turn at a time: a reader that has enough takes no further one.
            rows = self._database.execute("SELECT * FROM log WHERE turn_id = ? ORDER BY seq", (turn_id,))
            yield list(_placed(rows))

    def event(self, turn_id: str, seq: int) -> Placed | None:
        """One event of a turn."""
        rows = self._database.execute("SELECT * FROM log WHERE turn_id = ? AND seq = ?", (turn_id, seq))
        return next(_placed(rows), None)

    def has_turn_before(self, session_id: str, number: int) -> bool:
        rows = self._database.execute(
            "SELECT 1 FROM turns WHERE session_id = ? AND number < ? LIMIT 1", (session_id, number)
        )
        return rows.fetchone() is not None

    def last(self, session_id: str) -> Place:
        """The place of the latest event of a session."""
        row = self._database.execute(
            """SELECT number, (SELECT max(seq) FROM events WHERE turn_id = turns.id)
               FROM turns WHERE session_id = ? ORDER BY number DESC LIMIT 1""",
            (session_id,),
        ).fetchone()
        return Place(row[0], row[1] or 0) if row else START

    def latest_turns(self, session_ids: Sequence[str]) -> dict[str, LatestTurn]:
        """The latest turn of each session that has one."""
        rows = self._database.execute(
            """SELECT session_id, turns.id,
                   coalesce((SELECT at FROM events WHERE turn_id = turns.id ORDER BY seq LIMIT 1), 0.0)
               FROM json_each(?) JOIN turns ON session_id = value
                   AND number = (SELECT max(number) FROM turns WHERE session_id = value)""",
            (json.dumps(session_ids),),
        )
        return {session_id: LatestTurn(*facts) for session_id, *facts in rows}

    async def marks(self) -> dict[str, SessionMark]:
        """The marks of all sessions, read in a thread."""
        return await read_apart(self._database, _marks)

    def version(self) -> int:
        """A number that changes when another process writes to the database."""
        (version,) = self._database.execute("PRAGMA data_version").only()
        return version


def _marks(database: Database) -> dict[str, SessionMark]:
    open_turns: dict[str, tuple[object, ...]] = {}
    for session_id, *facts in database.execute(
        """SELECT session_id, id, state, (SELECT max(seq) FROM events WHERE turn_id = turns.id)
           FROM turns WHERE state IN ('running', 'paused') ORDER BY number"""
    ):
        open_turns[session_id] = (*open_turns.get(session_id, ()), *facts)
    rows = database.execute(
        """SELECT sessions.id,
               coalesce((SELECT title FROM session_titles WHERE session_id = sessions.id), title),
               number, state, (SELECT max(seq) FROM events WHERE turn_id = turns.id)
           FROM sessions LEFT JOIN turns ON turns.session_id = sessions.id
               AND number = (SELECT max(number) FROM turns WHERE session_id = sessions.id)"""
    )
    return {
        session_id: SessionMark(title, (*latest, *open_turns.get(session_id, ())))
        for session_id, title, *latest in rows
    }


def _placed(rows: Rows) -> Iterator[Placed]:
    for *stamp, kind, data, number in rows:
        yield Placed(Place(number, stamp[2]), decode(Stamp(*stamp), kind, data))
