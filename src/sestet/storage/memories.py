"""What the person asked to be remembered, found again by full text."""

import time
from typing import NamedTuple

from sestet.storage.database import Database, Rows
from sestet.storage.full_text import match_any


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
        return MemoryRow(*cursor.only())

    def find(self, query: str, limit: int) -> list[MemoryRow]:
        """The best matches first; a query that holds only common words finds the latest."""
        expression = match_any(query)
        if not expression:
            return self.latest(limit)
        rows = self._database.execute(
            """SELECT memories.* FROM memories_index JOIN memories ON memories.id = memories_index.rowid
               WHERE memories_index MATCH ? ORDER BY rank, memories.id DESC LIMIT ?""",
            (expression, limit),
        )
        return _rows(rows)

    def latest(self, limit: int) -> list[MemoryRow]:
        return _rows(self._database.execute("SELECT * FROM memories ORDER BY id DESC LIMIT ?", (limit,)))


def _rows(cursor: Rows) -> list[MemoryRow]:
    return [MemoryRow(*row) for row in cursor]
