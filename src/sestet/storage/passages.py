"""Passages: every retrievable text of every collection, found by words or by id."""

import json
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sestet.core.label import Label
from sestet.core.record import Record
from sestet.storage.database import Database, label_from
from sestet.storage.full_text import match_phrase
from sestet.storage.word_search import Hits, WordSearch, score_texts

#: Collections whose passages belong to one session; without a session id they belong to all.
SESSION_BOUND = ("observations", "reflections")

_COLUMNS = """passages.id, collection, passages.title, passages.text, source, session_id, created_at,
    untrusted, private, sources"""
_IN_SCOPE = """collection IN (SELECT value FROM json_each(:collections))
    AND (:session_id IN ('', session_id) OR session_id = ''
         OR collection NOT IN (SELECT value FROM json_each(:bound)))"""
# A word in the title weighs twice as much. FTS5 ranks are negative.
_BEST = """SELECT rowid, -bm25(passages_index, 2.0, 1.0) AS score FROM passages_index
    WHERE passages_index MATCH :expression ORDER BY score DESC LIMIT :most"""
_BEST_IN_SCOPE = f"""SELECT passages.id, -bm25(passages_index, 2.0, 1.0) AS score
    FROM passages_index JOIN passages ON passages.id = passages_index.rowid
    WHERE passages_index MATCH :expression AND {_IN_SCOPE} ORDER BY score DESC LIMIT :most"""  # noqa: S608 - names from above
_LOOK_AHEAD = 4
#: A word in so many passages tells something only beside others.
_RARE = 1_000
#: Beyond so many passages it does not matter how many they are.
_FREQUENT = 100
#: Texts that are read for each wanted match, if a query has many hits.
_READ_FOR_EACH = 6


class SearchScope(Record):
    """Where to search. A session id leaves out passages of other sessions; an empty one leaves out none."""

    collections: tuple[str, ...]
    session_id: str = ""

    def holds(self, collection: str, session_id: str) -> bool:
        if collection not in self.collections:
            return False
        return (
            collection not in SESSION_BOUND
            or "" in (self.session_id, session_id)
            or (session_id == self.session_id)
        )

    def values(self) -> dict[str, str]:
        return {
            "collections": json.dumps(self.collections),
            "session_id": self.session_id,
            "bound": json.dumps(SESSION_BOUND),
        }


class PassageRow(Record):
    id: int
    collection: str
    title: str
    text: str
    source: str
    session_id: str
    created_at: float
    label: Label


class PassageMatch(NamedTuple):
    """A passage found by words, and its score: higher is better."""

    passage_id: int
    score: float


class PassageStore:
    """Reads passages. Database triggers write them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._search = WordSearch(database, "passages_index")

    def match(self, phrases: Sequence[str], scope: SearchScope, limit: int) -> list[PassageMatch]:
        """The best matches of any of the phrases first. All that tie with the last one are returned."""
        expression = " OR ".join(filter(None, map(match_phrase, phrases)))
        if not expression or limit < 1:
            return []
        hits = self._search.candidates(phrases)
        found = self._ranked(hits, scope, limit) if hits else []
        if len(found) < limit:
            # Few hits, or nearly all of the newest hits are out of scope.
            found = self._all_ranked(expression, scope, limit)
        return [match for match in found if match.score >= found[min(limit, len(found)) - 1].score]

    def _ranked(self, hits: Hits, scope: SearchScope, limit: int) -> list[PassageMatch]:
        """The best of the candidates, by the texts of some times as many as wanted."""
        rows = self._database.execute(
            f"""SELECT passages.id, passages.title, passages.text FROM json_each(:ids)
                JOIN passages ON passages.id = value WHERE {_IN_SCOPE} ORDER BY key LIMIT :most""",  # noqa: S608 - names from above
            {"ids": json.dumps(hits.rows), "most": _READ_FOR_EACH * limit, **scope.values()},
        )
        scores = score_texts(hits, {id: (title, text) for id, title, text in rows})
        found = [PassageMatch(id, round(score, 9)) for id, score in scores.items()]
        return sorted(found, key=lambda match: (-match.score, match.passage_id))

    def _all_ranked(self, expression: str, scope: SearchScope, limit: int) -> list[PassageMatch]:
        # Usually nearly all passages are in scope, so it is cheaper to rank first and filter afterwards.
        most = _LOOK_AHEAD * limit
        best = self._best(_BEST, expression, scope, most)
        found = self._in_scope(best, scope)
        is_whole = len(best) < most
        while not is_whole and (len(found) <= limit or found[-1].score == found[limit - 1].score):
            most *= _LOOK_AHEAD
            found = self._best(_BEST_IN_SCOPE, expression, scope, most)
            is_whole = len(found) < most
        return found

    def _best(self, statement: str, expression: str, scope: SearchScope, most: int) -> list[PassageMatch]:
        values = {"expression": expression, "most": most, **scope.values()}
        return [PassageMatch(*row) for row in self._database.execute(statement, values)]

    def _in_scope(self, found: Sequence[PassageMatch], scope: SearchScope) -> list[PassageMatch]:
        rows = self._database.execute(
            f"""SELECT passages.id FROM json_each(:ids) JOIN passages ON passages.id = value
                WHERE {_IN_SCOPE}""",  # noqa: S608 - names from above
            {"ids": json.dumps([match.passage_id for match in found]), **scope.values()},
        )
        ids = {passage_id for (passage_id,) in rows}
        return [match for match in found if match.passage_id in ids]

    def get(self, ids: Iterable[int]) -> dict[int, PassageRow]:
        """The existing passages among these ids."""
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM json_each(?) JOIN passages ON passages.id = value",  # noqa: S608 - as above
            (json.dumps(list(ids)),),
        )
        return {row[0]: _row(row) for row in rows}

    def rarities(self, words: Iterable[str]) -> dict[str, float]:
        """How much each word tells. One that is in no passage may still be in another form of the answer."""
        found: dict[str, float] = {}
        for word in words:
            (hits,) = self._database.execute(
                "SELECT count(*) FROM (SELECT 1 FROM passages_index WHERE passages_index MATCH ? LIMIT ?)",
                (match_phrase(word), _FREQUENT),
            ).only()
            found[word] = math.log(1 + _RARE / hits) ** 2 if hits else (math.log(1 + _RARE) / 2) ** 2
        return found

    def holding(self, words: Iterable[str], ids: Collection[int]) -> dict[int, list[str]]:
        """For each of these passages, which of the words it contains in any form."""
        found: dict[int, list[str]] = {}
        wanted = json.dumps(list(ids))
        for word in words if ids else ():
            rows = self._database.execute(
                """SELECT rowid FROM passages_index
                   WHERE passages_index MATCH ? AND rowid IN (SELECT value FROM json_each(?))""",
                (match_phrase(word), wanted),
            )
            for (passage_id,) in rows:
                found.setdefault(passage_id, []).append(word)
        return found


def _row(columns: tuple[Any, ...]) -> PassageRow:
    return PassageRow(*columns[:-3], label=label_from(*columns[-3:]))
