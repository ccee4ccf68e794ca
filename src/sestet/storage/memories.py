"""What the person asked to be remembered, found again by full text."""

import re
import sqlite3
import time
from typing import NamedTuple

from sestet.storage.database import Database

# Words that say nothing about what is being looked for.
_STOP_WORDS = frozenset(
    """
    a about am an and are as at be been by did do does for from had has have he her his how i in is it its
    know me my of on or our recall remember she tell that the their them they this to told us was we were
    what when where which who why will with you your
    """.split()  # noqa: SIM905 - a list of words reads better as words
)


class MemoryRow(NamedTuple):
    id: int
    text: str
    session_id: str
    turn_id: str
    created_at: float


class MemoryStore:
    """Facts as the person put them, each with the turn it came from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, text: str, session_id: str, turn_id: str) -> MemoryRow:
        cursor = self._database.execute(
            "INSERT INTO memories (text, session_id, turn_id, created_at) VALUES (?, ?, ?, ?) RETURNING *",
            (text, session_id, turn_id, time.time()),
        )
        return MemoryRow(*cursor.fetchone())

    def find(self, query: str, limit: int) -> list[MemoryRow]:
        """The best matches first; a query that holds only common words finds the latest."""
        words = [word for word in re.findall(r"\w+", query.casefold()) if word not in _STOP_WORDS]
        if not words:
            return self.latest(limit)
        # Each word is quoted, so nothing in a query is ever read as FTS5 syntax.
        expression = " OR ".join(f'"{word}"' for word in words)
        rows = self._database.execute(
            """SELECT memories.* FROM memories_index JOIN memories ON memories.id = memories_index.rowid
               WHERE memories_index MATCH ? ORDER BY rank, memories.id DESC LIMIT ?""",
            (expression, limit),
        )
        return _rows(rows)

    def latest(self, limit: int) -> list[MemoryRow]:
        return _rows(self._database.execute("SELECT * FROM memories ORDER BY id DESC LIMIT ?", (limit,)))


def _rows(cursor: sqlite3.Cursor) -> list[MemoryRow]:
    return [MemoryRow(*row) for row in cursor]
