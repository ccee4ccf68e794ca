"""A model that miscounts, never ends or never pauses cannot get past the limits of a turn."""

import asyncio
from collections.abc import AsyncGenerator
from itertools import repeat
from math import inf, nan
from typing import Any

import pytest

from sestet.core.errors import DefinitionError
from sestet.core.event import DelegationFinished, Event, PriceUnknown, TurnCancelled, TurnFailed, TurnFinished
from sestet.core.message import ToolCall
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta, Usage
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.limits import Limits
from sestet.storage.database import Database
from tests.runtime.conftest import Conversation
from tests.runtime.transcript import streamed, transfer

#: Ends a stream that nothing stops, so that the test fails instead of hanging.
_MANY = 300_000


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": -1},
        {"output_tokens": -(10**9)},
        {"nano_dollars": -1},
        {"cached_tokens": -1},
        {"input_tokens": True},
        {"input_tokens": nan},
        {"nano_dollars": inf},
        {"input_tokens": 10**30},
    ],
    ids=repr,
)
async def test_a_reply_with_an_impossible_usage_is_a_failure_of_its_model(
    talk: Conversation,
    usage: dict[str, Any],  # Any: the mistakes under test
) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("operator"), "It failed."],
        "operator": [ModelReply(calls=(ToolCall("fs_list"),), usage=Usage(**usage))],
    }

    events = await talk(ScriptedModel(script), limits=Limits(tokens=100_000)).say("go")

    (delegation,) = (event for event in events if isinstance(event, DelegationFinished))
    assert delegation.outcome == "failed"
    assert "usage" in delegation.cause


@pytest.mark.parametrize("number", [nan, inf, -1])
@pytest.mark.parametrize("limit", ["dollars", "seconds", "tool_calls"])
def test_a_limit_that_is_no_number_from_zero_on_is_an_error(
    limit: str,
    number: Any,  # Any: the mistakes under test
) -> None:
    with pytest.raises(DefinitionError, match=f"'{limit}'"):
        Limits(**{limit: number})


async def test_a_server_that_counts_no_tokens_does_not_lift_their_limit(talk: Conversation) -> None:
    uncounted = ModelReply("x" * 4_000, (ToolCall("fs_list"),))
    delegating = ModelReply(calls=(transfer("operator"),), usage=Usage(1, 1))
    script = {"orchestrator": [delegating], "operator": [uncounted]}

    events = await talk(ScriptedModel(script), limits=Limits(tokens=900)).begin("go")

    (delegation,) = (event for event in events if isinstance(event, DelegationFinished))
    assert (delegation.outcome, delegation.usage) == ("over_budget", Usage())


def unpriced(events: list[Event]) -> list[str]:
    return [event.model for event in events if isinstance(event, PriceUnknown)]


async def test_a_limit_of_dollars_that_cannot_hold_is_said_once_for_each_model(talk: Conversation) -> None:
    model = ScriptedModel([transfer("operator"), "two", "done"], name="vendor/new")

    events = await talk(model, limits=Limits(dollars=1.0)).say("go")

    assert unpriced(events) == ["vendor/new"]


@pytest.mark.parametrize(
    ("reply", "limits"),
    [
        (ModelReply("hi", usage=Usage(10, 2, 7)), Limits(dollars=1.0)),
        (ModelReply("hi", usage=Usage(10, 2), free=True), Limits(dollars=1.0)),
        (ModelReply("hi", usage=Usage(10, 2)), Limits()),
    ],
    ids=["priced", "free", "no limit"],
)
async def test_a_limit_that_holds_needs_no_warning(
    talk: Conversation, reply: ModelReply, limits: Limits
) -> None:
    assert unpriced(await talk(ScriptedModel([reply]), limits=limits).say("go")) == []


async def test_a_resumed_turn_does_not_say_it_again(talk: Conversation, database: Database) -> None:
    limits = Limits(dollars=1.0)
    begun = await talk(ScriptedModel([transfer("operator"), "two", "done"]), limits=limits).say("go")
    first = next(event.seq for event in begun if event.kind == "delegation_finished")
    database.execute("DELETE FROM events WHERE seq > ?", (first,))
    database.execute("UPDATE turns SET state = 'running'")

    events = await talk(ScriptedModel(["done"]), limits=limits).resume(begun)

    assert isinstance(events[-1], TurnFinished)
    assert unpriced(events) == []


class TirelessModel(ScriptedModel):
    """Streams without ever waiting for anything."""

    def __init__(self, piece: str) -> None:
        super().__init__()
        self._piece = piece

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        for piece in repeat(self._piece, _MANY):
            yield TextDelta(piece)


@pytest.mark.parametrize("piece", ["", "x"])
async def test_a_model_that_never_waits_runs_into_the_time_limit(talk: Conversation, piece: str) -> None:
    events = await talk(TirelessModel(piece), limits=Limits(seconds=0.05)).begin("go")

    end = events[-1]
    assert isinstance(end, TurnFailed)
    assert end.cause == "timeout"


async def test_beside_a_model_that_never_waits_others_go_on_and_it_can_be_stopped(talk: Conversation) -> None:
    tireless, other = talk(TirelessModel("x")), talk(ScriptedModel(["hello"]))
    endless = asyncio.create_task(tireless.begin("go", "s1"))

    events = await other.say("hi", "s2")
    assert isinstance(events[-1], TurnFinished)
    assert tireless.runner.running.cancel_turn("s1")

    assert isinstance((await endless)[-1], TurnCancelled)


class LongModel(ScriptedModel):
    """Gives a reply of many megabytes, in pieces or at once."""

    def __init__(self, piece: str, pieces: int, reply: str) -> None:
        super().__init__()
        self._items: list[ModelItem] = [*repeat(TextDelta(piece), pieces), ModelReply(reply)]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        for item in self._items:
            yield item


@pytest.mark.parametrize(
    "model",
    [LongModel("x" * 100_000, 60, "x"), LongModel("x", 1, "x" * 6_000_000)],
    ids=["streamed", "whole"],
)
async def test_a_reply_has_a_length_at_which_it_is_the_models_failure(
    talk: Conversation, model: LongModel
) -> None:
    events = await talk(model).begin("go")

    end = events[-1]
    assert isinstance(end, TurnFailed)
    assert "longer than 4,000,000 characters" in end.text
    assert len(streamed(events)) <= 4_000_000
