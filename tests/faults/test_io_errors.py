"""A storage error at every statement of a turn: a clear error, no event lost, and the turn can go on."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

import sestet
from sestet.core.errors import StorageError
from sestet.core.event import (
    DelegationFinished,
    Event,
    TextStreamed,
    ToolFinished,
    TurnFailed,
    TurnFinished,
    TurnPaused,
)
from tests.faults.opened import Home, read_all, read_into
from tests.faults.plan import ALL_DONE
from tests.faults.watched import When, watched_connections

PLAN = "operator: fs_pure a, exec_unsafe b | vault: crypto_probe c, crypto_guarded d then operator: fs_keyed"
UNSAFE = ("exec_unsafe", "crypto_guarded")
MOST_STATEMENTS = 1000

#: It fails once, fails until repaired, or reports an error although the statement ran.
Mode = Literal["once", "lasting", "reported late"]
#: These statements do not write: a rollback in WAL mode only drops uncommitted pages.
_WITHOUT_DISK = ("ROLLBACK", "PRAGMA")


class BadDisk:
    """Fails at the n-th statement after ``arm``, until repaired."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._when = "after" if mode == "reported late" else "before"
        self._left = 0
        self.has_failed = False

    def arm(self, number: int) -> None:
        self._left = number

    def mend(self) -> None:
        self._left = 0

    def watch(self, when: When, sql: str, parameters: Sequence[object]) -> None:
        if not self._left or when != self._when or sql.startswith(_WITHOUT_DISK):
            return
        if self._left > 1:
            self._left -= 1
            return
        self.has_failed = True
        if self._mode != "lasting":
            self._left = 0
        raise sqlite3.OperationalError("disk I/O error")


async def bring_to_an_end(app: sestet.App, seen: list[Event]) -> None:
    """Begin or resume the turn and approve every question until it has ended."""
    turns = app.journal.open_turns()
    if not app.journal.sessions():
        await read_into(seen, app.run_turn("s1", PLAN))
    while not seen or isinstance(seen[-1], TurnPaused) or turns:
        (turn,) = app.journal.open_turns()
        for question in app.approvals.pending(turn.id):
            app.decide(question.id, "approve")
        await read_into(seen, app.resume_turn(turn.id))
        turns = app.journal.open_turns()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["once", "lasting", "reported late"])
async def test_an_error_at_any_statement_of_a_turn_is_said_and_the_turn_goes_on_afterwards(
    tmp_path: Path, mode: Mode
) -> None:
    for number in range(1, MOST_STATEMENTS):
        # Background work logs its errors and retries; this test is about the turn only.
        home = Home(tmp_path / str(number))
        home.path.mkdir()
        disk = BadDisk(mode)
        seen: list[Event] = []
        with watched_connections(disk.watch):
            async with home.open() as app:
                disk.arm(number)
                broken = await breaks_off(app, seen)
                disk.mend()
                assert broken == disk.has_failed, f"the error at statement {number} was swallowed"
                check_shown(app, seen)
                await bring_to_an_end(app, seen)
                check_ended(app, home, seen)
                assert (await read_all(app.run_turn("s2", "hello")))[-1].kind == TurnFinished.kind
        if not broken:
            assert number > 50
            return
    pytest.fail("the turn has no end of statements")


async def breaks_off(app: sestet.App, seen: list[Event]) -> bool:
    try:
        await bring_to_an_end(app, seen)
    except StorageError as error:
        return says_why(error)
    return False


def says_why(error: StorageError) -> bool:
    assert "disk I/O error" in str(error)
    return True


def check_shown(app: sestet.App, seen: list[Event]) -> None:
    """Delivered events are in the journal; an interrupted turn is open, and no reader saw an end."""
    assert not any(isinstance(event, TurnFailed) for event in seen), "the storage failed, not the turn"
    for event in seen:
        written = {stored.seq: stored for stored in app.journal.events_of(event.stamp.turn_id)}
        assert event.seq in written or isinstance(event, TextStreamed)
        assert isinstance(event, TextStreamed) or written[event.seq] == event
    ended = [event for event in seen if isinstance(event, TurnFinished)]
    assert not (ended and app.journal.open_turns())


def check_ended(app: sestet.App, home: Home, seen: list[Event]) -> None:
    """The turn ended once, and every effect happened once or is reported as in doubt."""
    (session,) = app.journal.sessions()
    assert session.turns == 1
    events = list(app.journal.events_of(seen[0].stamp.turn_id))
    (end,) = (event for event in events if isinstance(event, TurnFinished))
    assert end.text == ALL_DONE
    assert events[-1] == end
    answered = sorted(event.call.name for event in events if isinstance(event, ToolFinished))
    assert answered == ["crypto_guarded", "crypto_probe", "exec_unsafe", "fs_keyed", "fs_pure"]
    results = {e.delegation_id: e.outcome for e in events if isinstance(e, DelegationFinished)}
    assert results == {"d1": "ok", "d2": "ok", "d3": "ok"}
    for event in events:
        if not isinstance(event, ToolFinished):
            continue
        effects = home.effects.of(event.call.name)[f"{event.stamp.turn_id}/{event.call.id}"]
        if event.call.name in UNSAFE:
            assert event.outcome in ("ok", "in_doubt")
            assert effects == 1 if event.outcome == "ok" else effects <= 1
        else:
            assert event.outcome == "ok"
            assert effects >= 1 if event.call.name == "fs_pure" else effects == 1


@pytest.mark.slow
async def test_an_error_at_any_statement_of_the_opening_is_said_plainly(tmp_path: Path) -> None:
    for number in range(1, MOST_STATEMENTS):
        disk = BadDisk("once")
        disk.arm(number)
        home = Home(tmp_path / str(number))
        with watched_connections(disk.watch):
            try:
                async with home.open():
                    pass
            except StorageError as error:
                says_why(error)
            else:
                assert not disk.has_failed
                return
        async with home.open() as app:
            assert (await read_all(app.run_turn("s1", "hello")))[-1].kind == TurnFinished.kind
