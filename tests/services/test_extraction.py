"""Extraction: each text is read once, no fact is lost or doubled, and facts go with their source."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sestet
from sestet.core.errors import ModelError
from sestet.core.event import TurnFinished
from sestet.core.label import CLEAN, Label, Origin
from sestet.core.model import ModelReply
from sestet.models.scripted import ScriptedModel
from sestet.services.extraction import Extraction, Mode
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.extractions import ExtractionStore, Fact, ProposalRow
from sestet.storage.graph import GraphStore, Predicates
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.memories import MemoryStore
from tests.services.extracting import SilentModel

ORIGIN = Origin("s", "t", CLEAN)
STRANGE = Label(untrusted=True, sources=("a page",))
DECLARED = Predicates(["works_at"])
ADA = ("Ada", "works_at", "Acme")


@pytest.fixture
def graph(database: Database) -> GraphStore:
    return GraphStore(database)


@pytest.fixture
def store(database: Database, graph: GraphStore) -> ExtractionStore:
    return ExtractionStore(database, graph)


def facts(rows: list[ProposalRow]) -> list[tuple[str, str, str]]:
    return [(row.subject, row.predicate, row.object) for row in rows]


def edges(graph: GraphStore) -> list[tuple[str, str, str]]:
    return sorted((row.subject, row.predicate, row.object) for row in graph.latest(100))


async def read(store: ExtractionStore, mode: Mode = "review") -> None:
    await Extraction(store, DECLARED, mode).read_all()


async def test_what_is_saved_waits_and_is_proposed_with_its_source_and_its_label(
    database: Database, graph: GraphStore, store: ExtractionStore
) -> None:
    MemoryStore(database).add("Ada works at Acme.", Origin("s1", "t1", STRANGE))
    KnowledgeStore(database).save("k", "The outage was caused by a full disk.", "note", ORIGIN)
    assert store.waiting() == (2, 0)

    await read(store)

    assert store.waiting() == (0, 2)
    first, second = store.open_proposals()
    assert (first.session_id, first.turn_id, first.label, first.source) == (
        "s1",
        "t1",
        STRANGE,
        ("memories", 1),
    )
    assert (second.label, second.source, second.proposed_by) == (CLEAN, ("knowledge", 1), "rules")
    assert facts([first, second]) == [ADA, ("outage", "caused_by", "full disk")]
    assert graph.size() == (0, 0)


async def test_an_accepted_fact_keeps_the_label_of_its_text(
    database: Database, graph: GraphStore, store: ExtractionStore
) -> None:
    MemoryStore(database).add("Ada works at Acme.", Origin("s1", "t1", STRANGE))
    await read(store)

    row = store.accept(store.open_proposals()[0])

    assert (row.label, row.source, row.turn_id) == (STRANGE, ("memories", 1), "t1")
    assert edges(graph) == [ADA]
    assert store.open_proposals() == []


async def test_with_on_declared_facts_go_straight_into_the_graph_and_others_wait(
    database: Database, graph: GraphStore, store: ExtractionStore
) -> None:
    MemoryStore(database).add("Ada works at Acme. Ben is the mayor of Ulm.", ORIGIN)

    await read(store, "on")

    assert edges(graph) == [ADA]
    assert facts(store.open_proposals()) == [("Ben", "mayor_of", "Ulm")]


async def test_with_off_nothing_is_read_and_nothing_is_lost(
    database: Database, graph: GraphStore, store: ExtractionStore
) -> None:
    MemoryStore(database).add("Ada works at Acme.", ORIGIN)

    await read(store, "off")
    assert store.waiting() == (1, 0)
    await read(store, "on")

    assert edges(graph) == [ADA]


async def test_what_was_rejected_or_is_known_is_not_asked_about_again(
    database: Database, graph: GraphStore, store: ExtractionStore
) -> None:
    memories = MemoryStore(database)
    memories.add("Ada works at Acme.", ORIGIN)
    memories.add("ADA works at ACME.", ORIGIN)
    await read(store)
    store.reject(store.open_proposals()[0])
    assert store.open_proposals() == []

    memories.add("Ada works at Acme", ORIGIN)
    graph.add("Ben", "works_at", "Acme", ORIGIN)
    memories.add("Ben works at Acme", ORIGIN)
    await read(store)
    await read(store, "on")

    assert store.open_proposals() == []
    assert edges(graph) == [("Ben", "works_at", "Acme")]


async def test_a_fact_that_was_removed_does_not_come_back_with_the_next_text(
    database: Database, graph: GraphStore, store: ExtractionStore
) -> None:
    MemoryStore(database).add("Ada works at Acme.", ORIGIN)
    await read(store, "on")
    graph.remove(*ADA)

    MemoryStore(database).add("Ada works at Acme!", ORIGIN)
    await read(store, "on")

    assert edges(graph) == []


async def test_a_text_that_is_forgotten_takes_its_facts_along(
    database: Database, graph: GraphStore, store: ExtractionStore
) -> None:
    memory = MemoryStore(database).add("Ada works at Acme. Ben is the mayor of Ulm.", ORIGIN)
    await read(store, "on")

    database.execute("DELETE FROM memories WHERE id = ?", (memory.id,))

    assert graph.size() == (0, 0)
    assert database.execute("SELECT count(*) FROM proposals").only() == (0,)
    assert store.waiting() == (0, 0)


async def test_a_fact_that_another_text_states_or_somebody_told_stays(
    database: Database, graph: GraphStore, store: ExtractionStore
) -> None:
    memories = MemoryStore(database)
    memories.add("Ada works at Acme.", ORIGIN)
    memories.add("Ada works at Acme!", Origin("s2", "t2", STRANGE))
    memories.add("Cleo works at Acme!", ORIGIN)
    await read(store, "on")
    graph.add("Cleo", "works_at", "Acme", Origin("s3", "t3", CLEAN))

    database.execute("DELETE FROM memories WHERE id IN (1, 3)")

    by_subject = {row.subject: row for row in graph.latest(5)}
    assert (by_subject["Ada"].source, by_subject["Ada"].label) == (("memories", 2), STRANGE)
    assert (by_subject["Cleo"].source, by_subject["Cleo"].turn_id) == (("", 0), "t3")
    database.execute("DELETE FROM memories WHERE id = 2")
    assert edges(graph) == [("Cleo", "works_at", "Acme")]


async def test_a_text_that_changes_is_read_anew_and_one_that_does_not_keeps_its_facts(
    database: Database, graph: GraphStore, store: ExtractionStore
) -> None:
    knowledge = KnowledgeStore(database)
    knowledge.save("k", "Ada works at Acme.", "note", ORIGIN)
    await read(store)
    store.accept(store.open_proposals()[0])

    knowledge.save("k", "Ada works at Acme.", "fact", ORIGIN)
    assert edges(graph) == [ADA]
    await read(store)
    assert (edges(graph), store.open_proposals()) == ([ADA], [])

    knowledge.save("k", "Ben works at Acme.", "fact", ORIGIN)
    assert edges(graph) == []
    await read(store)
    assert facts(store.open_proposals()) == [("Ben", "works_at", "Acme")]


async def test_a_lesson_links_its_trigger_with_its_fix_and_goes_with_it(
    database: Database, graph: GraphStore, store: ExtractionStore
) -> None:
    database.execute(
        """INSERT INTO learnings VALUES (NULL, 'the build hangs', 'clear the cache', 'it is full',
               's', 't', 1.0, 0, 0, '[]')"""
    )
    await read(store, "on")
    assert edges(graph) == [
        ("the build hangs", "caused_by", "it is full"),
        ("the build hangs", "resolved_by", "clear the cache"),
    ]

    database.execute("UPDATE learnings SET created_at = 2.0")
    assert graph.size().facts == 2
    database.execute("UPDATE learnings SET fix = 'wait'")
    assert graph.size() == (0, 0)


async def test_what_was_found_in_a_text_that_has_changed_meanwhile_is_dropped(
    database: Database, store: ExtractionStore
) -> None:
    knowledge = KnowledgeStore(database)
    knowledge.save("k", "Ada works at Acme.", "note", ORIGIN)
    pending = store.claim(60)
    assert pending is not None
    knowledge.save("k", "Nothing.", "note", ORIGIN)

    with store.transaction():
        store.finish(pending, [Fact(*ADA)], "model", ())

    assert store.waiting() == (1, 0)
    assert store.claim(60) is not None


async def test_a_model_is_told_the_predicates_and_only_facts_of_its_answer_count(
    database: Database, store: ExtractionStore
) -> None:
    MemoryStore(database).add("Ada is employed by Acme since spring.", Origin("s", "t", STRANGE))
    answer = """Here: [["Ada", "works at", "Acme"], ["Ada", "adores", "Acme"], ["Ada", "works_at"],
        ["", "works_at", "Acme"], ["Ada", "works_at", 7], "works_at", ["a", "works_at", "b", "c"]]"""
    model = ScriptedModel([ModelReply(answer)])

    assert await Extraction(store, DECLARED, "review", model).step()

    (request,) = model.requests
    assert "related_to, caused_by" in request.instruction
    assert "works_at" in request.instruction
    (row,) = store.open_proposals()
    assert (facts([row]), row.proposed_by, row.label) == ([ADA], "model", STRANGE)


@pytest.mark.parametrize("answer", ["", "No facts.", "[", "]", "{}", '["a"]', "[[[]]]", "null", "[1, 2"])
async def test_an_answer_without_facts_is_none(
    database: Database, store: ExtractionStore, answer: str
) -> None:
    MemoryStore(database).add("Ada works at Acme.", ORIGIN)

    assert await Extraction(store, DECLARED, "on", ScriptedModel([ModelReply(answer)])).step()

    assert store.waiting() == (0, 0)


async def test_a_model_that_fails_gives_the_text_back_and_after_three_times_rules_read_it(
    database: Database, store: ExtractionStore
) -> None:
    MemoryStore(database).add("Ada works at Acme.", ORIGIN)
    extraction = Extraction(store, DECLARED, "review", ScriptedModel([]))

    for _ in range(3):
        with pytest.raises(ModelError):
            await extraction.step()
        assert store.waiting() == (1, 0)
    assert await extraction.step()

    assert [row.proposed_by for row in store.open_proposals()] == ["rules"]


async def test_a_claim_from_before_the_clock_was_set_back_does_not_hold(
    database: Database, store: ExtractionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    MemoryStore(database).add("Ada works at Acme.", ORIGIN)
    assert store.claim(60) is not None
    assert store.claim(60) is None

    yesterday = time.time() - 86_400
    monkeypatch.setattr(time, "time", lambda: yesterday)

    assert store.claim(60) is not None


async def test_an_answer_that_is_nested_too_deeply_holds_no_facts(
    database: Database, store: ExtractionStore
) -> None:
    MemoryStore(database).add("Ada works at Acme.", ORIGIN)

    assert await Extraction(store, DECLARED, "on", ScriptedModel(["[" * 100_000 + "]"])).step()

    assert store.waiting() == (0, 0)


async def test_closing_in_the_middle_of_a_model_call_leaves_the_text_for_the_next(
    database: Database, store: ExtractionStore
) -> None:
    MemoryStore(database).add("Ada works at Acme.", ORIGIN)
    model = SilentModel()
    step = asyncio.ensure_future(Extraction(store, DECLARED, "on", model).step())
    await model.asked.wait()
    assert store.claim(60) is None

    step.cancel()
    await asyncio.wait([step])

    again = store.claim(60)
    assert again is not None
    assert again.attempts == 1


@pytest.mark.parametrize("reader", ["rules", "model"])
@pytest.mark.parametrize("moment", ["before_the_facts", "between_two_facts", "before_the_commit"])
async def test_a_process_that_is_killed_in_the_middle_loses_and_doubles_nothing(
    tmp_path: Path, database: Database, graph: GraphStore, store: ExtractionStore, reader: str, moment: str
) -> None:
    MemoryStore(database).add("Ada works at Acme. Ben works at Acme.", ORIGIN)

    killed = await run_reader(tmp_path, reader, moment)

    assert killed == -9
    assert store.waiting() == (1, 0)
    assert graph.size() == (0, 0)
    # The claim of the dead process expires.
    database.execute("UPDATE extractions SET claimed_until = claimed_until - 1000 WHERE claimed_until > 0")
    await read(store, "on")
    assert edges(graph) == [ADA, ("Ben", "works_at", "Acme")]
    assert database.execute("SELECT count(*) FROM proposals").only() == (2,)


@pytest.mark.parametrize("reader", ["rules", "model"])
async def test_two_processes_at_once_read_each_text_once(
    tmp_path: Path, database: Database, graph: GraphStore, store: ExtractionStore, reader: str
) -> None:
    for number in range(60):
        MemoryStore(database).add(f"Person {number} works at Acme.", ORIGIN)

    codes = await asyncio.gather(*(run_reader(tmp_path, reader, "never") for _ in range(2)))

    assert codes == [0, 0]
    assert store.waiting() == (0, 0)
    assert len(edges(graph)) == 60
    read_texts = (tmp_path / "read").read_text(encoding="utf-8").splitlines()
    assert sorted(read_texts) == sorted(set(read_texts))
    assert len(read_texts) == 60


async def run_reader(home: Path, reader: str, moment: str) -> int:
    command = [sys.executable, "-m", "tests.services.extracting", str(home), reader, moment]
    root = Path(__file__).parents[2]
    done = await asyncio.to_thread(subprocess.run, command, cwd=root, check=False, timeout=60)
    return done.returncode


async def let_others_work() -> None:
    for _ in range(100):
        await asyncio.sleep(0)


async def test_a_turn_is_followed_by_the_reading_of_what_it_saved(tmp_path: Path) -> None:
    settings = {"graph": {"extraction": "on", "predicates": ["works_at"]}}
    async with sestet.open(settings, home=tmp_path) as app:
        *_, last = [event async for event in app.run_turn("s", "remember that Ada works at Acme")]
        assert isinstance(last, TurnFinished)
        assert app.graph is not None
        await let_others_work()
        (row,) = app.graph.query("Ada")

    assert (row.session_id, row.source.collection, row.label) == ("s", "memories", CLEAN)


async def test_what_one_process_left_is_read_by_the_next(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE_NAME)
    MemoryStore(database).add("Ada works at Acme.", ORIGIN)
    database.close()

    async with sestet.open({"graph": {"extraction": "review"}}, home=tmp_path) as app:
        assert app.background.extraction is not None
        await let_others_work()
        assert app.background.extraction.store.waiting() == (0, 1)


async def test_without_a_graph_nothing_is_read(tmp_path: Path) -> None:
    async with sestet.open({"graph": {"enabled": False}}, home=tmp_path) as app:
        assert (app.graph, app.background.extraction) == (None, None)
        async for _ in app.run_turn("s", "remember that Ada works at Acme"):
            pass
