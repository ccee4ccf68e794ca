"""Finds memories that are related to a message, for the recall tool and for the prompt."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from sestet.core.errors import EmbeddingError
from sestet.core.label import CLEAN, Label, stored_label
from sestet.core.model import CHARACTERS_PER_TOKEN
from sestet.core.record import Record
from sestet.core.words import day
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.memory import read_prompt
from sestet.storage.database import Database
from sestet.storage.full_text import telling_words
from sestet.storage.memories import MemoryIndex, MemoryKind, MemoryMatch, MemoryRow, MemoryStore
from sestet.storage.observations import ObservationRow, ObservationStore, ReflectionRow

#: A memory with less word overlap with the message stays out of the prompt.
_RELEVANT = 0.3
_CANDIDATES = 30
# Reciprocal rank fusion, as in retrieval: two good ranks count more than one first rank.
_CONSTANT = 60
_MEANING_WEIGHT = 0.5

_LIKING = ("like", "love", "prefer", "enjoy", "favourite", "favorite")

#: The first letter of an id such as ``m3``.
LETTERS: dict[MemoryKind, str] = {"memories": "m", "observations": "o", "reflections": "r"}


class Recollection(NamedTuple):
    """The memory section of a prompt, as recorded and shown."""

    text: str
    ids: tuple[str, ...]
    label: Label


class _Line(Record):
    id: str
    text: str
    label: Label


class Recall:
    """Finds memories by words, and by meaning if there is an embedding index."""

    def __init__(
        self, database: Database, prompt_tokens: int = 0, embedding: EmbeddingIndex | None = None
    ) -> None:
        self._embedding = embedding
        self._index = MemoryIndex(database)
        self._memories = MemoryStore(database)
        self._observations = ObservationStore(database)
        self._budget = prompt_tokens * CHARACTERS_PER_TOKEN

    async def facts(self, query: str, limit: int) -> list[MemoryRow]:
        """The current facts that answer a question, the best first."""
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
        """The ids of the facts nearest in meaning; none if embedding fails."""
        if self._embedding is None:
            return []
        try:
            wanted = 2 * limit + self._index.count_replaced()
            near = await self._embedding.nearest(query, wanted, _is_fact)
        except EmbeddingError:
            return []
        return self._index.current_facts([match.passage_id for match in near])[:limit]

    def section(self, message: str) -> Recollection | None:
        """The memory section for the root agent; None if no memory is related to the message."""
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

    def _line(self, match: MemoryMatch) -> _Line:
        row = self._row(match)
        name = f"{LETTERS[match.kind]}{match.id}"
        if row is None:
            return _Line(name, "", CLEAN)
        doubt = ", not the person's own words" if row.label.untrusted else ""
        how = _HOW[match.kind]
        return _Line(name, f"- {name} ({how} {day(row.created_at)}{doubt}): {_one_line(row.text)}", row.label)

    def _row(self, match: MemoryMatch) -> MemoryRow | ObservationRow | ReflectionRow | None:
        if match.kind == "memories":
            return self._memories.get(match.id)
        if match.kind == "observations":
            return self._observations.observation(match.id)
        return self._observations.reflection(match.id)


def _with_liking(query: str) -> str:
    """Add all words for liking if the query has one: people say what they prefer and ask what they like."""
    asked = {word.casefold() for word in telling_words(query)}
    return query if asked.isdisjoint(_LIKING) else f"{query} {' '.join(_LIKING)}"


def _is_fact(collection: str, session_id: str) -> bool:
    return collection == "memories"


_HOW: dict[MemoryKind, str] = {"memories": "told", "observations": "observed", "reflections": "summed up"}


def _fitting(lines: Iterable[_Line], characters: int) -> list[_Line]:
    """As many lines as fit; a line that is too long is skipped."""
    chosen: list[_Line] = []
    for line in lines:
        if line.text and len(line.text) < characters:
            chosen.append(line)
            characters -= len(line.text) + 1
    return chosen


def _one_line(text: str) -> str:
    """A text on one line without brackets, so that it cannot imitate another line or the end."""
    return " ".join(text.split()).replace("[", "(").replace("]", ")")
