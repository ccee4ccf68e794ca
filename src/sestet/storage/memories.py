"""Facts that the person asked to remember, and the search index over everything remembered."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from sestet.core.label import Label, Origin
from sestet.core.record import Record
from sestet.core.words import stem
from sestet.storage.database import Database, Rows, label_columns, label_from
from sestet.storage.fact_slots import FactSlotStore
from sestet.storage.forgotten_words import ForgottenWords
from sestet.storage.full_text import match_any, telling_words
from sestet.storage.word_search import Hits, WordSearch, score_texts

MemoryKind: TypeAlias = Literal["memories", "observations", "reflections"]
MEMORY_KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
_SELECT = """SELECT memories.id, memories.text, memories.session_id, memories.turn_id, memories.created_at,
    made_by, by_id, memories.untrusted, memories.private, memories.sources
    FROM memories LEFT JOIN superseded ON memory_id = memories.id"""


#: Whether a passage is no replaced fact. A list of all replaced facts would grow with the years.
_CURRENT = """(passages.collection <> 'memories'
    OR NOT EXISTS (SELECT 1 FROM superseded WHERE memory_id = item_id))"""
#: Texts that are read for each wanted match, if a query has many hits.
_READ_FOR_EACH = 2
#: Candidates that may turn out to be replaced facts, for each wanted match.
_SEEN_FOR_EACH = 8


class MemoryRow(NamedTuple):
    id: int
    text: str
    session_id: str
    turn_id: str
    created_at: float
    #: The name of an agent, or ``you``.
    made_by: str
    #: The id of the later fact that replaced it.
    superseded_by: int | None
    label: Label


class MemoryMatch(Record):
    """A row that shares a word with a query."""

    kind: MemoryKind
    id: int
    text: str


class MemoryIndex:
    """Full-text search over facts, observations and reflections. Replaced facts are not found."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._search = WordSearch(database, "remembered_index")

    def is_empty(self) -> bool:
        """Whether nothing is remembered. A turn asks this first, so it must be cheap."""
        (anything,) = self._database.execute(
            """SELECT EXISTS (SELECT 1 FROM memories) OR EXISTS (SELECT 1 FROM observations)
               OR EXISTS (SELECT 1 FROM reflections)"""
        ).only()
        return not anything

    def has_reflections(self) -> bool:
        return bool(self._database.execute("SELECT 1 FROM reflections LIMIT 1"))

    def find(self, query: str, limit: int, kinds: Sequence[MemoryKind] = MEMORY_KINDS) -> list[MemoryMatch]:
        """The best matches first; none if the query has only common words."""
        if not (words := telling_words(query)):
            return []
        within = _within(kinds)
        if hits := self._search.candidates(words, within):
            return self._best(hits, limit)
        rows = self._database.execute(
            f"""SELECT passages.collection, item_id, passages.text
               FROM (SELECT rowid, rank AS fit FROM remembered_index WHERE remembered_index MATCH ?) AS found
               JOIN passages ON passages.id = found.rowid
               WHERE {_CURRENT} ORDER BY fit, passages.id DESC LIMIT ?""",  # noqa: S608 - a condition from above
            (within.replace("{}", f"({match_any(query)})"), limit),
        )
        return [MemoryMatch(*row) for row in rows]

    def _best(self, hits: Hits, limit: int) -> list[MemoryMatch]:
        """The best of the candidates. Among many hits, the texts of some times as many as wanted are read."""
        rows = self._database.execute(
            f"""SELECT passages.id, collection, item_id, text FROM json_each(?)
                JOIN passages ON passages.id = value WHERE {_CURRENT} ORDER BY key LIMIT ?""",  # noqa: S608 - as above
            (json.dumps(hits.rows[: _SEEN_FOR_EACH * limit]), _READ_FOR_EACH * limit),
        )
        scores = score_texts(hits, {id: ("", text) for id, _, _, text in rows})
        rows.sort(key=lambda row: (-round(scores[row[0]], 9), -row[0]))
        return [MemoryMatch(*row[1:]) for row in rows[:limit]]

    def latest(self, limit: int, kinds: Sequence[MemoryKind] = MEMORY_KINDS) -> list[MemoryMatch]:
        """The rows that were stored or changed last, the latest first."""
        # The index finds the last ones of a rare kind; changed ones have a new passage.
        newest = """SELECT id FROM
            (SELECT id FROM passages WHERE collection = ? ORDER BY item_id DESC LIMIT ?) UNION """
        rows = self._database.execute(
            f"""SELECT collection, item_id, text FROM passages WHERE id IN (
                   {newest * len(kinds)} SELECT id FROM passages
                   WHERE id > (SELECT max(id) FROM passages) - ?
                       AND collection IN (SELECT value FROM json_each(?)))
                 AND {_CURRENT} ORDER BY id DESC LIMIT ?""",  # noqa: S608 - a condition from above
            (*(value for kind in kinds for value in (kind, 2 * limit)), 2 * limit, json.dumps(kinds), limit),
        )
        return [MemoryMatch(*row) for row in rows]

    def count_facts(self) -> int:
        """The number of facts, replaced ones included."""
        (count,) = self._database.execute("SELECT count(*) FROM memories").only()
        return count

    def current_facts(self, passage_ids: Sequence[int]) -> dict[int, int]:
        """The ids of the facts by their passages, in the same order, without replaced facts."""
        rows = self._database.execute(
            """SELECT passages.id, item_id FROM json_each(?) JOIN passages ON passages.id = value
               WHERE collection = 'memories'
                   AND NOT EXISTS (SELECT 1 FROM superseded WHERE memory_id = item_id) ORDER BY key""",
            (json.dumps(passage_ids),),
        )
        return dict(rows)

    def quoting(self, text: str) -> list[tuple[MemoryKind, int]]:
        """Observations and reflections that contain a text, and facts that are this text, however said."""
        words = ForgottenWords(text)
        rows = self._database.execute(
            """SELECT collection, item_id, text FROM passages
               WHERE collection IN ('memories', 'observations', 'reflections') AND text LIKE ? ORDER BY id""",
            (words.like,),
        )
        return [
            (kind, number)
            for kind, number, held in rows
            if (words.are_all_of(held) if kind == "memories" else words.are_in(held))
        ]


def _within(kinds: Sequence[MemoryKind]) -> str:
    """An FTS5 expression for words in texts of these kinds."""
    if kinds == ("reflections",):
        return "collection : reflections AND text : {}"
    # Usually nearly all texts are of these kinds, so it is faster to leave out the others.
    others = [kind for kind in MEMORY_KINDS if kind not in kinds]
    return "text : {}" + (f" NOT collection : ({' OR '.join(others)})" if others else "")


class MemoryStore:
    """Facts, each with the turn it came from. A replaced fact stays and is only listed on demand."""

    def __init__(self, database: Database, now: Callable[[], float] = time.time) -> None:
        self._database = database
        self._index = MemoryIndex(database)
        self._now = now
        self.slots = FactSlotStore(database)

    def add(
        self, text: str, origin: Origin, made_by: str = "chronicler", supersedes: Sequence[int] = ()
    ) -> MemoryRow:
        """Store a fact and mark the facts it replaces, in one transaction."""
        with self._database.join_transaction():
            (memory_id,) = self._database.execute(
                """INSERT INTO memories (text, session_id, turn_id, created_at, untrusted, private, sources,
                   made_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
                (
                    text,
                    origin.session_id,
                    origin.turn_id,
                    self._now(),
                    *label_columns(origin.label),
                    made_by,
                ),
            ).only()
            for old in supersedes:
                self.supersede(old, memory_id)
        row = self.get(memory_id)
        assert row is not None  # stored above
        return row

    def supersede(self, old: int, later: int) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO superseded VALUES (?, ?, ?)", (old, later, self._now())
        )

    def get(self, memory_id: int) -> MemoryRow | None:
        rows = _rows(self._database.execute(f"{_SELECT} WHERE memories.id = ?", (memory_id,)))
        return rows[0] if rows else None

    def find(self, query: str, limit: int) -> list[MemoryRow]:
        """The best matches among current facts. A query of only common words finds the latest."""
        if not telling_words(query):
            return self.latest(limit)
        matches = self._index.find(query, limit, ("memories",))
        found = (self.get(match.id) for match in matches)
        return [row for row in found if row is not None]

    def latest(self, limit: int, *, superseded: bool = False, session_id: str = "") -> list[MemoryRow]:
        """The current facts, the latest first; with ``superseded`` also the replaced ones."""
        rows = self._database.execute(
            f"""{_SELECT} WHERE (? OR by_id IS NULL) AND ? IN ('', memories.session_id)
                ORDER BY memories.id DESC LIMIT ?""",
            (superseded, session_id, limit),
        )
        return _rows(rows)

    def has_more_than(self, number: int) -> bool:
        """Whether there are more facts than this, without counting all."""
        return bool(list(self._database.execute("SELECT 1 FROM memories LIMIT 1 OFFSET ?", (number,))))

    def told_between(
        self, start: float, end: float, limit: int, *, superseded: bool = False
    ) -> list[MemoryRow]:
        """The facts that were told in a time, in their order; with ``superseded`` also the replaced ones."""
        rows = self._database.execute(
            f"""{_SELECT} WHERE memories.created_at >= ? AND memories.created_at < ?
                AND (? OR by_id IS NULL) ORDER BY memories.created_at, memories.id LIMIT ?""",
            (start, end, superseded, limit),
        )
        return _rows(rows)

    def replaced_by(self, memory_id: int) -> list[MemoryRow]:
        """The facts that this one replaced."""
        return _rows(self._database.execute(f"{_SELECT} WHERE by_id = ? ORDER BY memories.id", (memory_id,)))

    def restore(self, memory_id: int) -> None:
        """Make a replaced fact current again; the later fact stays current too."""
        self._database.execute("DELETE FROM superseded WHERE memory_id = ?", (memory_id,))

    def rewrite(self, memory_id: int, text: str, label: Label, made_by: str) -> None:
        self._database.execute(
            """UPDATE memories SET text = ?, untrusted = ?, private = ?, sources = ?, made_by = ?
               WHERE id = ?""",
            (text, *label_columns(label), made_by, memory_id),
        )

    def remove(self, memory_id: int) -> None:
        """Delete a fact; the facts that it replaced become current again."""
        self._database.execute("DELETE FROM memories WHERE id = ?", (memory_id,))


def _rows(cursor: Rows) -> list[MemoryRow]:
    return [MemoryRow(*row[:-3], label=label_from(*row[-3:])) for row in cursor]


def shared_words(one: str, other: str) -> float:
    """The part of the significant words of the shorter text that the other one shares."""
    here, there = _stems(one), _stems(other)
    return len(here & there) / max(1, min(len(here), len(there)))


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, telling_words(text)))
