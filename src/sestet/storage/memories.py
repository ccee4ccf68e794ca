"""What the person asked to be remembered, found again by full text."""

import time
from typing import NamedTuple

from sestet.core.label import Label, Origin
from sestet.storage.database import Database, Rows
from sestet.storage.full_text import match_any
from sestet.storage.labels import label_columns, label_from


class MemoryRow(NamedTuple):
    id: int
    text: str
    session_id: str
    turn_id: str
    created_at: float
    label: Label


class MemoryStore:
    """Facts as the person put them, each with the turn it came from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, text: str, origin: Origin) -> MemoryRow:
        cursor = self._database.execute(
            "INSERT INTO memories VALUES (NULL, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
            (text, origin.session_id, origin.turn_id, time.time(), *label_columns(origin.label)),
        )
        return _rows(cursor)[0]

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
    return [MemoryRow(*row[:-3], label=label_from(*row[-3:])) for row in cursor]
