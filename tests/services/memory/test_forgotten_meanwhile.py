"""Words that are forgotten while a background model reads them are not written again."""

import pytest

from sestet.core.label import CLEAN, Origin
from sestet.core.model import ModelReply, Usage
from sestet.models.scripted import ScriptedModel
from sestet.services.extraction import Extraction
from sestet.services.forgetting import Forgetting
from sestet.services.memory.observer import Observer, Thresholds
from sestet.services.memory.writers import ModelWriter
from sestet.storage.database import Database
from sestet.storage.extractions import ExtractionStore
from sestet.storage.graph import GraphStore, Predicates
from sestet.storage.journal import Journal
from sestet.storage.locks import SessionLocks
from sestet.storage.memories import MemoryStore
from sestet.storage.observation_progress import ObservationProgress
from sestet.storage.observations import ObservationStore
from sestet.storage.vectors import VectorStore
from tests.services.memory.conversation import say

SECRET = "zanzibar7731"
FACT = f"my wifi code is {SECRET}"
TEN_TOKENS = Thresholds(observe_tokens=10, reflect_tokens=10**6)


async def observe(database: Database, locks: SessionLocks, model: ScriptedModel) -> list[str]:
    watcher = Observer(database, locks, ModelWriter(model), TEN_TOKENS)
    while await watcher.step():
        pass
    return [row.text for row in ObservationStore(database).observations(9)]


@pytest.mark.parametrize("everywhere", [False, True])
async def test_an_observer_drops_what_it_made_of_words_that_were_forgotten_meanwhile(
    database: Database, locks: SessionLocks, everywhere: bool
) -> None:
    turn_id = say(database, f"Remember that {FACT}, please, and thank you")
    say(database, "I like green tea more than black tea, really")
    MemoryStore(database).add(FACT, Origin("s1", turn_id, CLEAN))

    def forget(_: object) -> ModelReply:
        Forgetting(database).forget("m1", everywhere=everywhere)
        return ModelReply(f"- Their code is {SECRET}", usage=Usage(10, 3))

    model = ScriptedModel({"observe": [forget, "- They like tea"]})

    assert await observe(database, locks, model) == ["They like tea"]
    assert SECRET not in str(model.requests[-1])
    # The dropped call is paid for too.
    assert ObservationProgress(database, Journal(database)).work_sum().usage.input_tokens >= 10


async def test_an_observer_drops_what_it_read_in_other_turns_with_the_same_words(
    database: Database, locks: SessionLocks
) -> None:
    said = say(database, f"Remember that {FACT}", session_id="s0")
    MemoryStore(database).add(FACT, Origin("s0", said, CLEAN))
    say(database, f"By the way, {FACT}, as you know", "I know that.")

    def forget(_: object) -> str:
        Forgetting(database).forget("m1", everywhere=True)
        return f"- Their code is {SECRET}"

    model = ScriptedModel({"observe": [forget]})

    assert await observe(database, locks, model) == []
    assert len(model.requests) == 1


async def test_a_turn_that_repeated_a_forgotten_fact_is_not_observed_later(
    database: Database, locks: SessionLocks
) -> None:
    MemoryStore(database).add(FACT, Origin("", "", CLEAN))
    say(database, "What is my wifi code, if you know?", f"You told me: {FACT} (m1)")
    Forgetting(database).forget("m1")
    say(database, "I like green tea more than black tea, really")

    model = ScriptedModel({"observe": ["- They like tea"]})

    assert await observe(database, locks, model) == ["They like tea"]
    assert SECRET not in str(model.requests)


async def test_no_fact_is_extracted_from_a_text_that_was_forgotten_meanwhile(database: Database) -> None:
    MemoryStore(database).add(FACT, Origin("s1", "t", CLEAN))

    def forget(_: object) -> str:
        Forgetting(database).forget("m1")
        return f'[["wifi", "related_to", "{SECRET}"]]'

    store = ExtractionStore(database, GraphStore(database))
    extraction = Extraction(store, Predicates(), "on", ScriptedModel({"librarian": [forget]}))

    await extraction.read_all()

    assert GraphStore(database).latest(9) == []
    assert store.open_proposals() == []


def test_no_vector_of_a_passage_that_was_forgotten_meanwhile_is_stored(database: Database) -> None:
    MemoryStore(database).add(FACT, Origin("s1", "t", CLEAN))
    store = VectorStore(database)
    (waiting,) = store.missing(["space"], 0, 9)

    Forgetting(database).forget("m1")
    MemoryStore(database).add("I like tea", Origin("s1", "t", CLEAN))
    store.add("space", [(waiting.passage_id, b"1234")])

    assert database.execute("SELECT * FROM vectors") == []
