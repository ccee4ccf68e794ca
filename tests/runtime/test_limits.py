"""Limits of time, tokens and money; agents that work on one delegation at a time."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from sestet.api import default_specs
from sestet.core.event import DelegationFinished, Event
from sestet.core.message import ToolCall
from sestet.core.model import ModelItem, ModelReply, ModelRequest, Usage
from sestet.core.record import replace
from sestet.models.scripted import ScriptedModel
from sestet.runtime.limits import Limits
from tests.runtime.conftest import Conversation
from tests.runtime.models import HangingModel
from tests.runtime.transcript import transcript, transfer


def results(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.agent, event.outcome) for event in events if isinstance(event, DelegationFinished)]


async def test_a_specialist_that_hangs_is_a_timeout_and_the_orchestrator_answers(
    talk: Conversation,
) -> None:
    model = HangingModel([transfer("operator"), "It took too long."])

    events = await talk(model, limits=Limits(delegation_seconds=0.05)).say("go")

    assert results(events) == [("operator", "timeout")]
    assert transcript(events)[-1] == ("orchestrator", "answers It took too long.")


async def test_one_delegation_is_stopped_and_the_turn_goes_on(talk: Conversation) -> None:
    conversation = talk(HangingModel([transfer("operator"), "You stopped it."]))
    events: list[Event] = []

    async for event in conversation.runner.run_turn("s1", "go"):
        events.append(event)
        if event.kind == "delegation_started":
            assert conversation.runner.running.cancel_delegation("s1", event.delegation_id)

    assert results(events) == [("operator", "cancelled")]
    assert transcript(events)[-1] == ("orchestrator", "answers You stopped it.")
    assert not conversation.runner.running.cancel_delegation("s1", "d1")


@pytest.mark.parametrize(
    ("limits", "said"),
    [(Limits(tokens=100), "the limit of 100 tokens"), (Limits(dollars=0.5), "the limit of 0.5 dollars")],
)
async def test_tokens_and_money_of_a_turn_are_limited(talk: Conversation, limits: Limits, said: str) -> None:
    dear = ModelReply(calls=(ToolCall("fs_list", {}),), usage=Usage(90, 20, 600_000_000))
    conversation = talk(
        ScriptedModel({"orchestrator": [transfer("operator")], "operator": [dear]}), limits=limits
    )

    events = await conversation.begin("go")

    assert results(events) == [("operator", "over_budget")]
    assert said in transcript(events)[-2][1]
    assert transcript(events)[-1] == ("orchestrator", "fails: over_budget")


class CountingModel(ScriptedModel):
    """Counts how many specialists are asked at the same time."""

    together = 0
    most = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if request.agent != "orchestrator":
            self.together += 1
            self.most = max(self.most, self.together)
            await asyncio.sleep(0)
            self.together -= 1
        async for item in super().stream(request):
            yield item


@pytest.mark.parametrize(("exclusive", "most"), [(True, 1), (False, 2)])
async def test_delegations_to_an_exclusive_agent_wait_for_each_other(
    talk: Conversation, exclusive: bool, most: int
) -> None:
    both = [transfer("operator", "one"), transfer("operator", "two")]
    model = CountingModel({"orchestrator": [both, "done"], "operator": ["1", "2"]})
    specs = [replace(spec, exclusive=exclusive) for spec in default_specs()]

    await talk(model, specs=specs).say("go")

    assert model.most == most
