"""Finds memories that are related to a message, for the recall tool and for the prompt."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sestet.core.errors import EmbeddingError
from sestet.core.label import CLEAN, Label, stored_label
from sestet.core.model import CHARACTERS_PER_TOKEN
from sestet.core.record import Record
from sestet.core.words import day
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.embedding.noise import Related, only_near
from sestet.services.memory import read_prompt
from sestet.services.memory.relevance import Asked, only_related, things_lent
from sestet.storage.database import Database
from sestet.storage.memories import MemoryIndex, MemoryKind, MemoryMatch, MemoryRow, MemoryStore
from sestet.storage.observations import ObservationRow, ObservationStore, ReflectionRow

_CANDIDATES = 30
#: Reflections are long, and few of them fit into a section.
_REFLECTIONS = 8
_FURTHER = 8
#: How many of the latest rows are searched for a topic.
_LATEST = 500

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
        """The current facts that answer a question, the best first; the latest for "what do you know?".

        If no fact shares a subject with the question, those that are near in meaning.
        """
        asked = Asked(query, is_query=True)
        if asked.is_for_all:
            return self._memories.latest(limit)
        found = [match.id for match in self._related(asked, ("memories",))]
        if not found and asked.search_words:
            # Function words would make all questions alike.
            found = await self._near(asked.search_words)
        rows = (self._memories.get(memory_id) for memory_id in found)
        return [row for row in rows if row is not None and asked.may_be(row.text)][:limit]

    def _related(self, asked: Asked, kinds: Sequence[MemoryKind]) -> list[MemoryMatch]:
        """The rows that have to do with a message, the best first."""
        if asked.is_topic:
            candidates = self._index.latest(_LATEST, kinds)
        else:
            most = _REFLECTIONS if kinds == ("reflections",) else _CANDIDATES
            candidates = self._index.find(asked.search_words, most, kinds)
        return only_related(asked, candidates, lambda match: match.text)

    async def _near(self, query: str) -> list[int]:
        """The ids of the facts that are near in meaning, the nearest first; none if embedding fails."""
        if self._embedding is None:
            return []
        try:
            near, current = await self._nearest_facts(self._embedding, query)
        except EmbeddingError:
            return []
        near = only_near([one for one in near if one.passage_id in current])
        return [current[one.passage_id] for one in near]

    async def _nearest_facts(
        self, embedding: EmbeddingIndex, query: str
    ) -> tuple[list[Related], dict[int, int]]:
        """The passages of facts nearest to a question, and the ids of those facts that are current."""
        limit = _CANDIDATES
        while True:
            near = await embedding.nearest(query, limit, _is_fact)
            current = self._index.current_facts([one.passage_id for one in near])
            if current or len(near) < limit:
                return near, current
            limit *= _FURTHER  # they have all been replaced

    def section(self, message: str) -> Recollection | None:
        """The memory section for the root agent; None if no memory is related to the message."""
        if self._index.is_empty():
            return None
        asked = Asked(message)
        lent = (Asked(each, is_query=True) for each in things_lent(message))
        matches = dict.fromkeys(
            (
                *(match for each in lent for match in self._related(each, ("memories",))),
                *(self._related(asked, ("reflections",)) if self._index.has_reflections() else ()),
                *self._related(asked, ("memories", "observations")),
            )
        )
        prompt = read_prompt("section")
        lines = _fitting((self._line(match) for match in matches), self._budget - len(prompt))
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
