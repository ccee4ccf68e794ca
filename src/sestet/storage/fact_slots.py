"""The slots of facts: whose they are, what they are about, and their value."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sestet.storage.database import Database


class FactSlot(NamedTuple):
    subject: str
    relation: str
    value: str


class FactSlotStore:
    """Slots are derived from the text of a fact. A text that changes loses them until it is read again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def unread(self, limit: int) -> list[tuple[int, str]]:
        """Facts whose slots were not read yet: id and text."""
        rows = self._database.execute(
            "SELECT id, text FROM memories WHERE slots_read = 0 ORDER BY id LIMIT ?", (limit,)
        )
        return list(rows)

    def put(self, memory_id: int, slots: Iterable[FactSlot]) -> None:
        """Store the slots of a fact in the place of those that it has."""
        with self._database.join_transaction():
            self._database.execute("DELETE FROM fact_slots WHERE memory_id = ?", (memory_id,))
            for slot in dict.fromkeys(slots):
                self._database.execute("INSERT INTO fact_slots VALUES (?, ?, ?, ?)", (memory_id, *slot))
            self._database.execute("UPDATE memories SET slots_read = 1 WHERE id = ?", (memory_id,))

    def of(self, memory_id: int) -> list[FactSlot]:
        rows = self._database.execute(
            "SELECT subject, relation, value FROM fact_slots WHERE memory_id = ? ORDER BY rowid", (memory_id,)
        )
        return [FactSlot(*row) for row in rows]

    def about(self, pairs: Sequence[tuple[str, str]], limit: int, *, superseded: bool = False) -> list[int]:
        """The ids of the facts with one of these pairs of subject and relation, the newest first."""
        rows = self._database.execute(
            """SELECT DISTINCT memory_id FROM json_each(?) AS pair JOIN fact_slots
               ON relation = json_extract(pair.value, '$[1]') AND subject = json_extract(pair.value, '$[0]')
               WHERE ? OR memory_id NOT IN (SELECT memory_id FROM superseded)
               ORDER BY memory_id DESC LIMIT ?""",
            (json.dumps(pairs), superseded, limit),
        )
        return [memory_id for (memory_id,) in rows]
