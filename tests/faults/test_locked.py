"""Another process has locked the database: everything waits for it, and nothing that is in memory is lost."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sestet.core.errors import BusyError, ForgottenError, StorageError
from sestet.core.event import (
    AgentNudged,
    ApprovalRequested,
    Event,
    ModelCalled,
    Stamp,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFinished,
    TurnPaused,
    TurnStarted,
)
from sestet.core.tool import tool
from sestet.storage import lock_wait
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.journal import Journal
from tests.faults.opened import Home, read_all
from tests.faults.plan import ALL_DONE
from tests.faults.test_in_doubt import outcomes
from tests.faults.watched import When, watched_connections

#: How often the event loop goes round while the database is locked.
ROUNDS = 30


class Lock:
    """The lock of another process, which ends after the event loop has gone round some times."""

    def __init__(self, path: Path) -> None:
        self._other = sqlite3.connect(path / FILE_NAME, isolation_level=None, timeout=0)
        self.rounds = 0
        self._ending: asyncio.Task[None] | None = None

    def take(self) -> None:
        self._other.execute("BEGIN IMMEDIATE")
        self._ending = asyncio.create_task(self._end())

    async def _end(self) -> None:
        while self.rounds < ROUNDS:
            self.rounds += 1
            await asyncio.sleep(0)
        self._other.execute("ROLLBACK")

    def close(self) -> None:
        self._other.close()


@asynccontextmanager
async def lock_of(path: Path) -> AsyncGenerator[Lock]:
    lock = Lock(path)
    try:
        yield lock
    finally:
        lock.close()


async def run_locked(home: Home, plan: str, at: Callable[[Event], bool]) -> tuple[list[Event], Lock]:
    """The events of a turn; at one of them another process locks the database."""
    seen: list[Event] = []
    async with home.open() as app, lock_of(home.path) as lock, asyncio.timeout(20):
        async for event in app.run_turn("s1", plan):
            seen.append(event)
            if not lock.rounds and at(event):
                lock.take()
                await asyncio.sleep(0)
        assert list(app.journal.events_of(seen[0].stamp.turn_id))[-1] == seen[-1]
        assert [e.seq for e in seen] == sorted(e.seq for e in seen), "the reader gets events in their order"
    return seen, lock


async def test_a_result_in_memory_is_written_when_the_lock_has_ended(tmp_path: Path) -> None:
    locks: list[Lock] = []

    @tool(risk="safe", effect="local", reads=(), recovery="unsafe")
    async def exec_locked(what: str) -> str:
        """Do something; meanwhile another process locks the database."""
        locks[0].take()
        return f"{what} is done"

    home = Home(tmp_path, tools=(exec_locked,))
    async with home.open() as app, lock_of(tmp_path) as lock:
        locks.append(lock)
        seen = await read_all(app.run_turn("s1", "operator: exec_locked a"))

        assert outcomes(list(app.journal.events_of(seen[0].stamp.turn_id))) == [("exec_locked", "ok")]
    assert lock.rounds == ROUNDS, "the event loop went on"
    assert isinstance(seen[-1], TurnFinished)
    assert seen[-1].text == ALL_DONE


@pytest.mark.parametrize("kind", [ModelCalled, ToolCalled, ToolFinished])
async def test_a_turn_goes_on_after_a_lock_at_any_event(tmp_path: Path, kind: type[Event]) -> None:
    plan = "operator: fs_pure a, fs_keyed b, exec_unsafe c | vault: crypto_probe d"
    seen, lock = await run_locked(Home(tmp_path), plan, lambda event: isinstance(event, kind))

    assert lock.rounds == ROUNDS
    assert {outcome for _, outcome in outcomes(seen)} == {"ok"}
    assert isinstance(seen[-1], TurnFinished)


async def test_a_question_is_asked_when_the_lock_has_ended(tmp_path: Path) -> None:
    plan = "vault: crypto_guarded a | operator: fs_pure b"
    seen, lock = await run_locked(Home(tmp_path), plan, lambda event: isinstance(event, ModelCalled))

    assert lock.rounds == ROUNDS
    assert len([event for event in seen if isinstance(event, ApprovalRequested)]) == 1
    assert isinstance(seen[-1], TurnPaused)


async def test_an_approval_is_used_when_the_lock_has_ended(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.open() as app, lock_of(tmp_path) as lock:
        paused = await read_all(app.run_turn("s1", "vault: crypto_guarded a"))
        (question,) = app.approvals.pending()
        app.decide(question.id, "approve")
        turn = app.resume_turn(paused[0].stamp.turn_id)
        seen = [await anext(turn)]
        lock.take()
        seen += await read_all(turn)

    assert outcomes(seen) == [("crypto_guarded", "ok")]
    assert home.effects.of("crypto_guarded").total() == 1


async def test_a_turn_is_given_up_when_the_lock_has_ended(tmp_path: Path) -> None:
    async with Home(tmp_path).open() as app, lock_of(tmp_path) as lock:
        paused = await read_all(app.run_turn("s1", "vault: crypto_guarded a"))
        turn_id = paused[0].stamp.turn_id
        lock.take()
        await app.abandon_turn(turn_id)

        assert isinstance(list(app.journal.events_of(turn_id))[-1], TurnCancelled)


async def test_a_reader_that_leaves_waits_for_the_end_of_its_turn(tmp_path: Path) -> None:
    async with Home(tmp_path).open() as app, lock_of(tmp_path) as lock:
        turn = app.run_turn("s1", "operator: fs_pure a, fs_pure b")
        first = await anext(turn)
        lock.take()
        await turn.aclose()

        assert isinstance(list(app.journal.events_of(first.stamp.turn_id))[-1], TurnCancelled)


async def test_a_call_that_is_stopped_while_its_intent_waits_has_not_begun(tmp_path: Path) -> None:
    home = Home(tmp_path)
    seen: list[Event] = []
    async with home.open() as app, lock_of(tmp_path) as lock:
        async for event in app.run_turn("s1", "operator: fs_pure a, exec_unsafe b"):
            seen.append(event)
            if isinstance(event, ToolFinished) and event.call.name == "fs_pure":
                lock.take()
                for _ in range(ROUNDS // 2):
                    await asyncio.sleep(0)
                app.cancel_turn("s1")

    assert outcomes(seen) == [("fs_pure", "ok"), ("exec_unsafe", "refused")]
    assert not home.effects.of("exec_unsafe")


async def test_a_tool_that_may_run_twice_waits_for_the_lock(tmp_path: Path) -> None:
    locks: list[Lock] = []
    tries: list[str] = []

    @tool(risk="safe", effect="local", reads=(), recovery="keyed")
    async def fs_note(what: str) -> str:
        """Save a note in the database."""
        if not tries:
            locks[0].take()
        tries.append(what)
        with database.transaction():
            pass
        return f"{what} is saved"

    home = Home(tmp_path, tools=(fs_note,))
    async with home.open() as app, lock_of(tmp_path) as lock:
        locks.append(lock)
        database = Database(tmp_path / FILE_NAME)
        seen = await read_all(app.run_turn("s1", "operator: fs_note a"))
        database.close()

    assert outcomes(seen) == [("fs_note", "ok")]
    assert len(tries) > 1


async def test_a_lock_that_does_not_end_is_said_and_the_turn_can_go_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_wait, "LONGEST", 0.05)
    home = Home(tmp_path)
    seen: list[Event] = []
    async with home.open() as app:
        other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        turn = app.run_turn("s1", "operator: fs_keyed a, fs_keyed b")
        seen.append(await anext(turn))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="another process has locked the database"):
            seen += await read_all(turn)
        other.close()

    resumed = await home.resume(seen)

    assert isinstance(resumed[-1], TurnFinished)


async def test_another_session_is_answered_while_a_turn_waits_for_its_result(tmp_path: Path) -> None:
    """Both wait for the same lock, and both go on after it."""
    async with Home(tmp_path).open() as app, lock_of(tmp_path) as lock:
        one = app.run_turn("s1", "operator: exec_unsafe a")
        first = await anext(one)
        lock.take()
        both = await asyncio.gather(read_all(one), read_all(app.run_turn("s2", "hello")))

    assert [events[-1].kind for events in both] == ["turn_finished", "turn_finished"]
    assert first.kind == "turn_started"
    assert lock.rounds == ROUNDS


async def test_a_write_in_the_event_loop_does_not_wait_for_long(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE_NAME)
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(BusyError, match="another process has locked the database"):
        database.execute("DELETE FROM grants")

    other.close()
    database.close()


def test_a_write_outside_of_an_event_loop_waits_for_the_lock(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE_NAME)
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    soon = threading.Timer(0.3, other.close)
    soon.start()

    with database.transaction():
        database.execute("DELETE FROM grants")
    database.execute("DELETE FROM grants")

    soon.join()
    database.close()


async def test_a_turn_waits_for_a_lock_that_comes_while_another_turn_is_refused(tmp_path: Path) -> None:
    """Both turns write in one transaction. One was ended by forgetting, so they are written one by one."""
    Database(tmp_path / FILE_NAME).close()
    async with lock_of(tmp_path) as lock:

        def watch(when: When, sql: str, parameters: Sequence[object]) -> None:
            if when == "after" and sql == "ROLLBACK" and not lock.rounds:
                lock.take()

        with watched_connections(watch):
            database = Database(tmp_path / FILE_NAME)
        journal, seen = Journal(database), dict[str, Seen]()
        for turn_id in ("t1", "t2"):
            journal.append(TurnStarted(Stamp(turn_id, turn_id, 1, "user", "", 0.0), "hello"))
            seen[turn_id] = Seen()
        database.execute("INSERT INTO forgotten_turns VALUES ('t1', 1)")

        for turn_id, writer in seen.items():
            journal.stage(AgentNudged(Stamp(turn_id, turn_id, 2, "operator", "", 0.0), "silence"), writer)
        journal.commit()
        while not (seen["t1"].told and seen["t2"].told):
            await journal.unlocked()

        assert [type(told) for writer in seen.values() for told in writer.told] == [
            ForgottenError,
            AgentNudged,
        ]
        assert lock.rounds == ROUNDS
        database.close()


class Seen:
    """What a turn was told about its events."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def on_written(self, event: Event) -> None:
        self.told.append(event)

    def on_failed(self, error: StorageError) -> None:
        self.told.append(error)
