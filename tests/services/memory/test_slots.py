"""Slots of facts: what replaces what, and which facts answer questions about the past, a day, a yes or no."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Label, Origin
from sestet.services.memory.fact_replacement import find_replaced
from sestet.services.memory.recall import Recall
from sestet.services.memory.remembering import compared_with, given_slot, replaced_by, store_slots
from sestet.services.memory.slots import read_slots
from sestet.services.memory.telling_times import read_span
from sestet.storage.database import Database
from sestet.storage.memories import MemoryStore

_UNTRUSTED = Label(untrusted=True, private=False, sources=("a page",))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "sestet.db")
    yield database
    database.close()


def tell(database: Database, *facts: str, at: datetime | None = None) -> None:
    memories = MemoryStore(database, (lambda: at.timestamp()) if at else (lambda: 0.0))
    for fact in facts:
        known = compared_with(memories, fact, None)
        replaced = replaced_by(memories, fact, CLEAN, known, None)
        store_slots(memories, memories.add(fact, Origin("s", "t", CLEAN), "chronicler", replaced), None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The rent is 1,150 euros a month", "The rent went up to 1,210 euros"),
        ("My bank is ING", "I switched from ING to Triodos"),
        ("The code of my bike lock is 7731", "The bike lock has a new code: 2806"),
        ("My gym is Basic-Fit", "I no longer go to Basic-Fit; I train at SportCity now"),
        ("My boss is called Petra", "I have a new boss, her name is Marloes"),
        ("The sofa will be delivered on 5 March", "The sofa comes on 11 March instead"),
        ("Noor works for the railway", "Noor doesn't work for the railway any more, she's at the port"),
        ("I own a motorbike, a Yamaha MT-07", "I sold the Yamaha and got a Triumph"),
        ("Brigitte wohnt in Münster", "Brigitte ist nach Osnabrück gezogen"),
        ("Brigittes Hund heißt Waldi", "Nein, Brigittes Hund heißt nicht Waldi, sondern Wotan"),
    ],
)
def test_a_change_replaces_the_fact_that_it_means(old: str, new: str) -> None:
    assert find_replaced(new, CLEAN, [(1, old, CLEAN)]) == [1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My gym is Basic-Fit", "The gym is 24.99 a month"),
        ("I live in Oslo", "My brother moved to Bergen"),
        ("Jonas is a carpenter", "Jonas is a huge fan of Radiohead"),
        ("The hospital parking costs 6 euros a day", "I left the hospital"),
        ("My bike is a Gazelle", "Jonas's bike is a Batavus now"),
    ],
)
def test_a_fact_about_something_else_stays(old: str, new: str) -> None:
    assert find_replaced(new, CLEAN, [(1, old, CLEAN)]) == []


def test_untrusted_words_replace_nothing_of_the_person() -> None:
    assert find_replaced("I moved to Bergen", _UNTRUSTED, [(1, "I live in Oslo", CLEAN)]) == []


def test_news_that_can_mean_two_facts_replace_none() -> None:
    known = [(1, "Choir practice is on Mondays", CLEAN), (2, "Band practice is on Fridays", CLEAN)]
    assert find_replaced("Practice is on Tuesdays now", CLEAN, known) == []


def test_slots_name_whose_what_and_value() -> None:
    (slot,) = read_slots("My mother's birthday is on 3 May")
    assert (slot.subject, slot.value, slot.kinds) == ("mother", "3 May", {"date"})


async def test_the_past_a_day_and_a_yes_or_no_are_answered(database: Database) -> None:
    tell(database, "I live in Oslo", at=datetime(2026, 3, 2, 9, tzinfo=UTC))
    tell(database, "I moved to Bergen", at=datetime(2026, 3, 9, 9, tzinfo=UTC))
    recall = Recall(database, clock=lambda: datetime(2026, 3, 11, 9, tzinfo=UTC))

    past, now = await recall.answer("where did I live before?", 5), await recall.answer("where do I live?", 5)
    told, live = (
        await recall.answer("what did I tell you last Monday?", 5),
        await recall.answer("do I live in Oslo?", 5),
    )

    assert ([row.text for row in past.rows], past.kind) == (["I live in Oslo"], "history")
    assert [row.text for row in now.rows] == ["I moved to Bergen"]
    assert ([row.text for row in told.rows], told.kind) == (["I moved to Bergen"], "time")
    assert ([row.text for row in live.rows], live.kind) == (["I moved to Bergen"], "no")


async def test_a_fact_is_also_about_what_the_replaced_one_was_about(database: Database) -> None:
    tell(database, "My bank is ING", "I switched from ING to Triodos")

    found = await Recall(database).facts("which bank am I with?", 5)

    assert [row.text for row in found] == ["I switched from ING to Triodos"]


def test_a_text_that_changes_is_read_again(database: Database) -> None:
    tell(database, "I live in Oslo")
    memories = MemoryStore(database)
    memories.rewrite(1, "I live in Bergen", CLEAN, "you")

    assert memories.slots.of(1) == []
    compared_with(memories, "anything", None)
    assert [slot.value for slot in memories.slots.of(1)] == ["Bergen"]


@pytest.mark.parametrize(
    ("slot", "problem"),
    [(("me", "", "Oslo"), "relation is empty"), (("me", "home", "Rome"), "is not in the fact")],
)
def test_a_slot_that_a_model_makes_up_is_refused(slot: tuple[str, str, str], problem: str) -> None:
    with pytest.raises(ToolError, match=problem):
        given_slot("I live in Oslo", *slot)


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("what did I tell you yesterday?", "2026-03-10"),
        ("what did I tell you on Tuesday?", "2026-03-10"),
        ("what did I say last Wednesday?", "2026-03-04"),
        ("what happened on 4 March?", "2026-03-04"),
        ("what did I tell you in February?", "2026-02-01 to 2026-02-28"),
        ("was habe ich dir gestern erzählt?", "2026-03-10"),
    ],
)
def test_the_days_of_a_question_are_read(question: str, days: str) -> None:
    span = read_span(question, date(2026, 3, 11))
    assert span is not None
    assert span.named == days


def test_a_question_about_a_weekday_itself_names_no_time_of_telling() -> None:
    assert read_span("what do I do on Tuesday?", date(2026, 3, 11)) is None
