"""Questions to the person, and the replies that lead to them, at the worst moment."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from sestet.core.event import (
    ApprovalDecided,
    ApprovalRequested,
    DelegationFinished,
    Event,
    ModelCalled,
    ToolCalled,
    ToolFinished,
    TurnFinished,
    TurnPaused,
)
from sestet.core.tool import tool
from sestet.storage.database import FILE_NAME
from tests.faults.opened import Home, read_all
from tests.faults.test_in_doubt import outcomes
from tests.faults.watched import Death, When

STANDING = "vault: crypto_guarded a"
TWO = f"{STANDING} | {STANDING}"


def asked(events: Sequence[Event]) -> list[str]:
    return [event.approval_id for event in events if isinstance(event, ApprovalRequested)]


class DeathAfterOvertaking(Death):
    """Dies at the n-th statement after an open question was closed."""

    def __init__(self, approval_id: str, number: int) -> None:
        super().__init__()
        self._approval_id = approval_id
        self._left = number
        self._is_closed = False

    def strikes(self, when: When, sql: str, parameters: Sequence[object]) -> bool:
        if when == "after":
            closes = sql.startswith("UPDATE approvals SET state = 'used'")
            self._is_closed = self._is_closed or (closes and self._approval_id in parameters)
            return False
        self._left -= self._is_closed
        return self._left <= 0


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_question_that_a_standing_answer_overtakes_is_closed_with_its_call_or_not_at_all(
    tmp_path: Path, number: int
) -> None:
    home = Home(tmp_path)
    async with home.open() as app:
        paused = await read_all(app.run_turn("s1", TWO))
        one, other = asked(paused)
        app.decide(one, "approve", "session")
    turn_id = paused[0].stamp.turn_id
    await home.die(DeathAfterOvertaking(other, number), lambda app: app.resume_turn(turn_id))

    async with home.open() as app:
        await read_all(app.resume_turn(turn_id))
        written = list(app.journal.events_of(turn_id))

    assert [event.approval_id for event in written if isinstance(event, ApprovalDecided)] == [one]
    assert {outcome for _, outcome in outcomes(written)} <= {"ok", "in_doubt"}
    assert len(outcomes(written)) == 2
    assert max(home.effects.of("crypto_guarded").values()) == 1
    assert isinstance(written[-1], TurnFinished)


async def test_a_question_that_is_denied_just_before_it_is_overtaken_is_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path)
    async with home.open() as app:
        paused = await read_all(app.run_turn("s1", TWO))
        one, other = asked(paused)
        app.decide(one, "approve", "session")
        overtake = app.approvals.overtake

        def deny_first(approval_id: str, intent: ToolCalled) -> bool:
            app.decide(approval_id, "deny")
            return overtake(approval_id, intent)

        monkeypatch.setattr(app.approvals, "overtake", deny_first)
        resumed = await read_all(app.resume_turn(paused[0].stamp.turn_id))

    assert sorted(outcomes(resumed)) == [("crypto_guarded", "denied"), ("crypto_guarded", "ok")]
    decided = {e.approval_id: e.decision for e in resumed if isinstance(e, ApprovalDecided)}
    assert decided == {one: "approve", other: "deny"}


async def test_an_approval_that_was_given_in_time_holds_when_the_turn_is_resumed_later(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    async with home.open() as app:
        paused = await read_all(app.run_turn("s1", STANDING))
        app.decide(asked(paused)[0], "approve")
    other = sqlite3.connect(tmp_path / FILE_NAME)
    other.execute("UPDATE approvals SET expires_at = 1.0")
    other.commit()
    other.close()

    resumed = await home.resume(paused)

    assert outcomes(resumed) == [("crypto_guarded", "ok")]


async def test_a_question_that_nobody_answered_in_time_is_denied(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.open() as app:
        paused = await read_all(app.run_turn("s1", STANDING))
        assert isinstance(paused[-1], TurnPaused)
    other = sqlite3.connect(tmp_path / FILE_NAME)
    other.execute("UPDATE approvals SET expires_at = 1.0")
    other.commit()
    other.close()

    resumed = await home.resume(paused)

    assert outcomes(resumed) == [("crypto_guarded", "denied")]


async def test_a_paid_reply_is_on_disk_before_the_tools_that_it_asked_for_run(tmp_path: Path) -> None:
    paid: list[int] = []

    @tool(risk="safe", effect="none", reads=(), recovery="pure")
    async def fs_look(what: str) -> str:
        """Count the replies that a process that dies now would leave."""
        other = sqlite3.connect(tmp_path / FILE_NAME)
        kind = "SELECT count(*) FROM events WHERE kind = 'model_called' AND author = 'operator'"
        paid.append(other.execute(kind).fetchone()[0])
        other.close()
        return what

    async with Home(tmp_path, tools=(fs_look,)).open() as app:
        seen = await read_all(app.run_turn("s1", "operator: fs_look a, fs_look b"))

    assert paid == [1, 2]
    assert len([e for e in seen if isinstance(e, ModelCalled) and e.author == "operator"]) == 3
    assert [e.outcome for e in seen if isinstance(e, ToolFinished | DelegationFinished)] == ["ok"] * 3
