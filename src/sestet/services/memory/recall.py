"""Finds memories that are related to a message, for the recall tool and for the prompt."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Literal, NamedTuple

from sestet.core.errors import EmbeddingError
from sestet.core.label import CLEAN, Label, stored_label
from sestet.core.model import CHARACTERS_PER_TOKEN
from sestet.core.record import Record
from sestet.core.words import day, local_now
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.embedding.noise import Related, only_near
from sestet.services.memory import read_prompt
from sestet.services.memory.phrases import ME, name_of
from sestet.services.memory.questions import Question, is_negative, stems_of
from sestet.services.memory.ranking import LEAST, LEAST_BY_WORDS, Ranking, Scored, only_best
from sestet.services.memory.relevance import Asked, only_related, things_lent
from sestet.services.memory.remembering import read_unread
from sestet.services.memory.slots import read_slots
from sestet.services.memory.telling_times import Span, read_span
from sestet.storage.database import Database
from sestet.storage.memories import MemoryIndex, MemoryKind, MemoryMatch, MemoryRow, MemoryStore
from sestet.storage.observations import ObservationRow, ObservationStore, ReflectionRow

_CANDIDATES = 30
#: Reflections are long, and few of them fit into a section.
_REFLECTIONS = 8
_FURTHER = 8
#: How many of the latest rows are searched for a topic.
_LATEST = 500
#: The most facts beside a message.
_MOST_BESIDE = 5
#: The most facts of a time that are read, and that are told.
_MOST_TOLD, _LATEST_TOLD = 500, 20
#: A fact with a lower score has nothing to do with a question.
_LIKELY = 0.9
_LONGEST_QUESTION = 20
#: Up to so many facts, rules about their words are enough.
_FEW = 40
_HALF, _ALL = 0.5, 0.99

#: The first letter of an id such as ``m3``.
LETTERS: dict[MemoryKind, str] = {"memories": "m", "observations": "o", "reflections": "r"}


class Recollection(NamedTuple):
    """The memory section of a prompt, as recorded and shown."""

    text: str
    ids: tuple[str, ...]
    label: Label


#: How facts answer: they are the answer, say yes or no, were told in a time, or were true before.
Kind = Literal["facts", "yes", "no", "time", "history"]


class Answer(NamedTuple):
    rows: tuple[MemoryRow, ...]
    kind: Kind = "facts"
    #: The days that a question about a time names.
    days: str = ""
    #: Whether the facts were read closely, and are sure to answer.
    is_sure: bool = True


class _Line(Record):
    id: str
    text: str
    label: Label


class Recall:
    """Finds memories by words, and by meaning if there is an embedding index."""

    def __init__(
        self,
        database: Database,
        prompt_tokens: int = 0,
        embedding: EmbeddingIndex | None = None,
        clock: Callable[[], datetime] = local_now,
    ) -> None:
        self._clock = clock
        self._embedding = embedding
        self._index = MemoryIndex(database)
        self._memories = MemoryStore(database)
        self._observations = ObservationStore(database)
        self._budget = prompt_tokens * CHARACTERS_PER_TOKEN

    async def facts(self, query: str, limit: int) -> list[MemoryRow]:
        """The facts that answer a question, the best first; the latest for "what do you know?"."""
        return list((await self.answer(query, limit)).rows)

    async def answer(self, query: str, limit: int, message: str = "") -> Answer:
        """The facts that answer a question, and how they answer it.

        "What did I tell you on Monday?" asks for a time of telling, "where did I live before?" for facts that
        were replaced. For a question for a yes or no, the facts may say which. ``message``: what the query is
        a part of, which may name the time.
        """
        # "Birthday" of "when is my birthday?" does not say whose.
        question = Question(message if _is_one_question(message) else query)
        read_unread(self._memories)
        if (span := read_span(message or query, self._clock().date())) is not None:
            return Answer(tuple(self._told_in(span, question, max(limit, _LATEST_TOLD))), "time", span.named)
        if Asked(query, is_query=True).is_for_all:
            return Answer(tuple(self._memories.latest(limit)), is_sure=False)
        rows = await self._best(question, Asked(query, is_query=True), limit)
        if question.is_history and (earlier := self._replaced(rows)):
            return Answer(tuple(earlier[:limit]), "history")
        if question.is_yes_no and rows and (self._has_many() or question.asks_relation):
            return Answer(tuple(rows), self._verdict(question, rows[0]))
        is_sure = self._has_many() or rows == self._by_slots(question)[:limit]
        return Answer(tuple(rows), "facts", is_sure=is_sure)

    def events(self, query: str, author: str, limit: int) -> list[ObservationRow]:
        """The events that an agent has noted and that have to do with a question, the best first."""
        found = self._related(Asked(query, is_query=True), ("observations",))
        rows = (self._observations.observation(match.id) for match in found)
        return [row for row in rows if row is not None and row.made_by == author][:limit]

    def _told_in(self, span: Span, question: Question, limit: int) -> list[MemoryRow]:
        """The facts that were told in a time, or that name it, about the subject of the question."""
        told = self._memories.told_between(*span.times, _MOST_TOLD, superseded=True)
        asked = Question(question.text.replace(span.words, " "))
        if asked.content:
            return [row for row in told if asked.coverage(stems_of(row.text)) >= _HALF][:limit]
        naming = (
            self._index.find(span.words, _CANDIDATES, ("memories",))
            if any(map(str.isdigit, span.words))
            else ()
        )
        known = {row.id for row in told}
        words = " ".join(span.words.casefold().split()[-2:])
        rows = (self._memories.get(match.id) for match in naming if words in match.text.casefold())
        return [*told, *(row for row in rows if row is not None and row.id not in known)][:limit]

    def _replaced(self, rows: Iterable[MemoryRow]) -> list[MemoryRow]:
        """The facts that these have replaced, and those before them, the newest first."""
        found: dict[int, MemoryRow] = {}
        left = list(rows)
        while left and len(found) < _CANDIDATES:
            for old in self._memories.replaced_by(left.pop(0).id):
                if old.id not in found:
                    found[old.id] = old
                    left.append(old)
        return sorted(found.values(), key=lambda row: -row.id)

    def _verdict(self, question: Question, best: MemoryRow) -> Kind:
        """Whether the best fact says yes or no to a question; neither: it only has to do with it."""
        held = self._held(best)
        ended = stems_of(" ".join(slot.ended for slot in read_slots(best.text)))
        names = self._names_of(question)
        if ended & question.content:
            return "no"
        if question.coverage(held, names) >= _ALL:
            return "yes" if is_negative(best.text) == question.is_negative else "no"
        was_so = any(question.coverage(stems_of(old.text), names) >= _ALL for old in self._replaced([best]))
        single = question.asks_relation and Ranking(question, names).tells(self._memories.slots.of(best.id))
        return "no" if was_so or single else "facts"

    async def _best(self, question: Question, asked: Asked, limit: int) -> list[MemoryRow]:
        """The facts that answer a question; many for one that names only a topic, as "what do I like?"."""
        if not self._has_many():
            return self._by_slots(question)[:limit] or await self._by_subject(asked, limit)
        near = await self._near(question.text)
        rows = only_best(self._ranked(question, near), limit, LEAST if near else LEAST_BY_WORDS)
        if rows or not (asked.is_topic or not question.content):
            return rows
        found = (self._memories.get(match.id) for match in self._related(asked, ("memories",)))
        rows = [row for row in found if row is not None and asked.may_be(row.text)]
        ranking, slots = Ranking(question, {}), self._memories.slots
        rows = [row for row in rows if ranking.may_answer(row, slots.of(row.id))]
        return [row for row in rows if _says_so(question, row.text)][:limit]

    def _has_many(self) -> bool:
        """Whether there are so many facts that a question must be read closely to find the right one."""
        return self._memories.has_more_than(_FEW)

    def _by_slots(self, question: Question) -> list[MemoryRow]:
        """The facts that tell the relation or the thing that a question asks for, the newest first."""
        owners = question.owners.union(*self._names_of(question).values()) if question.owners else {ME}
        asked = question.relations if question.asks_relation else [question.head] if question.head else []
        found = self._memories.slots.about([(who, what) for who in owners for what in asked], _CANDIDATES)
        rows = [row for memory_id in found if (row := self._memories.get(memory_id)) is not None]
        rows = [row for row in rows if not question.wants_value(row.text)]
        if question.asks_relation:
            return rows
        # "My chemistry exam" wants a fact that names chemistry too.
        return [row for row in rows if question.coverage(self._held(row)) >= _ALL]

    def _held(self, row: MemoryRow) -> frozenset[str]:
        """The stems of a fact, and of what it is about."""
        about = (word for slot in self._memories.slots.of(row.id) for word in slot.relation.split())
        return stems_of(row.text).union(about)

    async def _by_subject(self, asked: Asked, limit: int) -> list[MemoryRow]:
        """Of few facts, those that share a subject with a question, or else are near it in meaning."""
        found = [match.id for match in self._related(asked, ("memories",))]
        if not found and asked.search_words and self._embedding is not None:
            with suppress(EmbeddingError):
                # Function words would make all questions alike.
                near, current = await self._nearest_facts(self._embedding, asked.search_words)
                near = only_near([one for one in near if one.passage_id in current])
                found = [current[one.passage_id] for one in near]
        rows = (self._memories.get(memory_id) for memory_id in found)
        return [row for row in rows if row is not None and asked.may_be(row.text)][:limit]

    def _ranked(self, question: Question, near: Mapping[int, float]) -> list[Scored]:
        names = self._names_of(question)
        ranking = Ranking(question, names)
        rows = [(row, self._memories.slots.of(row.id)) for row in self._candidates(question, names, near)]
        if question.asks_relation and (
            telling := [(row, slots) for row, slots in rows if ranking.tells(slots)]
        ):
            rows = telling
        return [Scored(row, ranking.score(row, slots, near.get(row.id, 0.0))) for row, slots in rows]

    def _names_of(self, question: Question) -> dict[str, frozenset[str]]:
        """The names of the people and things in a question: of "my sister", if a fact says who that is."""
        slots = self._memories.slots
        asked = question.roles | question.content
        found = slots.about([(ME, word) for word in asked], _CANDIDATES)
        names: dict[str, frozenset[str]] = {}
        for slot in (slot for memory_id in found for slot in slots.of(memory_id) if slot.relation in asked):
            if (called := re.match(r"[A-ZÄÖÜ][\w-]+", slot.value)) is not None:
                names[slot.relation] = names.get(slot.relation, frozenset()) | {name_of(called[0])}
        return names

    def _candidates(
        self, question: Question, names: Mapping[str, frozenset[str]], near: Iterable[int]
    ) -> list[MemoryRow]:
        """The facts that share a word or a slot with a question, or are near it in meaning."""
        called = {name for each in names.values() for name in each}
        everybody = {ME, *question.owners, *called}
        pairs = [(who, what) for who in everybody for what in (*question.relations, *question.content)]
        ids = dict.fromkeys(near)
        ids |= dict.fromkeys(self._memories.slots.about(pairs, _CANDIDATES))
        for wanted in ((question.telling_words, *called), question.near_words):
            found = self._index.find(" ".join(wanted), _CANDIDATES, ("memories",))
            ids |= dict.fromkeys(match.id for match in found)
        rows = (self._memories.get(memory_id) for memory_id in ids)
        return [row for row in rows if row is not None]

    def _related(self, asked: Asked, kinds: Sequence[MemoryKind]) -> list[MemoryMatch]:
        """The rows that have to do with a message, the best first."""
        if asked.is_topic:
            candidates = self._index.latest(_LATEST, kinds)
        else:
            most = _REFLECTIONS if kinds == ("reflections",) else _CANDIDATES
            candidates = self._index.find(asked.search_words, most, kinds)
        return only_related(asked, candidates, lambda match: match.text)

    async def _near(self, query: str) -> dict[int, float]:
        """The facts near in meaning, in deviations from unrelated texts; none if embedding fails."""
        if self._embedding is None:
            return {}
        try:
            near, current = await self._nearest_facts(self._embedding, query)
        except EmbeddingError:
            return {}
        return {current[one.passage_id]: one.deviations for one in near if one.passage_id in current}

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
                *self._facts_beside(message, asked),
                *self._related(asked, ("observations",)),
            )
        )
        prompt = read_prompt("section")
        lines = _fitting((self._line(match) for match in matches), self._budget - len(prompt))
        if not lines:
            return None
        label = stored_label("memory", (line.label for line in lines))
        text = prompt.replace("{lines}", "\n".join(line.text for line in lines))
        return Recollection(text, tuple(line.id for line in lines), label)

    def _facts_beside(self, message: str, asked: Asked) -> list[MemoryMatch]:
        """The facts that a message has to do with; for a question those that answer it, by their words."""
        if not asked.is_question or asked.is_for_all or not self._has_many():
            return self._related(asked, ("memories",))
        read_unread(self._memories)
        question = Question(message)
        if question.asks_why:
            return []
        scored = self._ranked(question, {})
        if rows := only_best(scored, _MOST_BESIDE, LEAST_BY_WORDS):
            return [MemoryMatch("memories", row.id, row.text) for row in rows]
        likely = {each.row.id for each in scored if each.score >= _LIKELY}
        related = self._related(asked, ("memories",))
        return [match for match in related if asked.is_topic or match.id in likely][:_MOST_BESIDE]

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


def _is_one_question(message: str) -> bool:
    return message.rstrip().endswith("?") and len(message.split()) <= _LONGEST_QUESTION


def _says_so(question: Question, fact: str) -> bool:
    """Whether the first clause of a fact says yes or no as a question wants it: "what don't I like?"."""
    return is_negative(re.split(r" (?:and|but) ", fact)[0]) == question.is_negative


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
