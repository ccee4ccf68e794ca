"""The events of one session in one order, across its turns: what a reader continues from."""

from typing import NamedTuple

from sestet.core.errors import PersonError
from sestet.core.event import Event, Stamp
from sestet.core.record import to_json
from sestet.storage.database import Database
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

    __slots__ = ("_json", "event", "place")

    def __init__(self, place: Place, event: Event) -> None:
        self.place = place
        self.event = event
        self._json = b""

    @property
    def json(self) -> bytes:
        """The event as JSON, written once for all readers: its place and stamp, then its own facts."""
        if not self._json:
            stamp = self.event.stamp
            head = to_json(
                {
                    "place": str(self.place),
                    "session": stamp.session_id,
                    "turn": stamp.turn_id,
                    "seq": stamp.seq,
                    "kind": self.event.kind,
                    "author": stamp.author,
                    "delegation": stamp.delegation_id,
                    "at": stamp.at,
                }
            )
            own = encode(self.event).encode("utf-8", "surrogatepass")
            self._json = head[:-1] + (b"," + own[1:] if len(own) > len(b"{}") else b"}")
        return self._json


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
        return [
            Placed(Place(number, stamp[2]), decode(Stamp(*stamp), kind, data))
            for *stamp, kind, data, number in rows
        ]

    def last(self, session_id: str) -> Place:
        """The place of the latest event of a session."""
        row = self._database.execute(
            """SELECT number, (SELECT max(seq) FROM events WHERE turn_id = turns.id)
               FROM turns WHERE session_id = ? ORDER BY number DESC LIMIT 1""",
            (session_id,),
        ).fetchone()
        return Place(row[0], row[1] or 0) if row else START

    def version(self) -> int:
        """A number that changes when another process writes to the database."""
        (version,) = self._database.execute("PRAGMA data_version").only()
        return version
