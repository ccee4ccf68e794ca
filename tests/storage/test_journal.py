"""Events survive the way into the journal and back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sestet.core.errors import StorageError
from sestet.core.event import (
    EVENTS,
    ApprovalRequested,
    Event,
    ModelCalled,
    Stamp,
    TextStreamed,
    ToolCalled,
    ToolFinished,
    TurnFinished,
    TurnStarted,
)
from sestet.core.label import CLEAN
from sestet.core.message import ToolCall
from sestet.core.model import Usage
from sestet.storage.database import Database
from sestet.storage.journal import Journal, decode, encode

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
CALLS = st.builds(ToolCall, st.text(), st.dictionaries(st.text(), JSON, max_size=3), st.text(), st.text())
STAMP = Stamp("s1", "t1", 1, "operator", "d1", 12.5)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "sestet.db")
    yield opened
    opened.close()


EVENTS_WITH_CALLS: dict[type[Event], dict[str, st.SearchStrategy[object]]] = {
    ModelCalled: {"calls": st.lists(CALLS, max_size=2).map(tuple)},
    ToolCalled: {"call": CALLS},
    ToolFinished: {"call": CALLS},
    ApprovalRequested: {"call": CALLS},
}
ANY_EVENT = st.one_of(*(st.builds(kind, **EVENTS_WITH_CALLS.get(kind, {})) for kind in EVENTS))


@given(ANY_EVENT)
def test_every_event_is_read_back_as_it_was_written(event: Event) -> None:
    # No clock gives a time that is not even equal to itself.
    assume("NaN" not in encode(event))

    assert decode(event.stamp, event.kind, encode(event)) == event


def test_a_result_from_before_results_had_labels_counts_as_the_worst() -> None:
    call = '{"name": "fs_list", "arguments": {}, "id": "c1", "malformed": ""}'
    data = f'{{"call": {call}, "outcome": "ok", "text": "", "milliseconds": 1.0}}'

    event = decode(STAMP, ToolFinished.kind, data)

    assert isinstance(event, ToolFinished)
    assert event.label.untrusted
    assert event.label.private


def start(journal: Journal, session_id: str, turn_id: str, text: str, at: float = 1.0) -> None:
    journal.append(TurnStarted(Stamp(session_id, turn_id, 1, "user", "", at), text))


def test_sessions_are_listed_latest_first_with_a_title_and_their_turns(database: Database) -> None:
    journal = Journal(database)
    start(journal, "a", "t1", "  first\n words ", at=1.0)
    start(journal, "b", "t2", "x" * 500, at=2.0)
    start(journal, "a", "t3", "again", at=3.0)

    rows = journal.sessions()

    assert [(row.id, row.title, row.turns) for row in rows] == [("a", "first words", 2), ("b", "x" * 60, 1)]


def test_the_same_event_is_never_written_twice(database: Database) -> None:
    journal = Journal(database)
    start(journal, "a", "t1", "hi")

    with pytest.raises(StorageError, match="UNIQUE constraint failed"):
        start(journal, "a", "t1", "hi again")

    assert [event.kind for event in journal.events_of("t1")] == ["turn_started"]


def test_streamed_pieces_stay_in_the_journal_until_the_reply_is_whole(database: Database) -> None:
    journal = Journal(database)
    start(journal, "a", "t1", "hi")
    journal.append(TextStreamed(Stamp("a", "t1", 2, "orchestrator", "", 1.0), "Hel"))

    assert [event.kind for event in journal.events_of("t1")] == ["turn_started", "text_streamed"]


def test_an_ended_turn_is_marked_in_the_same_transaction(database: Database) -> None:
    journal = Journal(database)
    start(journal, "a", "t1", "hi")
    journal.append(TurnFinished(Stamp("a", "t1", 2, "orchestrator", "", 2.0), "hello", Usage(), 1.0, CLEAN))

    assert database.execute("SELECT state FROM turns") == [("finished",)]


def test_what_is_written_is_seen_by_another_connection_at_once(database: Database) -> None:
    start(Journal(database), "a", "t1", "hi")

    other = Database(database.path)
    assert [event.kind for event in Journal(other).events_of("t1")] == ["turn_started"]
    other.close()
