"""Forgetting: what is removed with a memory, what stays, and that no file keeps its words."""

from pathlib import Path

import pytest

from sestet.core.errors import PersonError
from sestet.core.event import (
    AgentNudged,
    Effects,
    MemoryRecalled,
    ModelRetried,
    Stamp,
    TextStreamed,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFinished,
    TurnStarted,
)
from sestet.core.label import CLEAN, Origin
from sestet.core.message import ToolCall
from sestet.core.model import Usage
from sestet.models.scripted import ScriptedModel
from sestet.services.extraction import Extraction
from sestet.services.forgetting import Forgetting
from sestet.services.memory.catalog import MemoryCatalog
from sestet.services.memory.import_export import export_lines, import_lines
from sestet.services.memory.recall import Recall
from sestet.storage.database import Database
from sestet.storage.extractions import ExtractionStore
from sestet.storage.graph import GraphStore, Predicates
from sestet.storage.journal import Journal
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.memories import MemoryStore
from sestet.storage.observation_progress import ObservationProgress
from sestet.storage.observations import ObservationStore, ReflectionSources
from tests.services.memory.conversation import begin, finish, say

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

    assert done.item is not None
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

    assert forgetting.wipe() == "wiped"
    events = database.execute("SELECT count(*) FROM events WHERE data LIKE ?", (f"%{SECRET}%",)).only()
    assert events == (1,)
    database.execute("DELETE FROM events")
    database.execute("DELETE FROM sessions WHERE 0")
    database.execute("UPDATE sessions SET title = ''")
    assert forgetting.wipe() == "wiped"
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
    assert forgetting.wipe() == "wiped"
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


def test_a_turn_that_may_still_go_on_is_ended_and_its_open_calls_are_in_doubt(database: Database) -> None:
    turn_id = begin(database, f"Remember that {FACT} and mail it")
    MemoryStore(database).add(FACT, Origin("s1", turn_id, CLEAN))
    journal = Journal(database)
    stamp = Stamp("s1", turn_id, 2, "operator", "d1", 1.0)
    for seq, name in ((2, "memory_remember"), (3, "mail_send")):
        journal.append(ToolCalled(replace_seq(stamp, seq), ToolCall(name, {"text": FACT}, f"c{seq}")))
    done_call = ToolCall("memory_remember", {"text": FACT}, "c2")
    journal.append(ToolFinished(replace_seq(stamp, 4), done_call, "ok", "done", 1.0, CLEAN))

    done = Forgetting(database).forget("m1", everywhere=True)

    assert done.ended == ("turn 1 of session 's1'",)
    *_, doubt, end = journal.events_of(turn_id)
    assert isinstance(doubt, ToolFinished)
    assert (doubt.call.name, doubt.outcome, doubt.stamp.delegation_id) == ("mail_send", "in_doubt", "d1")
    assert SECRET not in str(doubt)
    assert isinstance(end, TurnCancelled)
    assert (journal.turn_state(turn_id), journal.open_turns()) == ("cancelled", [])


def test_a_turn_that_forgets_what_was_told_in_it_goes_on(database: Database) -> None:
    turn_id = begin(database, f"Remember that {FACT}. No, forget it")
    MemoryStore(database).add(FACT, Origin("s1", turn_id, CLEAN))

    done = Forgetting(database).forget("m1", asked_in=turn_id)

    assert done.ended == ()
    assert Journal(database).turn_state(turn_id) == "running"
    MemoryStore(database).add("I like tea", Origin("s1", turn_id, CLEAN))


async def test_other_facts_of_a_turn_that_was_ended_are_kept_read_and_imported(database: Database) -> None:
    turn_id = begin(database, f"Remember that {FACT}, and that Ada is related to Bob")
    for text in (FACT, "Ada is related to Bob"):
        MemoryStore(database).add(text, Origin("s1", turn_id, CLEAN))
    exported = list(export_lines(MemoryCatalog(database)))

    Forgetting(database).forget("m1", everywhere=True)

    model = ScriptedModel({"librarian": ['[["Ada", "related_to", "Bob"]]']})
    graph = GraphStore(database)
    await Extraction(ExtractionStore(database, graph), Predicates(), "on", model).read_all()
    assert [fact.subject for fact in graph.latest(9)] == ["Ada"]
    # An import is the person's own wish.
    assert import_lines(database, exported).added == 1
    assert {row.text for row in MemoryStore(database).latest(9)} == {FACT, "Ada is related to Bob"}


def test_everywhere_leaves_what_is_said_of_others(database: Database) -> None:
    MemoryStore(database).add("I like tea", Origin("", "", CLEAN))
    turn_id = say(database, "My parents? They like tea", session_id="s2")

    Forgetting(database).forget("m1", everywhere=True)

    (told,) = (event for event in Journal(database).events_of(turn_id) if isinstance(event, TurnStarted))
    assert told.text == "My parents? They like tea"


def test_everywhere_covers_titles_that_were_cut_off_in_the_middle_of_the_words(database: Database) -> None:
    long = "I keep the spare key of the cellar door below the third flower pot on the left"
    turn_id = say(database, f"By the way: {long}", session_id="s2")
    MemoryStore(database).add(long, Origin("s1", say(database, "something else"), CLEAN))

    Forgetting(database).forget("m1", everywhere=True)

    titles = {session.id: session.title for session in Journal(database).sessions()}
    assert titles["s2"] == "By the way: [forgotten]"
    assert Journal(database).turn(turn_id) is not None


def test_everywhere_removes_what_was_saved_of_it_in_the_same_turn_and_leaves_the_rest(
    database: Database,
) -> None:
    origin = Origin("s1", say(database, f"Remember that {FACT}, and my recipe"), CLEAN)
    earlier = Origin("s0", "t0", CLEAN)
    MemoryStore(database).add(FACT, origin)
    LearningStore(database).save("the wifi fails", f"type the code {SECRET}", "", origin)
    LearningStore(database).save("the dough sticks", "take more flour", "", origin)
    knowledge = KnowledgeStore(database)
    knowledge.save("wifi", "the old code was 12345", "fact", earlier)
    knowledge.save("wifi", f"the code is {SECRET}", "fact", origin)
    knowledge.save("pancakes", "flour, milk, eggs", "fact", origin)
    GraphStore(database).add("wifi code", "related_to", SECRET, origin)

    done = Forgetting(database).forget("m1", everywhere=True)

    assert done.with_it == ("lesson 1", "version 2 of the entry 'wifi'", "graph fact 1")
    assert [lesson.trigger for lesson in LearningStore(database).latest(9)] == ["the dough sticks"]
    assert [version.content for version in knowledge.history("wifi")] == ["the old code was 12345"]
    entry, other = knowledge.get("wifi"), knowledge.get("pancakes")
    assert entry is not None
    assert (entry.content, entry.version) == ("the old code was 12345", 1)
    assert other is not None
    assert GraphStore(database).latest(9) == []


@pytest.mark.parametrize(
    ("fact", "reply"),
    [
        ("my wifi code is zanzibar", "Your wifi code is zanzibar."),
        ("I am allergic to nuts", "So you are allergic to nuts!"),
        ("I love my sister Ada", "You love your sister Ada"),
    ],
)
def test_everywhere_finds_the_words_as_they_are_said_back(database: Database, fact: str, reply: str) -> None:
    MemoryStore(database).add(fact, Origin("", "", CLEAN))
    turn_id = say(database, "What do you know?", reply, session_id="s2")

    Forgetting(database).forget("m1", everywhere=True)

    (end,) = (event for event in Journal(database).events_of(turn_id) if isinstance(event, TurnFinished))
    assert end.text.strip("So .!") == "[forgotten]"


def test_words_across_two_pieces_of_a_streamed_reply_are_found(database: Database, tmp_path: Path) -> None:
    turn_id = begin(database, "What is it?", session_id="s2")
    stamp = Stamp("s2", turn_id, 2, "orchestrator", "", 1.0)
    for seq, piece in ((2, "It says: my wifi co"), (3, f"de is {SECRET[:4]}"), (4, f"{SECRET[4:]}, right?")):
        Journal(database).append(TextStreamed(replace_seq(stamp, seq), piece))
    MemoryStore(database).add(FACT, Origin("", "", CLEAN))

    done = Forgetting(database).forget("m1", everywhere=True)

    pieces = [event.text for event in Journal(database).events_of(turn_id) if isinstance(event, TextStreamed)]
    assert "".join(pieces) == "It says: [forgotten], right?"
    assert done.ended == ("turn 1 of session 's2'",)


def test_a_forgotten_turn_with_every_kind_of_event_can_still_be_read(database: Database) -> None:
    turn_id = begin(database, FACT)
    stamp = Stamp("s1", turn_id, 2, "orchestrator", "d1", 1.0)
    journal = Journal(database)
    journal.append(ModelRetried(stamp, "m", "timeout", FACT, 1.0, "n"))
    journal.append(AgentNudged(replace_seq(stamp, 3), "silence"))
    finish(database, turn_id)
    MemoryStore(database).add(FACT, Origin("s1", turn_id, CLEAN))

    Forgetting(database).forget("m1", everywhere=True)

    (retried,) = (event for event in journal.events_of(turn_id) if isinstance(event, ModelRetried))
    assert (retried.failure, retried.next_model, retried.text) == ("timeout", "n", "[forgotten]")


def test_a_row_that_was_forgotten_is_known_as_forgotten_and_others_are_not(database: Database) -> None:
    MemoryStore(database).add(FACT, Origin("", "", CLEAN))
    MemoryStore(database).add("I like tea", Origin("", "", CLEAN))
    forgetting = Forgetting(database)
    forgetting.forget("m1")

    assert [forgetting.is_forgotten(name) for name in ("m1", "m2", "m3", "o1")] == [True, False, False, False]
    with pytest.raises(PersonError, match="there is no memory 'm3'"):
        forgetting.forget("m3")


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

    assert Forgetting(database).wipe() == "in_use"

    other.execute("COMMIT")
    assert Forgetting(database).wipe() == "wiped"
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
    journal.append(TurnFinished(replace_seq(stamp, 22), fact, Usage(), 1.0, CLEAN, "", effects, ("changed",)))
    MemoryStore(database).add(fact, Origin("s1", origin, CLEAN))

    Forgetting(database).forget("m1", everywhere=True)

    *_, called, finished = journal.events_of(turn_id)
    assert isinstance(called, ToolCalled)
    assert (called.effect, called.targets) == ("local", (left,))
    assert isinstance(finished, TurnFinished)
    assert (finished.effects, finished.unsupported) == (Effects(changed=(left,)), ("changed",))
