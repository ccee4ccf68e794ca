"""Forgetting in a large file: others write meanwhile, and what they write is forgotten too."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sestet.core.event import MemoryRecalled, Stamp, TextStreamed, ToolFinished
from sestet.core.label import CLEAN, Origin
from sestet.core.message import ToolCall
from sestet.services import forgetting as forgetting_module
from sestet.services.forgetting import Forgetting
from sestet.services.session_deletion import SessionDeletion
from sestet.services.sessions import cited
from sestet.storage import database as database_module
from sestet.storage import event_redaction, forgetting_scan
from sestet.storage.database import Database
from sestet.storage.documents import DocumentStore, StoredChunk
from sestet.storage.forgettings import Forgettings, close_wiped
from sestet.storage.journal import Journal
from sestet.storage.memories import MemoryStore
from tests.services.memory.conversation import begin, finish, say

SECRET = "zanzibar7731"
FACT = f"my wifi code is {SECRET}"


@pytest.fixture
def other(database: Database) -> Iterator[Database]:
    """The file as another process has it open."""
    opened = Database(database.path)
    opened.execute("PRAGMA busy_timeout = 0")
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def short_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting_scan, "_AT_ONCE", 2)


def remember(database: Database) -> str:
    turn_id = say(database, f"Remember that {FACT}")
    MemoryStore(database).add(FACT, Origin("s1", turn_id, CLEAN))
    return turn_id


def held(database: Database) -> list[str]:
    rows = database.execute(
        """SELECT data FROM events WHERE instr(data, ?)
           UNION ALL SELECT text FROM passages WHERE instr(text, ?)""",
        (SECRET, SECRET),
    )
    return [text for (text,) in rows]


def once(work: Callable[[], object]) -> Callable[[int, int, str], None]:
    """Do the work when the last rows are read, before anything is changed."""
    done: list[bool] = []

    def watch(read: int, total: int, name: str) -> None:
        if read == total and not done:
            done.append(True)
            work()

    return watch


def test_others_write_between_the_reads_of_a_forgetting(database: Database, other: Database) -> None:
    remember(database)
    for number in range(5):
        say(database, f"Tea number {number}")
    read: list[int] = []

    def watch(done: int, total: int, name: str) -> None:
        read.append(done)
        MemoryStore(other).add(f"tea {done}", Origin("s2", "t", CLEAN))

    Forgetting(database).forget("m1", everywhere=True, watch=watch)

    assert len(read) > 5
    assert read == sorted(read)
    assert len(MemoryStore(database).latest(99)) == len(read)
    assert held(database) == []


def test_words_that_are_written_during_the_reads_are_forgotten_too(
    database: Database, other: Database
) -> None:
    remember(database)

    def write() -> None:
        say(other, f"Once more: {FACT}", session_id="s2")
        chunk = StoredChunk("A note", f"Somebody wrote that {FACT}", "/notes.txt")
        DocumentStore(other).replace("/notes.txt", "text", 1, "d", [chunk])
        stamp = Stamp("s3", begin(other, "What do you know?", "s3"), 2, "chronicler", "", 1.0)
        Journal(other).append(MemoryRecalled(stamp, f"- m1 {SECRET}", ("m1",), CLEAN))

    done = Forgetting(database).forget("m1", everywhere=True, watch=once(write))

    assert held(database) == []
    assert done.ended == ("turn 1 of session 's3'",)


def test_an_event_in_the_place_of_a_piece_that_was_read_is_found(database: Database, other: Database) -> None:
    """Pieces are deleted when their text is stored whole, and the next event may get their place."""
    remember(database)
    turn_id = begin(database, "Tell me", "s2")
    for seq in (2, 3):
        Journal(database).append(TextStreamed(Stamp("s2", turn_id, seq, "chronicler", "", 1.0), "a piece"))
    (last,) = database.execute("SELECT max(rowid) FROM events").only()

    def write() -> None:
        other.execute("DELETE FROM events WHERE kind = 'text_streamed'")
        finish(other, turn_id, f"It is so: {FACT}", session_id="s2")
        assert other.execute("SELECT max(rowid) FROM events").only()[0] < last

    Forgetting(database).forget("m1", everywhere=True, watch=once(write))

    assert held(database) == []


def test_it_looks_again_if_something_else_was_forgotten_during_the_reads(
    database: Database, other: Database
) -> None:
    remember(database)
    MemoryStore(database).add("I like tea", Origin("s1", "t", CLEAN))
    totals: list[int] = []
    forget_other = once(lambda: Forgetting(other).forget("m2"))

    def watch(read: int, total: int, name: str) -> None:
        totals.append(read)
        forget_other(read, total, name)

    Forgetting(database).forget("m1", everywhere=True, watch=watch)

    assert totals.count(totals[0]) == 2
    assert MemoryStore(database).latest(9) == []
    assert held(database) == []


async def test_what_cites_a_conversation_while_it_is_being_deleted_is_blanked_too(
    database: Database, other: Database
) -> None:
    say(database, "A plan with “quotes”", session_id='s"1"')
    session = Journal(database).session('s"1"')
    assert session

    def write() -> None:
        stamp = Stamp("s2", begin(other, "What was it?", "s2"), 2, "librarian", "", 1.0)
        call = ToolCall("search_sessions", {}, "c1")
        found = ToolFinished(stamp, call, "ok", "A plan", 0.0, CLEAN, citations=(cited(session.id),))
        Journal(other).append(found)

    await SessionDeletion(database).delete(session, with_memories=False, watch=once(write))

    told = database.execute("SELECT json_extract(data, '$.text') FROM events WHERE kind = 'tool_finished'")
    assert told == [("[forgotten]",)]


def test_a_large_file_is_rewritten_only_if_nobody_else_has_it_open(
    database: Database, other: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(database_module, "_REWRITTEN_AT_ONCE", 0)
    remember(database)
    statements: list[str] = []
    database.connection.set_trace_callback(statements.append)
    forgetting = Forgetting(database)
    forgetting.forget("m1", everywhere=True)

    assert forgetting.wipe() == "in_use"
    assert "VACUUM" not in statements
    assert Forgettings(database).has_traces()
    say(other, "Others write as before")
    other.close()
    assert forgetting.wipe() == "wiped"
    assert "VACUUM" in statements
    assert database.execute("PRAGMA journal_mode").only() == ("wal",)
    assert not any(SECRET.encode() in path.read_bytes() for path in tmp_path.iterdir())


def test_the_end_of_a_process_wipes_what_it_could_not_wipe_before(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_REWRITTEN_AT_ONCE", 0)
    remember(database)
    Forgetting(database).forget("m1")

    close_wiped(database)

    again = Database(database.path)
    assert not Forgettings(again).has_traces()
    again.close()


def test_a_full_text_index_is_merged_in_several_transactions(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_MERGED_AT_ONCE", 1)
    store = MemoryStore(database)
    for number in range(300):
        words = " ".join(f"word{number}x{place}" for place in range(60))
        store.add(words, Origin("s1", "t", CLEAN))
    statements: list[str] = []
    database.connection.set_trace_callback(statements.append)
    Forgetting(database).forget("m300")

    assert Forgetting(database).wipe() == "wiped"
    assert sum("'merge'" in statement and "remembered" in statement for statement in statements) > 3
    with closing(sqlite3.connect(database.path)) as plain:
        assert plain.execute("SELECT count(*) FROM remembered_index('word299x7')").fetchone() == (0,)


async def test_the_event_loop_goes_on_while_a_turn_looks_for_what_to_forget(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(database)
    monkeypatch.setattr(forgetting_module, "_READ_AT_ONCE", 0)
    went_on, look_for = threading.Event(), Forgetting.look_for

    def look_after_it(self: Forgetting, text: str, *, everywhere: bool) -> object:
        assert went_on.wait(10), "the event loop stands still"
        return look_for(self, text, everywhere=everywhere)

    monkeypatch.setattr(Forgetting, "look_for", look_after_it)

    forgetting = asyncio.create_task(Forgetting(database).forget_soon("m1", asked_in="t"))
    await asyncio.sleep(0)
    went_on.set()

    assert (await forgetting).item is not None
    assert MemoryStore(database).latest(9) == []


def test_events_are_worked_out_before_anybody_has_to_wait(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = remember(database)
    for number in range(20):
        say(database, f"{number}: {FACT}, and more", session_id=f"s{number}")
    worked_out: list[bool] = []
    change = event_redaction._changed  # pyright: ignore[reportPrivateUsage] - the work itself

    def noted(*arguments: Any) -> Any:  # Any: passed on as they are
        worked_out.append(database.connection.in_transaction)
        return change(*arguments)

    monkeypatch.setattr(event_redaction, "_changed", noted)
    Forgetting(database).forget("m1", everywhere=True)
    assert held(database) == []
    own = len(list(Journal(database).events_of(first)))
    # Only the turn in which it was said is blanked as a whole, by what it holds at that moment.
    assert worked_out.count(True) == own
    assert worked_out.count(False) >= 20
    (asked,) = database.execute(
        "SELECT json_extract(data, '$.text') FROM events WHERE turn_id = ? AND kind = 'turn_started'",
        (first,),
    ).only()
    assert asked == "[forgotten]"
    (title,) = database.execute("SELECT title FROM sessions WHERE id = 's3'").only()
    assert title == "3: [forgotten], and more"
