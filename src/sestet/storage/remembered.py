"""One full-text index over facts, observations and reflections: what of it has to do with some words."""

import json
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from sestet.core.language import stem
from sestet.core.record import Values, record
from sestet.storage.database import Database
from sestet.storage.full_text import match_any, telling_words

Kind: TypeAlias = Literal["memories", "observations", "reflections"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@record
class Match(Values):
    """A row that shares words with a question; ``overlap`` is the share of the shorter of the two."""

    kind: Kind
    id: int
    overlap: float


class RememberedIndex:
    """Finds rows by words. Facts that were replaced are not found."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_empty(self) -> bool:
        """The one thing that is asked in a turn while nothing is remembered."""
        (anything,) = self._database.execute(
            """SELECT EXISTS (SELECT 1 FROM memories) OR EXISTS (SELECT 1 FROM observations)
               OR EXISTS (SELECT 1 FROM reflections)"""
        ).only()
        return not anything

    def find(self, query: str, limit: int, kinds: Sequence[Kind] = KINDS) -> list[Match]:
        """The best matches first; none for a query without a telling word."""
        expression = match_any(query)
        if not expression:
            return []
        rows = self._database.execute(
            """SELECT passages.collection, item_id, passages.text
               FROM (SELECT rowid, rank AS fit FROM remembered_index WHERE remembered_index MATCH ?
                     ORDER BY rank LIMIT ? + (SELECT count(*) FROM superseded)) AS found
               JOIN passages ON passages.id = found.rowid
               WHERE passages.collection <> 'memories' OR item_id NOT IN (SELECT memory_id FROM superseded)
               ORDER BY fit, passages.id DESC LIMIT ?""",
            (f"collection : ({' OR '.join(kinds)}) AND text : ({expression})", 2 * limit, limit),
        )
        asked = _stems(query)
        return [Match(kind, item_id, _overlap(asked, _stems(text))) for kind, item_id, text in rows]

    def count_replaced(self) -> int:
        """How many facts were replaced: so many of the best matches may have to be left out."""
        (count,) = self._database.execute("SELECT count(*) FROM superseded").only()
        return count

    def counting_facts(self, passage_ids: Sequence[int]) -> list[int]:
        """The facts behind some passages, in the same order; those that were replaced are left out."""
        rows = self._database.execute(
            """SELECT item_id FROM json_each(?) JOIN passages ON passages.id = value
               WHERE collection = 'memories' AND item_id NOT IN (SELECT memory_id FROM superseded)
               ORDER BY key""",
            (json.dumps(passage_ids),),
        )
        return [memory_id for (memory_id,) in rows]

    def quoting(self, text: str) -> list[tuple[Kind, int]]:
        """Observations and reflections that hold a text word for word, whatever its case."""
        rows = self._database.execute(
            """SELECT collection, item_id, text FROM passages
               WHERE collection IN ('observations', 'reflections') ORDER BY id"""
        )
        # Compared here: for SQLite, only the letters of English have a case.
        return [(kind, number) for kind, number, held in rows if text.casefold() in held.casefold()]


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, min(len(one), len(other)))


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, telling_words(text)))
