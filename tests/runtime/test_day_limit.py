"""``limits.dollarsPerDay``: checked before each model call, for all turns and processes on one database."""

import time
from pathlib import Path

import pytest

import sestet
from sestet.core.event import Event, ModelCalled, PriceUnknown, TurnFailed, TurnFinished
from sestet.core.model import ModelReply, Usage
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.spending import SpendingStore

LIMIT = {"limits": {"dollarsPerDay": 1.0}, "observationalMemory": {"enabled": False}}
CENTS_60 = ModelReply("done", usage=Usage(100, 20, 600_000_000))


async def say(home: Path, *replies: ModelReply, turns: int) -> list[Event]:
    """The last events of some turns in a process of their own."""
    async with sestet.open(LIMIT, model=sestet.ScriptedModel(replies, name="acme/big"), home=home) as app:
        ends: list[Event] = []
        for number in range(turns):
            events = [event async for event in app.run_turn(f"s{number}", "go")]
            ends.append(events[-1])
        return ends


async def test_the_turn_after_the_limit_ends_before_its_model_is_asked(tmp_path: Path) -> None:
    *done, refused = await say(tmp_path, CENTS_60, CENTS_60, turns=3)

    assert all(isinstance(event, TurnFinished) for event in done)
    assert isinstance(refused, TurnFailed)
    assert refused.cause == "over_budget"
    for part in ("$1.00", "limits.dollarsPerDay", "$1.20", "raise the limit", "sestet costs"):
        assert part in refused.text


async def test_the_limit_counts_what_another_process_has_spent(tmp_path: Path) -> None:
    await say(tmp_path, CENTS_60, CENTS_60, turns=2)

    (refused,) = await say(tmp_path, turns=1)

    assert isinstance(refused, TurnFailed)


async def test_background_work_counts_and_yesterday_does_not(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE_NAME)
    spending = SpendingStore(database)
    spending.add_work("observe", "acme/big", Usage(1, 1, 5_000_000_000), time.time() - 2 * 86_400)
    (end,) = await say(tmp_path, CENTS_60, turns=1)
    assert isinstance(end, TurnFinished)

    spending.add_work("observe", "acme/big", Usage(1, 1, 500_000_000), time.time())
    (end,) = await say(tmp_path, turns=1)

    database.close()
    assert isinstance(end, TurnFailed)


async def test_the_person_is_warned_once_when_most_of_the_limit_is_spent(tmp_path: Path) -> None:
    model = sestet.ScriptedModel([CENTS_60, CENTS_60], name="acme/big")
    async with sestet.open(LIMIT, model=model, home=tmp_path) as app:
        assert app.budget is not None
        _ = [event async for event in app.run_turn("s", "go")]
        assert app.budget.warning() == ""
        _ = [event async for event in app.run_turn("s", "go")]
        assert "$1.20 of the $1.00" in app.budget.warning()
        assert app.budget.warning() == ""


async def test_a_model_without_a_price_is_named_with_the_limit_that_does_not_hold(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(["hi"], name="acme/new")
    async with sestet.open(LIMIT, model=model, home=tmp_path) as app:
        events = [event async for event in app.run_turn("s", "go")]

    told = [(event.model, event.limits) for event in events if isinstance(event, PriceUnknown)]
    assert told == [("acme/new", ("limits.dollarsPerDay",))]


@pytest.mark.parametrize("settings", [{}, {"agent": {"provider": "offline"}, **LIMIT}])
async def test_the_built_in_model_is_not_checked(tmp_path: Path, settings: dict[str, object]) -> None:
    database = Database(tmp_path / FILE_NAME)
    SpendingStore(database).add_work("observe", "acme/big", Usage(1, 1, 5_000_000_000), time.time())
    database.close()

    async with sestet.open(settings, home=tmp_path) as app:
        events = [event async for event in app.run_turn("s", "hello")]

    assert isinstance(events[-1], TurnFinished)
    assert all(event.free for event in events if isinstance(event, ModelCalled))
