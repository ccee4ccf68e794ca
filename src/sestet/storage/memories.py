"""What the person asked to be remembered, and which fact replaced which."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from sestet.core.label import Label, Origin
from sestet.storage.database import Database, Rows
from sestet.storage.full_text import telling_words
from sestet.storage.labels import label_columns, label_from
from sestet.storage.remembered import RememberedIndex

_SELECT = """SELECT memories.id, memories.text, memories.session_id, memories.turn_id, memories.created_at,
    made_by, by_id, memories.untrusted, memories.private, memories.sources
    FROM memories LEFT JOIN superseded ON memory_id = memories.id"""


class MemoryRow(NamedTuple):
    id: int
    text: str
    session_id: str
    turn_id: str
    created_at: float
    #: An agent, or ``you``.
    made_by: str
    #: The later fact that counts in its place.
    superseded_by: int | None
    label: Label


class MemoryStore:
    """Facts, each with the turn it came from. One that was replaced stays, and is only found on demand."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._index = RememberedIndex(database)

    def add(
        self, text: str, origin: Origin, made_by: str = "chronicler", supersedes: Sequence[int] = ()
    ) -> MemoryRow:
        """Store a fact with what it replaces, both or neither."""
        with self._together():
            (memory_id,) = self._database.execute(
                """INSERT INTO memories (text, session_id, turn_id, created_at, untrusted, private, sources,
                   made_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
                (
                    text,
                    origin.session_id,
                    origin.turn_id,
                    time.time(),
                    *label_columns(origin.label),
                    made_by,
                ),
            ).only()
            for old in supersedes:
                self.supersede(old, memory_id)
        row = self.get(memory_id)
        assert row is not None  # it was stored a moment ago
        return row

    def supersede(self, old: int, later: int) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO superseded VALUES (?, ?, ?)", (old, later, time.time())
        )

    def _together(self) -> AbstractContextManager[None]:
        """A transaction, unless the caller has one."""
        return nullcontext() if self._database.connection.in_transaction else self._database.transaction()

    def get(self, memory_id: int) -> MemoryRow | None:
        rows = _rows(self._database.execute(f"{_SELECT} WHERE memories.id = ?", (memory_id,)))
        return rows[0] if rows else None

    def find(self, query: str, limit: int) -> list[MemoryRow]:
        """The best matches that still count; a query that holds only common words finds the latest."""
        if not telling_words(query):
            return self.latest(limit)
        matches = self._index.find(query, limit, ("memories",))
        found = (self.get(match.id) for match in matches)
        return [row for row in found if row is not None]

    def latest(self, limit: int, *, superseded: bool = False, session_id: str = "") -> list[MemoryRow]:
        """The latest first: those that count, or with ``superseded`` all of them."""
        rows = self._database.execute(
            f"""{_SELECT} WHERE (? OR by_id IS NULL) AND ? IN ('', memories.session_id)
                ORDER BY memories.id DESC LIMIT ?""",
            (superseded, session_id, limit),
        )
        return _rows(rows)

    def replaced_by(self, memory_id: int) -> list[MemoryRow]:
        """The facts in whose place this one counts."""
        return _rows(self._database.execute(f"{_SELECT} WHERE by_id = ? ORDER BY memories.id", (memory_id,)))

    def restore(self, memory_id: int) -> None:
        """Let a fact count again that was replaced; the later one counts as well."""
        self._database.execute("DELETE FROM superseded WHERE memory_id = ?", (memory_id,))

    def rewrite(self, memory_id: int, text: str, label: Label, made_by: str) -> None:
        self._database.execute(
            """UPDATE memories SET text = ?, untrusted = ?, private = ?, sources = ?, made_by = ?
               WHERE id = ?""",
            (text, *label_columns(label), made_by, memory_id),
        )

    def remove(self, memory_id: int) -> None:
        """What it had replaced counts again."""
        self._database.execute("DELETE FROM memories WHERE id = ?", (memory_id,))


def _rows(cursor: Rows) -> list[MemoryRow]:
    return [MemoryRow(*row[:-3], label=label_from(*row[-3:])) for row in cursor]
