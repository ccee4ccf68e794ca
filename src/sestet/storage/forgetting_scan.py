"""Finds what a forgetting has to change, in short reads, so that the change itself is one short write."""

from collections.abc import Callable
from itertools import groupby
from typing import TypeAlias, cast

from sestet.core.event import PIECES, MemoryRecalled, ToolFinished
from sestet.core.record import Record
from sestet.storage.database import Database, from_json
from sestet.storage.forgettings import Forgettings
from sestet.storage.forgotten_words import ForgottenWords, change_stored

#: Rows that are read at once. Other processes write at any time between and during these reads.
_AT_ONCE = 2_000
_PIECES = tuple(event.kind for event in PIECES)

#: Told how many rows were read, of how many, and what is read.
Watch: TypeAlias = Callable[[int, int, str], None]


class PreparedEvent(Record):
    """An event as it reads without the words, and the title of a session that begins with it."""

    turn_id: str
    seq: int
    data: str
    title: str | None


class ForgettingScan:
    """The rows of events and passages that hold some words, show memories or cite a source.

    ``read`` takes as long as the file is large and holds no lock. ``catch_up`` reads only what was written
    since, inside the transaction that changes the rows. All other tables are small.
    """

    def __init__(self, words: ForgottenWords | None = None, citing: str = "") -> None:
        """Either ``words`` or the name of a source."""
        self._words = words
        self._citing = citing
        #: Only pieces are deleted without a forgetting, so a new event comes after all others that were read.
        self._last_event = self._last_passage = 0
        self._last_forgetting = -1
        #: The rows of events with the words, each with its turn.
        self.with_words: dict[int, str] = {}
        #: What these rows become; None: they stay. Rows that are written later are not prepared.
        self.prepared: dict[int, PreparedEvent | None] = {}
        #: The rows of recorded memories, each with the ids that it shows.
        self.recalled: dict[int, frozenset[str]] = {}
        #: The rows of events that cite the source.
        self.citations: list[int] = []
        #: Turns with pieces of a text that together hold the words.
        self.in_pieces: set[str] = set()
        #: The ids of passages that may hold the words.
        self.passages: list[int] = []

    def read(self, database: Database, watch: Watch | None = None) -> None:
        """Read everything that is stored now."""
        self._last_forgetting = Forgettings(database).last()
        end, last = _last_whole_event(database), _last_passage(database) if self._words else 0
        while self._last_event < end:
            self._read_events(database, min(self._last_event + _AT_ONCE, end))
            if watch:
                watch(self._last_event, end + last, "")
        while self._last_passage < last:
            self._read_passages(database, min(self._last_passage + _AT_ONCE, last))
            if watch:
                watch(end + self._last_passage, end + last, "")

    def catch_up(self, database: Database) -> bool:
        """Inside a transaction: read what was written since; False: other rows were forgotten, read anew."""
        if Forgettings(database).last() != self._last_forgetting:
            return False
        (end,) = database.execute("SELECT coalesce(max(rowid), 0) FROM events").only()
        self._read_events(database, end)
        return True

    def catch_up_passages(self, database: Database) -> None:
        """Inside a transaction: read the passages that were written since, also by the transaction."""
        self._read_passages(database, _last_passage(database))

    def _read_events(self, database: Database, end: int) -> None:
        rows = database.execute(
            """SELECT rowid, turn_id, kind, data FROM events WHERE rowid > ? AND rowid <= ?
               AND (kind = ? OR (? AND (kind IN (?, ?) OR data LIKE ?))
                   OR (? <> '' AND kind = ? AND json_valid(data)
                       AND ? IN (SELECT value FROM json_each(data, '$.citations'))))""",
            (
                *(self._last_event, end, MemoryRecalled.kind, self._words is not None, *_PIECES),
                self._words.like if self._words else "",
                *(self._citing, ToolFinished.kind, self._citing),
            ),
        )
        streamed: set[str] = set()
        for place, turn_id, kind, data in rows:
            if kind == MemoryRecalled.kind:
                values = from_json(data, "an event of the journal")
                self.recalled[place] = frozenset(cast("list[str]", values["ids"]))
            if kind in _PIECES:
                streamed.add(turn_id)
            elif self._citing and kind == ToolFinished.kind:
                self.citations.append(place)
            if self._words and change_stored(data, self._words.blanked) != data:
                self.with_words[place] = turn_id
        self.in_pieces.update(turn_id for turn_id in streamed if self._is_in_pieces(database, turn_id))
        self._last_event = max(self._last_event, end)

    def _is_in_pieces(self, database: Database, turn_id: str) -> bool:
        """A text that was cut off is stored in pieces, and the words may lie across two."""
        words = self._words
        return words is not None and any(
            words.are_in("".join(said for *_, said in group))
            for _, group in groupby(
                database.execute(
                    """SELECT kind, delegation_id, json_extract(data, '$.text') FROM events
                       WHERE turn_id = ? AND kind IN (?, ?) ORDER BY kind, delegation_id, seq""",
                    (turn_id, *_PIECES),
                ),
                key=lambda row: row[:2],
            )
        )

    def _read_passages(self, database: Database, end: int) -> None:
        if self._words is None:
            return
        rows = database.execute(
            """SELECT id FROM passages WHERE id > ? AND id <= ?
               AND title || ' ' || text || ' ' || sources LIKE ?""",
            (self._last_passage, end, self._words.like),
        )
        self.passages += [number for (number,) in rows]
        self._last_passage = max(self._last_passage, end)


def _last_whole_event(database: Database) -> int:
    row = database.execute(
        "SELECT rowid FROM events WHERE kind NOT IN (?, ?) ORDER BY rowid DESC LIMIT 1", _PIECES
    ).fetchone()
    return row[0] if row else 0


def _last_passage(database: Database) -> int:
    (number,) = database.execute("SELECT coalesce(max(id), 0) FROM passages").only()
    return number
