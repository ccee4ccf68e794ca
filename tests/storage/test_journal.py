"""Events survive the way into the journal and back."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.errors import StorageError
from sestet.core.event import (
    EVENTS,
    ApprovalRequested,
    Event,
    ModelCalled,
    ModelRetried,
    Stamp,
    TextStreamed,
    ToolCalled,
    ToolFinished,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from sestet.core.label import CLEAN, Label
from sestet.core.message import ToolCall
from sestet.core.model import Usage
from sestet.core.record import replace
from sestet.storage.database import Database
from sestet.storage.event_json import decode, encode
from sestet.storage.journal import Journal
from tests.faults.watched import When, watched_connections

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
#: JSON has no other numbers, and no clock gives others.
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def any_event(kind: type[Event]) -> st.SearchStrategy[Event]:
    numbers = {field.name: NUMBERS for field in msgspec.structs.fields(kind) if field.type is float}
    return st.builds(kind, **numbers, **EVENTS_WITH_CALLS.get(kind, {}))


@given(st.one_of(*map(any_event, EVENTS)))
def test_every_event_is_read_back_as_it_was_written(event: Event) -> None:
    assert decode(event.stamp, event.kind, encode(event)) == event


@pytest.mark.parametrize("event", EVENTS)
def test_a_field_that_can_be_none_is_none_by_default_so_the_journal_leaves_it_out(event: type[Event]) -> None:
    for field in msgspec.structs.fields(event):
        if type(None) in get_args(field.type):
            assert field.default is None

    assert encode(ToolCalled(STAMP, ToolCall("fs_list"), "none")).count("null") == 0


@pytest.mark.parametrize("wait", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_have_leaves_the_row_readable(wait: float) -> None:
    event = ModelRetried(STAMP, "m", "transient", "busy", wait, "m")

    read = decode(STAMP, event.kind, encode(event))

    assert isinstance(read, ModelRetried)
    assert repr(read.wait) == repr(wait)


def test_half_a_character_leaves_the_row_writable() -> None:
    event = TurnFailed(STAMP, "model", "it said \ud800", Label(sources=("\udcff",)))
    assert decode(STAMP, event.kind, encode(event)) == event

    called = ToolCalled(STAMP, ToolCall("x", {"nothing": None, "half": "\ud800"}, "c1"))
    assert decode(STAMP, called.kind, encode(called)) == called


def test_a_result_from_before_results_had_labels_counts_as_the_worst() -> None:
    call = '{"name": "fs_list", "arguments": {}, "id": "c1", "malformed": ""}'
    data = f'{{"call": {call}, "outcome": "ok", "text": "", "milliseconds": 1.0}}'

    event = decode(STAMP, ToolFinished.kind, data)

    assert isinstance(event, ToolFinished)
    assert event.label.untrusted
    assert event.label.private


def test_an_event_of_an_earlier_version_is_read_as_it_was_meant() -> None:
    call = '{"name": "fs_list", "arguments": {"path": "\\ud800", "deep": [NaN, {"a": [1]}]}}'
    usage = '{"input_tokens": 3}'
    data = f'{{"model": "m", "text": "", "calls": [{call}], "usage": {usage}, "milliseconds": 1}}'

    event = decode(STAMP, ModelCalled.kind, data)

    assert isinstance(event, ModelCalled)
    assert event.usage == Usage(input_tokens=3)
    (found,) = event.calls
    assert isinstance(event.calls, tuple)
    assert (found.name, found.id, found.malformed) == ("fs_list", "", "")
    assert found.arguments["path"] == "\ud800"


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


def test_an_event_is_written_together_with_its_row_or_not_at_all(database: Database) -> None:
    journal = Journal(database)
    start(journal, "a", "t1", "hi")
    text = TextStreamed(Stamp("a", "t1", 2, "orchestrator", "", 1.0), "Hel")

    def rename_session_but_refuse() -> bool:
        database.execute("UPDATE sessions SET title = 'renamed'")
        return False

    assert not journal.append(text, together_with=rename_session_but_refuse)
    assert [event.kind for event in journal.events_of("t1")] == ["turn_started"]
    assert journal.sessions()[0].title == "hi"
    assert journal.append(text, together_with=lambda: True)
    assert [event.kind for event in journal.events_of("t1")] == ["turn_started", "text_streamed"]


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


class Writer:
    """Hears what became of its events."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_written(self, event: Event) -> None:
        self.heard.append(event.kind)

    def on_failed(self, error: StorageError) -> None:
        self.heard.append(str(error))


def started(turn_id: str) -> TurnStarted:
    return TurnStarted(Stamp(f"session of {turn_id}", turn_id, 1, "user", "", 1.0), "hello")


async def test_what_several_turns_record_at_the_same_time_is_one_transaction(tmp_path: Path) -> None:
    commits: list[str] = []

    def watch(when: When, sql: str, parameters: Sequence[object]) -> None:
        if when == "after" and sql == "COMMIT":
            commits.append(sql)

    with watched_connections(watch):
        database = Database(tmp_path / "sestet.db")
    journal, writers = Journal(database), [Writer() for _ in range(20)]
    commits.clear()
    for number, writer in enumerate(writers):
        journal.stage(started(f"t{number}"), writer)
    assert not any(writer.heard for writer in writers)

    await asyncio.sleep(0)

    assert commits == ["COMMIT"]
    assert all(writer.heard == ["turn_started"] for writer in writers)
    assert len(journal.open_turns()) == 20
    database.close()


async def test_a_turn_that_cannot_be_written_does_not_stop_the_others(database: Database) -> None:
    journal = Journal(database)
    journal.append(started("t1"))
    good, bad = Writer(), Writer()
    journal.stage(started("t2"), good)
    journal.stage(started("t1"), bad)

    await asyncio.sleep(0)

    assert good.heard == ["turn_started"]
    assert "UNIQUE" in bad.heard[0]
    assert [turn.id for turn in journal.open_turns()] == ["t1", "t2"]


async def test_pieces_of_a_reply_that_is_whole_in_the_same_round_are_shown_and_not_written(
    database: Database,
) -> None:
    journal, writer = Journal(database), Writer()
    journal.stage(started("t1"), writer)
    stamp = Stamp("session of t1", "t1", 2, "orchestrator", "", 1.0)
    journal.stage(TextStreamed(stamp, "Hel"), writer)
    journal.stage(ModelCalled(replace(stamp, seq=3), "m", "Hello", (), Usage(), 1.0), writer)

    await asyncio.sleep(0)

    assert writer.heard == ["turn_started", "text_streamed", "model_called"]
    assert [event.kind for event in journal.events_of("t1")] == ["turn_started", "model_called"]
