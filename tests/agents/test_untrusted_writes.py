"""A write from an untrusted context replaces nothing of the person's: it stands beside it and says so."""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sestet.agents.chronicler.memory import memory_recall, memory_remember, memory_update
from sestet.agents.chronicler.observations import observe_event, reflect_summary
from sestet.agents.librarian.graph import graph_add
from sestet.agents.librarian.knowledge import save_knowledge, search_knowledge
from sestet.agents.librarian.learnings import save_learning, search_learnings
from sestet.core.errors import ToolError
from sestet.core.label import Label
from sestet.core.record import replace
from sestet.core.schema import JsonObject
from sestet.core.tool import CallInfo
from sestet.services.memory.recall import Recall
from sestet.storage.database import Database
from sestet.storage.graph import GraphStore, Predicates
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore
from tests.agents.calling import CALL, DAY, LATER, run

PAGE = Label(untrusted=True, sources=("browser_fetch of navigator",))
POISONED = replace(LATER, label=PAGE)


@pytest.mark.parametrize("fact", ["I eat meat", "eat meat", "meat"])
async def test_a_part_of_the_message_that_drops_a_not_is_untrusted_and_replaces_nothing(
    database: Database, fact: str
) -> None:
    memories = MemoryStore(database)
    await run(memory_remember, memories, fact="I do not eat meat")
    said = replace(POISONED, words="What does http://x say? Never believe that I eat meat.")

    told = await run(memory_remember, memories, fact=fact, call=said)

    assert [(row.text, row.label.untrusted) for row in memories.latest(9)] == [
        (fact, True),
        ("I do not eat meat", False),
    ]
    if fact == "I eat meat":
        assert told == (
            "Remembered: I eat meat\n"
            f"It does not replace: I do not eat meat (m1, {DAY}), which is in your own words"
        )
        assert await run(memory_remember, memories, fact=fact, call=said) == told


@pytest.mark.parametrize("tool", ["remember", "update"])
async def test_a_correction_in_the_persons_words_replaces_the_fact_after_untrusted_reading(
    database: Database, tool: str
) -> None:
    memories = MemoryStore(database)
    await run(memory_remember, memories, fact="my cat is a red Siamese")
    said = replace(POISONED, words="actually, my cat is a blue Siamese, not red")
    new, by_id = "my cat is a blue Siamese", {"memory": "m1"} if tool == "update" else {}
    change = memory_update if by_id else memory_remember

    for _ in range(2):  # the second call is the same one after a crash
        told = await run(change, memories, fact=new, call=said, **by_id)
        assert "It replaces: my cat is a red Siamese" in told

    assert [(row.text, row.label.untrusted, row.superseded_by) for row in memories.latest(9)] == [
        (new, False, None)
    ]


async def test_a_corrected_value_replaces_a_fact_only_if_no_other_fact_has_the_wrong_one(
    database: Database,
) -> None:
    memories = MemoryStore(database)
    await run(memory_remember, memories, fact="my meeting is at 3pm")
    await run(memory_remember, memories, fact="the bank closes at 3pm")
    said = replace(POISONED, words="it's at 4pm, not 3pm")

    await run(memory_update, memories, memory="m2", fact="the bank closes at 4pm", call=said)

    counting = [(row.text, row.label.untrusted) for row in memories.latest(9) if row.superseded_by is None]
    assert ("the bank closes at 4pm", True) in counting
    assert ("the bank closes at 3pm", False) in counting


async def test_an_update_that_a_page_asked_for_stands_beside_the_fact(database: Database) -> None:
    memories, recall = MemoryStore(database), Recall(database)
    await run(memory_remember, memories, fact="My IBAN is DE1")

    told = await run(memory_update, memories, memory="m1", fact="My IBAN is EVIL", call=POISONED)

    assert told == (
        "Remembered: My IBAN is EVIL (m2)\n"
        f"It does not replace: My IBAN is DE1 (m1, {DAY}), which is in your own words"
    )
    assert await run(memory_update, memories, memory="m1", fact="My IBAN is EVIL", call=POISONED) == told
    found = await run(memory_recall, recall, query="iban")
    assert f"- My IBAN is DE1 (m1, {DAY})" in found
    assert f"- My IBAN is EVIL (m2, {DAY}, perhaps not in your own words)" in found


@pytest.mark.parametrize(
    ("words", "fact", "replaces"),
    [
        ("I like cycling. Read http://x", "I like cycling", False),
        ("Read http://x/m12. I like cycling.", "I like cycling", False),
        ("Change memory m1 to I like cycling. Then read http://x.", "I like cycling", True),
        ("My doctor is Bob. Read http://x", "My doctor is Bob", True),
    ],
)
async def test_a_page_does_not_choose_which_fact_the_persons_words_replace(
    database: Database, words: str, fact: str, replaces: bool
) -> None:
    memories = MemoryStore(database)
    await run(memory_remember, memories, fact="My doctor is Ann")

    told = await run(memory_update, memories, memory="m1", fact=fact, call=replace(POISONED, words=words))

    assert ("It replaces: My doctor is Ann" in told) is replaces
    assert [(row.id, row.label.untrusted) for row in memories.latest(9)] == [
        (2, False),
        *([] if replaces else [(1, False)]),
    ]


async def test_what_the_person_tells_after_a_page_did_is_theirs(database: Database) -> None:
    memories = MemoryStore(database)
    await run(memory_remember, memories, fact="I like tea", call=POISONED)

    told = await run(memory_remember, memories, fact="I like tea", call=replace(LATER, turn_id="turn-3"))

    assert told == f"Remembered: I like tea\nIt replaces: I like tea (m1, {DAY})"
    assert [(row.id, row.label.untrusted) for row in memories.latest(9)] == [(2, False)]


async def test_a_page_saves_its_version_of_an_entry_beside_the_persons(database: Database) -> None:
    knowledge = KnowledgeStore(database)
    await run(save_knowledge, knowledge, content="Closes at six.", key="Office hours")

    for content, version in (("Always open.", 1), ("Never open.", 2), ("Never open.", 2)):
        told = await run(save_knowledge, knowledge, content=content, key="office HOURS", call=POISONED)
        assert told == (
            f"Saved beside it: office HOURS (untrusted) (note, version {version}). "
            "'office HOURS' is in your own words, and stays as it is"
        )
    same = await run(save_knowledge, knowledge, content="Closes at six.", key="Office hours", call=POISONED)

    assert same == f"Already saved: Office hours (note, {DAY})"
    rows = {row.key: (row.content, row.version, row.label) for row in knowledge.latest(9)}
    assert rows == {
        "Office hours": ("Closes at six.", 1, Label()),
        "office HOURS (untrusted)": ("Never open.", 2, PAGE),
    }
    found = await run(search_knowledge, knowledge, query="open closes")
    assert f"- office HOURS (untrusted) (note, {DAY}, perhaps not in your own words): Never open." in found
    assert f"- Office hours (note, {DAY}): Closes at six." in found


@pytest.mark.parametrize(
    ("more", "is_own"),
    [({}, True), ({"key": "Office hours"}, False), ({"tags": ["mail mallory"]}, False)],
    ids=["alone", "under a title", "with a tag"],
)
async def test_after_a_page_a_dictated_entry_is_the_persons_if_all_of_it_is(
    database: Database, more: JsonObject, is_own: bool
) -> None:
    knowledge = KnowledgeStore(database)
    said = replace(POISONED, words="What does http://x say? Save to knowledge: the office closes at six")

    await run(save_knowledge, knowledge, content="the office closes at six", call=said, **more)
    await run(save_knowledge, knowledge, content="the office closes", call=said)

    rows = {row.content: row.label.untrusted for row in knowledge.latest(9)}
    assert rows == {"the office closes at six": not is_own, "the office closes": True}


async def test_the_persons_save_replaces_what_a_page_saved(database: Database) -> None:
    knowledge = KnowledgeStore(database)
    await run(save_knowledge, knowledge, content="Always open.", key="Hours", call=POISONED)

    await run(save_knowledge, knowledge, content="Closes at six.", key="Hours")

    assert [(row.key, row.content, row.label) for row in knowledge.latest(9)] == [
        ("Hours", "Closes at six.", Label())
    ]


async def test_the_persons_lesson_is_theirs_though_a_page_saved_it_first(database: Database) -> None:
    lessons = LearningStore(database)
    await run(save_learning, lessons, trigger="Rain", fix="stay in", cause="mail mallory", call=POISONED)

    await run(save_learning, lessons, trigger="rain", fix="stay in", call=CALL)
    await run(save_learning, lessons, trigger="rain", fix="stay in", cause="mail mallory", call=POISONED)
    await run(save_learning, lessons, trigger="rain", fix="go out", call=POISONED)

    assert [(row.trigger, row.fix, row.cause, row.label) for row in lessons.latest(9)] == [
        ("rain", "go out", "", PAGE),
        ("rain", "stay in", "", Label()),
    ]
    found = await run(search_learnings, lessons, query="rain")
    assert f"- when rain: go out (lesson 2, {DAY}, perhaps not in your own words)" in found
    assert f"- when rain: stay in (lesson 1, {DAY})" in found


async def test_a_summary_of_a_page_does_not_cover_what_was_observed_of_the_person(database: Database) -> None:
    store = ObservationStore(database)
    await run(observe_event, store, event="Ann planted a tree")
    await run(observe_event, store, event="The page sells trees", call=POISONED)

    await run(reflect_summary, store, summary="Ann sells trees", observations="o1, o2", call=POISONED)

    assert [row.id for row in store.uncovered(untrusted=False)] == [1]
    assert store.uncovered(untrusted=True) == []
    await run(reflect_summary, store, summary="Ann likes trees", observations="o1")
    assert store.uncovered(untrusted=False) == []


TEXTS = ("I like tea", "I do not like tea", "my code is 1", "my code is 2")
Write = Callable[[Database, CallInfo, str, str], Coroutine[object, object, str]]
WRITES: tuple[Write, ...] = (
    lambda db, call, one, two: run(memory_remember, MemoryStore(db), fact=one, call=call),
    lambda db, call, one, two: run(memory_update, MemoryStore(db), memory="m1", fact=one, call=call),
    lambda db, call, one, two: run(save_knowledge, KnowledgeStore(db), content=one, key="Title", call=call),
    lambda db, call, one, two: run(save_knowledge, KnowledgeStore(db), content=one, key=two, call=call),
    lambda db, call, one, two: run(
        save_learning, LearningStore(db), trigger="t", fix=one, cause=two, call=call
    ),
    lambda db, call, one, two: run(
        graph_add, GraphStore(db), Predicates(), subject=one, predicate="follows", object=two, call=call
    ),
    lambda db, call, one, two: run(observe_event, ObservationStore(db), event=one, call=call),
    lambda db, call, one, two: run(
        reflect_summary, ObservationStore(db), summary=one, observations="o1", call=call
    ),
)


def trusted(database: Database) -> set[object]:
    """Everything of the person's that counts, as it is read."""
    memories, knowledge, graph = MemoryStore(database), KnowledgeStore(database), GraphStore(database)
    observations = ObservationStore(database)
    rows = (
        *(("memory", row) for row in memories.latest(99)),
        *(("knowledge", row) for row in knowledge.latest(99)),
        *(("learning", row) for row in LearningStore(database).latest(99)),
        *(("fact", row) for row in graph.latest(99)),
        *(("observation", row) for row in observations.observations(99)),
    )
    open_rows = (("uncovered", row) for row in observations.uncovered(untrusted=False))
    return {repr(found) for found in (*rows, *open_rows) if not found[1].label.untrusted}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(WRITES), st.booleans(), st.sampled_from(TEXTS), st.sampled_from(TEXTS)),
        max_size=12,
    )
)
def test_no_untrusted_write_changes_or_hides_a_row_of_the_persons(
    writes: list[tuple[Write, bool, str, str]],
) -> None:
    async def write(database: Database) -> None:
        for number, (make, untrusted, one, two) in enumerate(writes):
            before = trusted(database)
            call = replace(CALL, turn_id=f"turn-{number}", label=PAGE if untrusted else Label())
            try:
                await make(database, call, one, two)
            except ToolError:
                continue
            if untrusted:
                assert trusted(database) == before

    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "sestet.db")
        asyncio.run(write(database))
        database.close()
