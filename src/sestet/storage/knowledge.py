"""Knowledge that was saved under a key, found again by full text."""

import time
from typing import Any, Literal, NamedTuple, TypeAlias

from sestet.core.label import Label, Origin
from sestet.storage.database import Database
from sestet.storage.full_text import match_any
from sestet.storage.labels import label_columns, label_from

Category: TypeAlias = Literal["fact", "note", "document", "procedure"]


class KnowledgeRow(NamedTuple):
    id: int
    key: str
    content: str
    category: Category
    #: Where the present content came from.
    session_id: str
    turn_id: str
    created_at: float
    updated_at: float
    label: Label


class KnowledgeHit(NamedTuple):
    """A row, and how well it fits: more is better, 0 where nothing was compared."""

    row: KnowledgeRow
    score: float


class KnowledgeStore:
    """One entry a key; upper and lower case make no difference to a key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, key: str, content: str, category: Category, origin: Origin) -> KnowledgeRow:
        """Store an entry, or replace the one of that key. The same content again changes nothing."""
        now = time.time()
        with self._database.transaction():
            self._database.execute(
                """INSERT INTO knowledge VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                   ON CONFLICT (key) DO UPDATE SET
                       content = excluded.content, category = excluded.category,
                       session_id = excluded.session_id, turn_id = excluded.turn_id,
                       updated_at = excluded.updated_at, untrusted = excluded.untrusted,
                       private = excluded.private, sources = excluded.sources
                   WHERE content <> excluded.content OR category <> excluded.category""",
                (
                    key,
                    content,
                    category,
                    origin.session_id,
                    origin.turn_id,
                    now,
                    now,
                    *label_columns(origin.label),
                ),
            )
            row = self._database.execute("SELECT * FROM knowledge WHERE key = ?", (key,)).only()
        return _row(row)

    def search(self, query: str, limit: int) -> list[KnowledgeHit]:
        """The best matches first; a query that holds only common words finds the latest."""
        if not (expression := match_any(query)):
            return [KnowledgeHit(row, 0.0) for row in self.latest(limit)]
        # A word in the key says more than one in the content. FTS5 ranks downwards from 0.
        rows = self._database.execute(
            """SELECT knowledge.*, -bm25(knowledge_index, 3.0, 1.0) AS score
               FROM knowledge_index JOIN knowledge ON knowledge.id = knowledge_index.rowid
               WHERE knowledge_index MATCH ? ORDER BY score DESC, knowledge.id DESC LIMIT ?""",
            (expression, limit),
        )
        return [KnowledgeHit(_row(row[:-1]), row[-1]) for row in rows]

    def latest(self, limit: int) -> list[KnowledgeRow]:
        rows = self._database.execute(
            "SELECT * FROM knowledge ORDER BY updated_at DESC, id DESC LIMIT ?", (limit,)
        )
        return [_row(row) for row in rows]


def _row(columns: tuple[Any, ...]) -> KnowledgeRow:
    return KnowledgeRow(*columns[:-3], label=label_from(*columns[-3:]))
