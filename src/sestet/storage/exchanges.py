"""Past turns found by full text: what the person said, and what they were answered.

Nothing is indexed while a turn runs. A search first takes in the turns that have ended since the last one.
"""

import json

from sestet.core.label import Label
from sestet.core.record import Record
from sestet.storage.database import Database, Rows
from sestet.storage.full_text import match_any
from sestet.storage.labels import label_from

_INDEXED_AT_ONCE = 500


class Exchange(Record):
    """One turn: ``answered`` is empty when it ended without a reply."""

    turn_id: str
    session_id: str
    at: float
    asked: str
    answered: str
    label: Label


class ExchangeStore:
    """Reads the journal; writes nothing but the index."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(self, query: str, limit: int) -> list[Exchange]:
        """The best matches first; a query that holds only common words finds the latest."""
        self._take_in()
        if not (expression := match_any(query)):
            return _rows(self._database.execute("SELECT * FROM exchanges ORDER BY id DESC LIMIT ?", (limit,)))
        # The view reads the journal for each row it gives, so it is asked for the best ones alone.
        rows = self._database.execute(
            """SELECT exchanges.* FROM
                   (SELECT rowid AS id, rank AS score FROM exchanges_index
                    WHERE exchanges_index MATCH ? ORDER BY rank, rowid DESC LIMIT ?) AS best
               JOIN exchanges ON exchanges.id = best.id ORDER BY score, exchanges.id DESC""",
            (expression, limit),
        )
        return _rows(rows)

    def _take_in(self) -> None:
        """Index what has ended and is not indexed yet, in parts, so that a turn elsewhere can write."""
        taken = _INDEXED_AT_ONCE
        while taken == _INDEXED_AT_ONCE:
            found = self._database.execute(
                """SELECT id FROM turns WHERE state IN ('finished', 'failed', 'cancelled')
                   AND id NOT IN (SELECT turn_id FROM searchable_turns) LIMIT ?""",
                (_INDEXED_AT_ONCE,),
            )
            taken = len(found)
            if taken:
                with self._database.transaction():
                    self._database.execute(
                        "INSERT OR IGNORE INTO searchable_turns (turn_id) SELECT value FROM json_each(?)",
                        (json.dumps([turn_id for (turn_id,) in found]),),
                    )


def _rows(rows: Rows) -> list[Exchange]:
    return [
        Exchange(turn_id, session_id, at, asked, answered or "", _label(label))
        for _, turn_id, session_id, at, asked, answered, label in rows
    ]


def _label(stored: str | None) -> Label:
    """Of the reply; a turn without one holds nothing but the person's own words."""
    if stored is None:
        return Label()
    label = json.loads(stored)
    return label_from(label["untrusted"], label["private"], json.dumps(label["sources"]))
