"""The person's local time: known to every agent, recorded, and the same when a turn goes on."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import sestet
from sestet.core.event import ApprovalRequested, Event, TurnStarted
from sestet.core.message import UserMessage
from sestet.core.words import moment
from sestet.models.scripted import ScriptedModel
from sestet.services.forgetting import Forgetting
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.journal import Journal
from tests.runtime.transcript import transfer

OSLO = timezone(timedelta(hours=2), "CEST")
NOON = datetime(2026, 5, 31, 12, 5, tzinfo=OSLO)
SAID_AT = "Sunday, 31 May 2026, 12:05 CEST (UTC+02:00)"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


async def turn(app: sestet.App, text: str) -> list[Event]:
    return [event async for event in app.run_turn("today", text)]


def times(model: ScriptedModel) -> list[tuple[str, list[str]]]:
    """For each request: its agent, and the times that it reads."""
    return [
        (request.agent, [m.said_at for m in request.messages if isinstance(m, UserMessage)])
        for request in model.requests
    ]


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (NOON, SAID_AT),
        (datetime(2026, 12, 1, 0, 0, tzinfo=UTC), "Tuesday, 1 December 2026, 00:00 UTC (UTC+00:00)"),
        (
            datetime(2026, 1, 9, 23, 59, tzinfo=timezone(-timedelta(hours=9, minutes=30), "MART")),
            "Friday, 9 January 2026, 23:59 MART (UTC-09:30)",
        ),
    ],
)
def test_a_moment_names_the_weekday_the_date_the_minute_and_the_zone(at: datetime, text: str) -> None:
    assert moment(at) == text


async def test_orchestrator_and_specialist_know_when_the_message_was_sent(tmp_path: Path) -> None:
    model = ScriptedModel({"orchestrator": [transfer("operator", "list"), "Done."], "operator": ["Listed."]})
    async with sestet.open({}, home=tmp_path, model=model, clock=Clock()) as app:
        events = await turn(app, "what is here?")

    assert times(model) == [
        ("orchestrator", [SAID_AT]),
        ("operator", [SAID_AT]),
        ("orchestrator", [SAID_AT]),
    ]
    assert isinstance(events[0], TurnStarted)
    assert events[0].said_at == SAID_AT
    assert UserMessage("list", SAID_AT).dated == f"[Sent {SAID_AT}]\nlist"


async def test_one_flat_agent_knows_it_too(tmp_path: Path) -> None:
    model = ScriptedModel(["Noon."])
    async with sestet.open(
        {"agent": {"multiAgent": False}}, home=tmp_path, model=model, clock=Clock()
    ) as app:
        await turn(app, "what time is it?")

    assert times(model) == [("assistant", [SAID_AT])]


async def test_the_beginning_of_a_prompt_stays_the_same_as_time_goes_by(tmp_path: Path) -> None:
    """A vendor charges less for a beginning that it has seen, so earlier messages keep their times."""
    clock, before, after = Clock(), ScriptedModel(["One.", "Two."]), ScriptedModel(["Three."])
    async with sestet.open({}, home=tmp_path, model=before, clock=clock) as app:
        await turn(app, "first")
        clock.now += timedelta(hours=1)
        await turn(app, "second")
    clock.now += timedelta(hours=1)
    async with sestet.open({}, home=tmp_path, model=after, clock=clock) as app:
        await turn(app, "third")

    first, second, third = (*before.requests, *after.requests)
    assert first.instruction == second.instruction == third.instruction
    assert second.messages[: len(first.messages)] == first.messages
    assert third.messages[: len(second.messages)] == second.messages
    assert times(after) == [
        ("orchestrator", [moment(NOON + timedelta(hours=hours)) for hours in range(3)]),
    ]


async def test_the_time_stays_when_the_words_are_forgotten(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path, model=ScriptedModel(["Noted."]), clock=Clock()) as app:
        (first, *_) = await turn(app, "my code is 1234 on Sunday")
    database = Database(tmp_path / FILE_NAME)

    Forgetting(database).forget_words("Sunday")
    started = next(Journal(database).events_of(first.stamp.turn_id))
    database.close()

    assert isinstance(started, TurnStarted)
    assert (started.text, started.said_at) == ("my code is 1234 on [forgotten]", SAID_AT)


async def test_a_turn_that_goes_on_keeps_the_time_at_which_it_began(tmp_path: Path) -> None:
    @sestet.tool(risk="guarded", effect="local", reads=(), recovery="pure")
    async def exec_pay(to: str) -> str:
        """Pay."""
        return to

    clock = Clock()
    model = ScriptedModel(
        {
            "orchestrator": [transfer("operator", "pay bob")],
            "operator": [sestet.ToolCall("exec_pay", {"to": "bob"})],
        }
    )
    async with sestet.open({}, home=tmp_path, model=model, tools=[exec_pay], clock=clock) as app:
        events = await turn(app, "pay bob")
    (question,) = (event for event in events if isinstance(event, ApprovalRequested))
    clock.now += timedelta(days=1)
    after = ScriptedModel({"orchestrator": ["Not paid."], "operator": ["It was denied."]})
    async with sestet.open({}, home=tmp_path, model=after, tools=[exec_pay], clock=clock) as app:
        app.decide(question.approval_id, "deny")
        assert [event async for event in app.resume_turn(events[0].stamp.turn_id)]

    assert times(after) == [("operator", [SAID_AT]), ("orchestrator", [SAID_AT])]
