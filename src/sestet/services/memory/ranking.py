"""Scores how well a fact answers a question, by its words, its slots and its nearness in meaning."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sestet.services.memory.phrases import ME
from sestet.services.memory.questions import Question, is_negative, stems_of
from sestet.services.memory.slots import read_slots
from sestet.services.memory.values import kinds_of
from sestet.storage.fact_slots import FactSlot
from sestet.storage.memories import MemoryRow

#: The weights, found on the month of `sestet eval memory`: a fact with all words of the question has 4.
_WORDS = 4.0
_RELATION = 3.0
_KIND = 1.0
#: A fact that shares no word with the question has to be nearer in meaning by this.
_BY_MEANING = 0.6
#: "What can't she eat?" wants a fact that says no.
_POLARITY = 1.0
_LACKS = 6.0
_ANOTHER = 8.0
#: Beside a name, texts are near in meaning that share nothing else.
_NAME_ALONE = 6.5
#: It lacks the thing that is asked for: the film, the instrument.
_LACKS_HEAD = 3.0
#: The encoder knows little German, and finds all of it alike.
_IN_GERMAN = 0.5
#: Nearness beyond this says no more: names alone can bring texts so near.
_NEAREST = 4.5
#: A fact answers from this score on.
LEAST = 3.5
#: The same without nearness in meaning.
LEAST_BY_WORDS = 2.0
#: A fact that is worse than the best one by more than this is left out.
_BEHIND = 1.0


class Scored(NamedTuple):
    row: MemoryRow
    score: float


class Ranking:
    """Scores facts for one question. ``names``: of the people and things in it, such as "my sister"."""

    def __init__(self, question: Question, names: Mapping[str, frozenset[str]]) -> None:
        self._question = question
        self._names = names
        of_roles = (called for word, called in names.items() if word in question.roles)
        self._owners = question.owners.union(*of_roles)

    def score(self, row: MemoryRow, slots: Sequence[FactSlot], nearness: float) -> float:
        """``nearness``: of the meaning, in standard deviations of unrelated texts; 0: unknown."""
        asked = self._question
        held = stems_of(row.text) | {word for slot in slots for word in slot.relation.split()}
        coverage = asked.coverage(held, self._names)
        nearness = min(nearness, _NEAREST)
        nearness *= _IN_GERMAN if asked.is_german else 1.0
        score = nearness + _WORDS * coverage * coverage
        has_relation = asked.asks_relation and self.tells(slots)
        if has_relation:
            score += _RELATION
        if coverage == 0 and not has_relation:
            score -= _BY_MEANING
        elif asked.wanted & kinds_of(row.text):
            score += _KIND
        says_no = asked.is_negative and is_negative(row.text)
        if asked.is_negative:
            score += _POLARITY if says_no else -_POLARITY
        if not has_relation and asked.lacks_head(held):
            score -= _LACKS_HEAD
        if asked.wants_value(row.text) or asked.lacks_number(held):
            score -= _LACKS
        if self._is_of_another(slots, held) or asked.is_of_another_thing(
            row.text, held, read_slots(row.text)
        ):
            score -= _ANOTHER
        elif asked.owners and not has_relation and not self._is_about(held) and not says_no:
            score -= _NAME_ALONE
        return score

    def may_answer(self, row: MemoryRow, slots: Sequence[FactSlot]) -> bool:
        """False if a fact is about somebody else, or lacks the thing that is asked for."""
        held = stems_of(row.text)
        asked = self._question
        return not (
            asked.lacks_head(held)
            or self._is_of_another(slots, held)
            or asked.is_of_another_thing(row.text, held, read_slots(row.text))
        )

    def _is_about(self, held: frozenset[str]) -> bool:
        """Whether a fact has something of what is asked, beside the name of the right somebody."""
        asked = self._question
        if asked.subject:
            return asked.shares_subject(held)
        return not asked.asks_relation or asked.says_relation(held)

    def tells(self, slots: Sequence[FactSlot]) -> bool:
        """Whether it has the relation that the question asks for, of the right somebody."""
        subjects = self._owners or frozenset({ME})
        return any(slot.relation in self._question.relations and slot.subject in subjects for slot in slots)

    def _is_of_another(self, slots: Sequence[FactSlot], held: frozenset[str]) -> bool:
        """Whether a fact is about somebody whom the question does not mean."""
        if self._owners:
            return not self._question.names_any(self._owners, held)
        asked = self._question
        called = frozenset[str]().union(*self._names.values())
        subjects = {slot.subject for slot in slots}
        is_of_another = bool(subjects) and ME not in subjects and not subjects & (asked.content | called)
        return asked.is_mine and is_of_another and not asked.is_about_who


def only_best(scored: Sequence[Scored], limit: int, least: float = LEAST) -> list[MemoryRow]:
    """The facts that answer, the best first; of those that are as good, the newest first."""
    best = max((each.score for each in scored), default=0.0)
    least = max(least, best - _BEHIND)
    kept = [each for each in scored if each.score >= least]
    kept.sort(key=lambda each: (-round(each.score), -each.row.id))
    return [each.row for each in kept[:limit]]
