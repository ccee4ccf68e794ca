"""Forgetting: what is removed with a memory, what stays, and that no file keeps its words."""

from pathlib import Path

import pytest

from sestet.core.errors import PersonError
from sestet.core.event import (
    AgentNudged,
    Effects,
    MemoryRecalled,
    Stamp,
    ToolCalled,
    ToolFinished,
    TurnFinished,
    TurnStarted,
)
from sestet.core.label import CLEAN, Origin
from sestet.core.message import ToolCall
from sestet.core.model import Usage
from sestet.services.forgetting import Forgetting
from sestet.services.memory.recall import Recall
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from sestet.storage.memories import MemoryStore
from sestet.storage.observation_progress import ObservationProgress
from sestet.storage.observations import ObservationStore, ReflectionSources
from tests.services.memory.conversation import begin, say

SECRET = "zanzibar7731"
FACT = f"my wifi code is {SECRET}"


def files_with(directory: Path, text: str) -> list[str]:
    wanted = text.encode()
    return [path.name for path in sorted(directory.iterdir()) if wanted in path.read_bytes().lower()]


def remember(database: Database, turn_id: str) -> None:
    """Store a fact, an observation of its turn, a reflection on it, and a vector of each."""
    origin = Origin("s1", turn_id, CLEAN)
    MemoryStore(database).add(FACT, origin)
    store = ObservationStore(database)
    store.add_observation(f"The person said: remember that {FACT}", origin, "rules")
    store.add_observation("The person likes tea", Origin("s1", "another turn", CLEAN), "rules")
    store.add_reflection(f"The person likes tea. {FACT}", origin, 1, ReflectionSources([1, 2]))
    store.add_reflection("They like tea", origin, 2, ReflectionSources(reflections=[1]))
    database.execute("INSERT INTO vectors SELECT id, 'space', CAST(text AS BLOB) FROM passages")


def test_what_was_made_of_a_fact_goes_with_it_and_the_rest_stays(database: Database) -> None:
    remember(database, say(database, f"Remember that {FACT}"))

    done = Forgetting(database).forget("m1")

    assert (done.item.id, sorted(done.with_it), done.still_said) == ("m1", ["o1", "r1", "r2"], True)
    store = ObservationStore(database)
    assert [row.id for row in store.observations(9)] == [2]
    assert [row.id for row in store.uncovered(untrusted=False)] == [2]
    assert store.reflections(9) == []
    assert Recall(database, 800).section("what is my wifi code?") is None
    assert database.execute("SELECT text FROM passages") == [("The person likes tea",)]
    assert len(database.execute("SELECT * FROM vectors")) == 1


def test_a_turn_that_was_not_observed_yet_is_not_observed_after_it(database: Database) -> None:
    turn_id = say(database, f"Remember that {FACT}")
    asking = say(database, f"forget that {FACT}")
    MemoryStore(database).add(FACT, Origin("s1", turn_id, CLEAN))

    Forgetting(database).forget("m1", asked_in=asking)
    say(database, "I like tea")

    batch = ObservationProgress(database, Journal(database)).unobserved("s1", 5)
    assert batch is not None
    assert [turn.words for turn in batch.turns] == ["I like tea"]


@pytest.mark.parametrize(
    ("fact", "elsewhere"),
    [
        (FACT, f"As I said, MY  wifi\ncode is {SECRET.upper()}!"),
        (f"{FACT}.", f"{FACT} and nobody else's"),
        ("我的密码是龙井茶", "请注意我的密码是龙井茶吧"),
        ("Mein Kennwort ist Jäger", "MEIN KENNWORT IST JÄGER"),
    ],
)
def test_everywhere_finds_the_words_however_they_were_said(
    database: Database, fact: str, elsewhere: str
) -> None:
    turn_id = say(database, f"Remember that {fact}")
    MemoryStore(database).add(fact, Origin("s1", turn_id, CLEAN))
    other = say(database, elsewhere, session_id="s2")
    ObservationStore(database).add_observation(f"Said: {fact.upper()}", Origin("s2", other, CLEAN), "rules")

    done = Forgetting(database).forget("m1", everywhere=True)

    assert done.with_it == ("o1",)
    told = [event.text for event in Journal(database).events_of(other) if isinstance(event, TurnStarted)]
    assert len(told) == 1
    assert "[forgotten]" in told[0]
    assert fact[-5:-1].casefold() not in told[0].casefold()


def test_everywhere_leaves_longer_words_alone(database: Database) -> None:
    MemoryStore(database).add("I like tea", Origin("s1", say(database, "I like tea"), CLEAN))
    other = say(database, "I like teasing people")

    Forgetting(database).forget("m1", everywhere=True)

    (told,) = (event for event in Journal(database).events_of(other) if isinstance(event, TurnStarted))
    assert told.text == "I like teasing people"


@pytest.mark.parametrize("others", [False, True], ids=["alone", "with others"])
def test_without_everywhere_only_the_conversation_holds_it(
    database: Database, tmp_path: Path, others: bool
) -> None:
    turn_id = say(database, f"Remember that {FACT}")
    remember(database, turn_id)
    if others:
        for number in range(300):
            MemoryStore(database).add(f"I know {number} other things", Origin("s1", "t", CLEAN))
    forgetting = Forgetting(database)

    forgetting.forget("m1")

    assert forgetting.scrub()
    events = database.execute("SELECT count(*) FROM events WHERE data LIKE ?", (f"%{SECRET}%",)).only()
    assert events == (1,)
    database.execute("DELETE FROM events")
    database.execute("DELETE FROM sessions WHERE 0")
    database.execute("UPDATE sessions SET title = ''")
    assert forgetting.scrub()
    assert files_with(tmp_path, SECRET) == []


def test_everywhere_leaves_no_byte_of_it_in_any_file(database: Database, tmp_path: Path) -> None:
    turn_id = say(database, f"Remember that {FACT}", f"Remembered: {FACT}")
    say(database, f"Is it true that {FACT.upper()}?", "Yes.")
    remember(database, turn_id)
    stamp = Stamp("s1", turn_id, 3, "orchestrator", "", 1.0)
    Journal(database).append(MemoryRecalled(stamp, f"[Memory]\n- m1 (told): {FACT}\n[End]", ("m1",), CLEAN))
    MemoryStore(database).rewrite(1, FACT, CLEAN, "you")
    assert files_with(tmp_path, SECRET) != []
    forgetting = Forgetting(database)

    done = forgetting.forget("m1", everywhere=True)

    assert not done.still_said
    assert forgetting.scrub()
    assert files_with(tmp_path, SECRET) == []
    database.close()
    assert files_with(tmp_path, SECRET) == []
    # The journal can still be read, and shows that words were removed.
    again = Database(tmp_path / "sestet.db")
    events = list(Journal(again).session_events("s1", ("turn_started",), 10))
    assert [event.text for event in events if isinstance(event, TurnStarted)] == [
        "[forgotten]",
        "Is it true that [forgotten]?",
    ]
    assert Journal(again).sessions()[0].title == "[forgotten]"
    again.close()


@pytest.mark.parametrize("fact", ["ok", "text", "silence", "label", "user", "orchestrator", "Noted"])
def test_no_fact_however_odd_makes_the_journal_unreadable(database: Database, fact: str) -> None:
    turn_id = say(database, f"Remember {fact}. And textbooks, please.")
    other = say(database, f"Say {fact} again, but no textbooks")
    stamp = Stamp("s1", other, 3, "orchestrator", "d1", 1.0)
    call = ToolCall("memory_recall", {"query": fact, fact: 1}, "c1")
    Journal(database).append(ToolFinished(stamp, call, "ok", fact, 1.0, CLEAN))
    Journal(database).append(AgentNudged(replace_seq(stamp, 4), "silence"))
    MemoryStore(database).add(fact, Origin("s1", turn_id, CLEAN))

    Forgetting(database).forget("m1", everywhere=True)

    started, finished, nudged, *_ = Journal(database).events_of(other)
    assert isinstance(started, TurnStarted)
    assert started.text == "Say [forgotten] again, but no textbooks"
    assert isinstance(finished, ToolFinished)
    assert (finished.outcome, finished.text, finished.call.name) == ("ok", "[forgotten]", "memory_recall")
    assert fact not in finished.call.arguments
    assert isinstance(nudged, AgentNudged)
    assert nudged.reason == "silence"


def replace_seq(stamp: Stamp, seq: int) -> Stamp:
    return Stamp(stamp.session_id, stamp.turn_id, seq, stamp.author, stamp.delegation_id, stamp.at)


def test_a_turn_that_may_still_go_on_is_not_blanked(database: Database) -> None:
    MemoryStore(database).add(FACT, Origin("s1", begin(database, f"Remember that {FACT}"), CLEAN))

    with pytest.raises(PersonError, match="turn 1 of session 's1' has not ended"):
        Forgetting(database).forget("m1", everywhere=True)

    assert MemoryStore(database).get(1) is not None


def test_a_turn_that_goes_on_is_no_longer_shown_what_was_forgotten(database: Database) -> None:
    turn_id = begin(database, "what is my code?")
    MemoryStore(database).add(FACT, Origin("s0", "t0", CLEAN))
    MemoryStore(database).add("my code is good", Origin("s0", "t0", CLEAN))
    found = Recall(database, 800).section("what is my code?")
    assert found is not None
    Journal(database).append(MemoryRecalled(Stamp("s1", turn_id, 2, "orchestrator", "", 1.0), *found))

    Forgetting(database).forget("m1")

    (event,) = (e for e in Journal(database).events_of(turn_id) if isinstance(e, MemoryRecalled))
    assert SECRET not in event.text
    assert "- m1 [forgotten]" in event.text
    assert "my code is good" in event.text


def test_scrubbing_says_when_another_process_has_the_file_open(database: Database, tmp_path: Path) -> None:
    MemoryStore(database).add(FACT, Origin("s0", "t0", CLEAN))
    other = Database(tmp_path / "sestet.db")
    database.connection.execute("PRAGMA busy_timeout = 50")
    other.execute("BEGIN")
    other.execute("SELECT * FROM memories")
    Forgetting(database).forget("m1")

    assert Forgetting(database).scrub() is False

    other.execute("COMMIT")
    assert Forgetting(database).scrub() is True
    other.close()


@pytest.mark.parametrize("fact", ["local", "changed", "notes.txt", "I like tea"])
@pytest.mark.parametrize(("is_origin", "left"), [(True, "[forgotten]"), (False, "keep [forgotten]")])
def test_a_forgotten_text_leaves_the_effects_of_a_turn_and_they_can_still_be_read(
    database: Database, fact: str, is_origin: bool, left: str
) -> None:
    origin, other = say(database, f"Remember {fact}"), say(database, "hello")
    turn_id = origin if is_origin else other
    stamp = Stamp("s1", turn_id, 21, "chronicler", "d1", 1.0)
    journal = Journal(database)
    journal.append(ToolCalled(stamp, ToolCall("memory_keep", {}, "c1"), "local", (f"keep {fact}",)))
    effects = Effects(changed=(f"keep {fact}",))
    journal.append(TurnFinished(replace_seq(stamp, 22), fact, Usage(), 1.0, CLEAN, effects, ("changed",)))
    MemoryStore(database).add(fact, Origin("s1", origin, CLEAN))

    Forgetting(database).forget("m1", everywhere=True)

    *_, called, finished = journal.events_of(turn_id)
    assert isinstance(called, ToolCalled)
    assert (called.effect, called.targets) == ("local", (left,))
    assert isinstance(finished, TurnFinished)
    assert (finished.effects, finished.unsupported) == (Effects(changed=(left,)), ("changed",))
