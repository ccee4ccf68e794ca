"""Knowledge entries: saved under a key, with versions, searched by full text."""

import json
import time
from collections.abc import Sequence
from itertools import chain, count
from typing import Any, Literal, NamedTuple, TypeAlias

from sestet.core.label import Label, Origin
from sestet.core.record import Record
from sestet.storage.database import Database, Rows, from_json, label_columns, label_from
from sestet.storage.full_text import match_any

Category: TypeAlias = Literal["fact", "note", "document", "procedure"]

_COLUMNS = """id, key, content, category, tags, version, session_id, turn_id, created_at, updated_at,
    untrusted, private, sources"""
_VERSION_COLUMNS = (
    "version, previous, content, category, tags, session_id, turn_id, saved_at, untrusted, private, sources"
)


class KnowledgeRow(NamedTuple):
    id: int
    key: str
    content: str
    category: Category
    tags: tuple[str, ...]
    version: int
    #: The session and turn of the present content.
    session_id: str
    turn_id: str
    created_at: float
    updated_at: float
    label: Label


class KnowledgeVersion(Record):
    """One version of an entry; ``previous`` is the version that it replaced."""

    version: int
    previous: int | None
    content: str
    category: Category
    tags: tuple[str, ...]
    session_id: str
    turn_id: str
    saved_at: float
    label: Label


class KnowledgeHit(Record):
    """A row and its score: higher is better, 0 if the query had no words to compare."""

    row: KnowledgeRow
    score: float


class KnowledgeStore:
    """One entry for each key; keys ignore case."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(
        self,
        key: str,
        content: str,
        category: Category | None,
        origin: Origin,
        tags: Sequence[str] | None = None,
    ) -> KnowledgeRow:
        """Store an entry, or a new version of an existing one. Equal content changes nothing.

        Without a category or tags, a new version keeps those of the present one. Untrusted text makes no
        version of a trusted entry: it is stored under a key of its own.
        """
        label = label_columns(origin.label)
        with self._database.transaction():
            present = self.get(key)
            details = _details(present, category, tags)
            if origin.label.untrusted and (present is None or not _holds(present, content, *details)):
                key = self._key_beside(key)
                present = self.get(key)
                details = _details(present, category, tags)
            stored_tags = json.dumps(details.tags, ensure_ascii=False)
            saved_at = time.time()
            values = (content, details.category, stored_tags, origin.session_id, origin.turn_id, saved_at)
            if present is None:
                self._database.execute(
                    """INSERT INTO knowledge (key, content, category, tags, session_id, turn_id, updated_at,
                           untrusted, private, sources, created_at, version)
                       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)""",
                    (key, *values, *label, saved_at),
                )
                present = self._require(key)
                self._add_version(present.id, 1, None, values, label)
            elif not _holds(present, content, *details):
                version = self._last_version(present.id) + 1
                self._add_version(present.id, version, present.version, values, label)
                self._make_present(present.id, version)
            return self._require(key)

    def _key_beside(self, key: str) -> str:
        """The key, or the first one like it that holds no trusted entry."""
        numbered = (f"{key} (untrusted{f' {number}' if number > 1 else ''})" for number in count(1))
        keys = chain((key,), numbered)
        return next(key for key in keys if (row := self.get(key)) is None or row.label.untrusted)

    def get(self, key: str) -> KnowledgeRow | None:
        rows = self._select("FROM knowledge WHERE key = ?", (key,))
        return rows[0] if rows else None

    def history(self, key: str) -> list[KnowledgeVersion]:
        """Every version of an entry, the latest first; empty if there is no such entry."""
        rows = self._database.execute(
            f"""SELECT {_VERSION_COLUMNS} FROM knowledge_versions
                WHERE knowledge_id = (SELECT id FROM knowledge WHERE key = ?) ORDER BY version DESC""",  # noqa: S608 - columns
            (key,),
        )
        return [_version(row) for row in rows]

    def restore(self, key: str, version: int) -> KnowledgeRow | None:
        """Make another version the present one; None if the entry has no such version."""
        with self._database.join_transaction():
            present = self.get(key)
            if present is None or not self._make_present(present.id, version):
                return None
            return self._require(key)

    def forget(self, key: str) -> bool:
        """Remove an entry with all its versions; False if there is no such entry."""
        return self._database.execute("DELETE FROM knowledge WHERE key = ?", (key,)).rowcount > 0

    def search(self, query: str, limit: int) -> list[KnowledgeHit]:
        """The best matches first. A query of only common words finds the latest entries."""
        if not (expression := match_any(query)):
            return [KnowledgeHit(row, 0.0) for row in self.latest(limit)]
        # A word in the key or the tags weighs three times as much. FTS5 ranks are negative.
        found = self._database.execute(
            """SELECT item_id, -bm25(passages_index, 3.0, 1.0) AS score
               FROM passages_index JOIN passages ON passages.id = passages_index.rowid
               WHERE passages_index MATCH ? AND collection = 'knowledge'
               ORDER BY score DESC, item_id DESC LIMIT ?""",
            (expression, limit),
        )
        rows = self._select(
            "FROM knowledge WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps([item_id for item_id, _ in found]),),
        )
        by_id = {row.id: row for row in rows}
        return [KnowledgeHit(by_id[item_id], score) for item_id, score in found if item_id in by_id]

    def latest(self, limit: int, tag: str = "") -> list[KnowledgeRow]:
        """The entries that changed last, with one tag or with any."""
        return self._select(
            """FROM knowledge WHERE ? = '' OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)
               ORDER BY updated_at DESC, id DESC LIMIT ?""",
            (tag, tag, limit),
        )

    def count(self) -> int:
        (number,) = self._database.execute("SELECT count(*) FROM knowledge").only()
        return number

    def _select(self, rest: str, values: Sequence[str | int]) -> list[KnowledgeRow]:
        return [_row(row) for row in self._database.execute(f"SELECT {_COLUMNS} {rest}", values)]

    def _require(self, key: str) -> KnowledgeRow:
        row = self.get(key)
        assert row is not None  # read in the transaction that wrote it
        return row

    def _last_version(self, knowledge_id: int) -> int:
        rows = self._database.execute(
            "SELECT max(version) FROM knowledge_versions WHERE knowledge_id = ?", (knowledge_id,)
        )
        return rows.only()[0]

    def _add_version(
        self,
        knowledge_id: int,
        version: int,
        previous: int | None,
        values: tuple[str | float, ...],
        label: tuple[int, int, str],
    ) -> None:
        self._database.execute(
            "INSERT INTO knowledge_versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (knowledge_id, version, previous, *values, *label),
        )

    def _make_present(self, knowledge_id: int, version: int) -> bool:
        written: Rows = self._database.execute(
            """UPDATE knowledge SET version = chosen.version, content = chosen.content,
                   category = chosen.category, tags = chosen.tags, session_id = chosen.session_id,
                   turn_id = chosen.turn_id, updated_at = chosen.saved_at, untrusted = chosen.untrusted,
                   private = chosen.private, sources = chosen.sources
               FROM knowledge_versions AS chosen
               WHERE id = ? AND knowledge_id = id AND chosen.version = ?""",
            (knowledge_id, version),
        )
        return written.rowcount > 0


class _Details(NamedTuple):
    category: Category
    tags: tuple[str, ...]


def _details(present: KnowledgeRow | None, category: Category | None, tags: Sequence[str] | None) -> _Details:
    """The given category and tags; where one is None, that of the present version or the default."""
    kept = _Details(present.category, present.tags) if present else _Details("note", ())
    return _Details(category or kept.category, kept.tags if tags is None else tuple(dict.fromkeys(tags)))


def _holds(row: KnowledgeRow, content: str, category: Category, tags: tuple[str, ...]) -> bool:
    return (row.content, row.category, row.tags) == (content, category, tags)


def _row(columns: tuple[Any, ...]) -> KnowledgeRow:
    identity, key, content, category, tags, *rest = columns
    return KnowledgeRow(
        identity,
        key,
        content,
        category,
        tuple(from_json(tags, "the tags of an entry")),
        *rest[:-3],
        label=label_from(*rest[-3:]),
    )


def _version(columns: tuple[Any, ...]) -> KnowledgeVersion:
    version, previous, content, category, tags, *rest = columns
    return KnowledgeVersion(
        version,
        previous,
        content,
        category,
        tuple(from_json(tags, "the tags of an entry")),
        *rest[:-3],
        label=label_from(*rest[-3:]),
    )
