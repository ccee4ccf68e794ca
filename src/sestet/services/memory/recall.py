"""What has to do with a message: for the tool that recalls, and for the section in the prompt."""

import time
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from sestet.core.errors import EmbeddingError
from sestet.core.label import CLEAN, Label, stored_label
from sestet.core.model import CHARACTERS_PER_TOKEN
from sestet.core.record import Record
from sestet.services.embedding.work import Embedding
from sestet.services.memory.prompts import read_prompt
from sestet.storage.database import Database
from sestet.storage.full_text import telling_words
from sestet.storage.memories import MemoryRow, MemoryStore
from sestet.storage.observations import ObservationRow, ObservationStore, ReflectionRow
from sestet.storage.remembered import Kind, Match, RememberedIndex

#: A row that shares less of its words with the message stays out of the prompt.
_RELEVANT = 0.3
_CANDIDATES = 30
# Reciprocal rank fusion, as in retrieval: two good places count more than one first place.
_CONSTANT = 60
_MEANING_WEIGHT = 0.5

_LIKING = ("like", "love", "prefer", "enjoy", "favourite", "favorite")

#: The letter that an id begins with; the number follows: ``m3``.
LETTERS: dict[Kind, str] = {"memories": "m", "observations": "o", "reflections": "r"}


class Recollection(NamedTuple):
    """The section of a prompt, as it is recorded and shown."""

    text: str
    ids: tuple[str, ...]
    label: Label


class _Line(Record):
    id: str
    text: str
    label: Label


class Recall:
    """Finds what is remembered: by its words, and by its meaning where there is an embedding."""

    def __init__(
        self, database: Database, prompt_tokens: int = 0, embedding: Embedding | None = None
    ) -> None:
        self._embedding = embedding
        self._index = RememberedIndex(database)
        self._memories = MemoryStore(database)
        self._observations = ObservationStore(database)
        self._budget = prompt_tokens * CHARACTERS_PER_TOKEN

    async def facts(self, query: str, limit: int) -> list[MemoryRow]:
        """The facts that answer a question, the best first; those that were replaced are left out."""
        by_words = self._memories.find(_with_liking(query), limit)
        by_meaning = await self._near(query, limit) if telling_words(query) else []
        scores: dict[int, float] = defaultdict(float)
        for weight, ids in ((1.0, [row.id for row in by_words]), (_MEANING_WEIGHT, by_meaning)):
            for rank, memory_id in enumerate(ids, 1):
                scores[memory_id] += weight / (_CONSTANT + rank)
        best = sorted(scores, key=lambda memory_id: (-scores[memory_id], -memory_id))[:limit]
        found = (self._memories.get(memory_id) for memory_id in best)
        return [row for row in found if row is not None]

    async def _near(self, query: str, limit: int) -> list[int]:
        """The facts that are nearest in meaning; none when that cannot be told."""
        if self._embedding is None:
            return []
        try:
            wanted = 2 * limit + self._index.count_replaced()
            near = await self._embedding.nearest(query, wanted, _is_fact)
        except EmbeddingError:
            return []
        return self._index.counting_facts([match.passage_id for match in near])[:limit]

    def section(self, message: str) -> Recollection | None:
        """What the root agent is shown beside a message; None when nothing has to do with it."""
        if self._index.is_empty():
            return None
        matches = (
            *self._index.find(message, _CANDIDATES, ("reflections",)),
            *self._index.find(message, _CANDIDATES, ("memories", "observations")),
        )
        found = (match for match in matches if match.overlap >= _RELEVANT)
        prompt = read_prompt("section")
        lines = _fitting((self._line(match) for match in found), self._budget - len(prompt))
        if not lines:
            return None
        label = stored_label("memory", (line.label for line in lines))
        text = prompt.replace("{lines}", "\n".join(line.text for line in lines))
        return Recollection(text, tuple(line.id for line in lines), label)

    def _line(self, match: Match) -> _Line:
        row = self._row(match)
        name = f"{LETTERS[match.kind]}{match.id}"
        if row is None:
            return _Line(name, "", CLEAN)
        doubt = ", not the person's own words" if row.label.untrusted else ""
        how = _HOW[match.kind]
        return _Line(
            name, f"- {name} ({how} {_day(row.created_at)}{doubt}): {_one_line(row.text)}", row.label
        )

    def _row(self, match: Match) -> MemoryRow | ObservationRow | ReflectionRow | None:
        if match.kind == "memories":
            return self._memories.get(match.id)
        if match.kind == "observations":
            return self._observations.observation(match.id)
        return self._observations.reflection(match.id)


def _with_liking(query: str) -> str:
    """People tell what they prefer and ask what they like: a question with one of the words is about all."""
    asked = {word.casefold() for word in telling_words(query)}
    return query if asked.isdisjoint(_LIKING) else f"{query} {' '.join(_LIKING)}"


def _is_fact(collection: str, session_id: str) -> bool:
    return collection == "memories"


_HOW: dict[Kind, str] = {"memories": "told", "observations": "observed", "reflections": "summed up"}


def _fitting(lines: Iterable[_Line], characters: int) -> list[_Line]:
    """As many as fit; one that is too long makes room for the next."""
    chosen: list[_Line] = []
    for line in lines:
        if line.text and len(line.text) < characters:
            chosen.append(line)
            characters -= len(line.text) + 1
    return chosen


def _one_line(text: str) -> str:
    """A text that cannot pretend to be another line of the section, or its end."""
    return " ".join(text.split()).replace("[", "(").replace("]", ")")


def _day(timestamp: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(timestamp))
