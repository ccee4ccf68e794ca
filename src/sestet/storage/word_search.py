"""Ranks the rows of a full-text index in bounded time, however many rows hold a frequent word.

SQLite's own ranking reads every row that holds any word of a query, which takes long if a word is in tens of
thousands of rows. Such a query reads only the rows with its rare words, the newest with each frequent word,
and those with several frequent words. The texts of the best of these decide.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from sestet.core.words import stem
from sestet.storage.database import Database
from sestet.storage.full_text import match_phrase

#: With no more hits than these in all, SQLite ranks them all.
_FEW = 1_000
#: Rows that are read for one word.
_MOST_OF_A_WORD = 100
#: Words that are looked up. Of a pasted page, the longest words count: they are the rarest.
_MOST_WORDS = 12
#: Frequent words of which several must come together, and the newest rows in which that is looked for.
_MOST_FREQUENT = 3
_NEWEST = 30_000
#: The usual constants of BM25, which SQLite uses too.
_SATURATION, _LENGTH_SHARE = 1.2, 0.75
_LEAST_WEIGHT = 0.05


class Hits(NamedTuple):
    """Rows that may be the best ones of a query."""

    #: The most promising first.
    rows: list[int]
    #: A rare word weighs more.
    weights: Mapping[str, float]
    #: The rows in which the index has found a word; other rows may hold it too.
    found: Mapping[str, Collection[int]]


class WordSearch:
    """Finds candidates in one full-text index."""

    def __init__(self, database: Database, index: str) -> None:
        self._database = database
        self._rows_of = f"""SELECT rowid FROM {index} WHERE {index} MATCH ? AND rowid > ?
            ORDER BY rowid DESC LIMIT ?"""  # noqa: S608 - a name from our code

    def candidates(self, words: Sequence[str], within: str = "{}") -> Hits | None:
        """The rows to rank for these words or phrases; None: there are so few that SQLite can rank them all.

        ``within``: an FTS5 expression with ``{}`` for the words, which limits columns and values.
        """
        (newest,) = self._database.execute("SELECT coalesce(max(id), 0) FROM passages").only()
        if newest <= _FEW:
            return None
        wanted = sorted(filter(match_phrase, words), key=len, reverse=True)[:_MOST_WORDS]
        found = {word: self._rows((word,), within, 0) for word in wanted}
        counts = [len(rows) for rows in found.values()]
        if len(wanted) == len(words) and max(counts, default=0) < _MOST_OF_A_WORD and sum(counts) <= _FEW:
            return None
        weights = {word: _weight(rows, newest) for word, rows in found.items()}
        frequent = [word for word, rows in found.items() if len(rows) == _MOST_OF_A_WORD]
        frequent = sorted(frequent, key=weights.__getitem__, reverse=True)[:_MOST_FREQUENT]
        held = {word: set(rows) for word, rows in found.items()}
        for together in _most_of(frequent):
            rows = self._rows(together, within, newest - _NEWEST)
            for word in together:
                held[word].update(rows)
        totals: dict[int, float] = {}
        for word, rows in held.items():
            weight = weights[word]
            for row in rows:
                totals[row] = totals.get(row, 0.0) + weight
        best = sorted(((-total, -row) for row, total in totals.items()))
        return Hits([-row for _, row in best], weights, held)

    def _rows(self, words: Iterable[str], within: str, after: int) -> list[int]:
        """The newest rows after this one that hold all of these words."""
        expression = within.replace("{}", f"({' AND '.join(map(match_phrase, words))})")
        rows = self._database.execute(self._rows_of, (expression, after, _MOST_OF_A_WORD))
        return [row for (row,) in rows]


def _most_of(words: Sequence[str]) -> Iterable[Sequence[str]]:
    """All of the words, and all but one of them."""
    if len(words) > 1:
        yield words
    if len(words) > 2:
        yield from combinations(words, len(words) - 1)


def _weight(rows: Sequence[int], newest: int) -> float:
    """How much a word tells, by the number of rows that hold it; guessed if not all were read."""
    hits = float(len(rows))
    if len(rows) == _MOST_OF_A_WORD:
        hits *= newest / (newest - rows[-1] + 1)
    return max(math.log((newest - hits + 0.5) / (hits + 0.5)) if newest > hits else 0.0, _LEAST_WEIGHT)


def score_texts(hits: Hits, texts: Mapping[int, tuple[str, str]]) -> dict[int, float]:
    """The score of each row by its title, which counts twice, and its text. Higher is better."""
    stems = {word: [stem(part) for part in re.findall(r"\w+", word)] for word in hits.weights}
    parts = {
        row: 2 * _stems(title) + _stems(text) if title else _stems(text)
        for row, (title, text) in texts.items()
    }
    mean = sum(map(len, parts.values())) / max(len(parts), 1) or 1.0
    scores: dict[int, float] = {}
    for row, held in parts.items():
        slack = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * len(held) / mean)
        scores[row] = 0.0
        for word, weight in hits.weights.items():
            often = held.count(stems[word][0]) if len(stems[word]) == 1 else 0
            # The index has other word stems than ours, so what it has found counts in any case.
            often = max(often, row in hits.found[word])
            scores[row] += weight * often * (_SATURATION + 1) / (often + slack)
    return scores


def _stems(text: str) -> list[str]:
    return [stem(word) for word in re.findall(r"\w+", text)]
