"""A turn that is stopped at any moment ends exactly once and releases its session."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

import pytest

from sestet.core.event import END_OF_TURN, DelegationFinished, DelegationStarted, Event
from sestet.core.message import ToolCall
from sestet.core.model import ModelItem, ModelRequest
from sestet.core.tool import tool
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.runner import Runner
from tests.runtime.conftest import Conversation, Talk
from tests.runtime.transcript import transcript, transfer

#: More rounds of the event loop than these turns take.
_MOST_ROUNDS = 200


class StepwiseModel(ScriptedModel):
    """Yields to the event loop between any two pieces."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        async for item in super().stream(request):
            await asyncio.sleep(0)
            yield item


@tool(risk="safe", effect="local", reads=(), recovery="unsafe")
async def fs_slow() -> str:
    """Takes a while to run, and to clean up."""
    try:
        await asyncio.sleep(0)
        return "done"
    finally:
        await asyncio.sleep(0)
        await asyncio.sleep(0)


def two_at_work(talk: Conversation) -> Talk:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [[transfer("operator"), transfer("planner")], "both", "the next one"],
        "operator": [ToolCall("fs_slow"), "done"],
        "planner": ["planned"],
    }
    return talk(StepwiseModel(script, chunk=3), tools=[fs_slow])


def one_at_work(talk: Conversation) -> Talk:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("operator"), "both", "the next one"],
        "operator": [ToolCall("fs_slow"), "done"],
    }
    return talk(StepwiseModel(script, chunk=3), tools=[fs_slow])


async def stopped_after(
    rounds: int, conversation: Talk, session_id: str, stop: Callable[[asyncio.Task[None]], object]
) -> tuple[list[Event], bool]:
    """The events of a turn that was stopped at this moment, and whether it had ended before."""
    seen: list[Event] = []

    async def read() -> None:
        async for event in conversation.runner.run_turn(session_id, "go"):
            seen.append(event)

    reader = asyncio.create_task(read())
    for _ in range(rounds):
        await asyncio.sleep(0)
    was_over = reader.done()
    stop(reader)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    stop(reader)
    async with asyncio.timeout(5):
        await asyncio.wait([reader])
    return seen, was_over


def assert_ended_once(conversation: Talk, seen: list[Event]) -> None:
    events = list(conversation.journal.events_of(seen[0].stamp.turn_id))
    assert [isinstance(event, END_OF_TURN) for event in events].count(True) == 1
    assert isinstance(events[-1], END_OF_TURN)
    begun = Counter(event.delegation_id for event in events if isinstance(event, DelegationStarted))
    ended = Counter(event.delegation_id for event in events if isinstance(event, DelegationFinished))
    assert begun == ended
    assert {event for event in seen if event.kind != "text_streamed"} <= set(events)


@pytest.mark.parametrize("at_work", [one_at_work, two_at_work])
async def test_a_turn_whose_reader_is_cancelled_twice_ends_before_the_next_one_begins(
    talk: Conversation, at_work: Callable[[Conversation], Talk]
) -> None:
    for rounds in range(_MOST_ROUNDS):
        conversation, session_id = at_work(talk), f"s{rounds}"
        seen, was_over = await stopped_after(rounds, conversation, session_id, lambda reader: reader.cancel())
        if seen:
            assert_ended_once(conversation, seen)
        assert not conversation.runner.running.cancel_turn(session_id)
        assert conversation.journal.open_turns() == []
        if was_over:
            return
    raise AssertionError("the turn never ended by itself")


@pytest.mark.parametrize(
    ("at_work", "delegation_ids"),
    [
        (one_at_work, ["d1"]),
        (one_at_work, ["d1", "d1"]),
        (two_at_work, ["d1"]),
        (two_at_work, ["d2"]),
        (two_at_work, ["d2", "d1"]),
    ],
)
async def test_a_delegation_that_is_stopped_at_any_moment_does_not_stop_the_turn(
    talk: Conversation, at_work: Callable[[Conversation], Talk], delegation_ids: list[str]
) -> None:
    for rounds in range(_MOST_ROUNDS):
        conversation, session_id = at_work(talk), f"s{rounds}"

        def stop(reader: object, runner: Runner = conversation.runner, session_id: str = session_id) -> None:
            for delegation_id in delegation_ids:
                runner.running.cancel_delegation(session_id, delegation_id)

        seen, was_over = await stopped_after(rounds, conversation, session_id, stop)
        assert transcript(seen)[-1] == ("orchestrator", "answers both")
        assert_ended_once(conversation, seen)
        if was_over:
            return
    raise AssertionError("the turn never ended by itself")


@tool(risk="safe", effect="none", reads=(), recovery="pure")
async def fs_stubborn() -> str:
    """Swallows its cancellation."""
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    return "done all the same"


@pytest.mark.parametrize("multi_agent", [True, False])
async def test_a_tool_that_does_not_stop_is_the_last_thing_that_happens(
    talk: Conversation, *, multi_agent: bool
) -> None:
    script: list[ScriptItem] = [*([transfer("operator")] if multi_agent else []), ToolCall("fs_stubborn")]
    conversation = talk(ScriptedModel(script), tools=[fs_stubborn], multi_agent=multi_agent)
    events: list[Event] = []

    async for event in conversation.runner.run_turn("s1", "go"):
        events.append(event)
        if event.kind == "tool_called":
            assert conversation.runner.running.cancel_turn("s1")

    await conversation.model.close()
    assert ("operator" if multi_agent else "assistant", "fs_stubborn is ok") in transcript(events)
    assert transcript(events)[-1] == ("user", "stops")


async def test_a_delegation_whose_tool_does_not_stop_is_cancelled(talk: Conversation) -> None:
    script: list[ScriptItem] = [transfer("operator"), ToolCall("fs_stubborn"), "You stopped it."]
    conversation = talk(ScriptedModel(script), tools=[fs_stubborn])
    events: list[Event] = []

    async for event in conversation.runner.run_turn("s1", "go"):
        events.append(event)
        if event.kind == "tool_called":
            assert conversation.runner.running.cancel_delegation("s1", "d1")

    (result,) = (event for event in events if isinstance(event, DelegationFinished))
    assert result.outcome == "cancelled"
    assert transcript(events)[-1] == ("orchestrator", "answers You stopped it.")


class StubbornModel(ScriptedModel):
    """Swallows a cancellation, and replies all the same."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if request.agent == "operator":
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        async for item in super().stream(request):
            yield item


async def test_a_delegation_whose_model_does_not_stop_leaves_the_turn_running(talk: Conversation) -> None:
    conversation = talk(StubbornModel([transfer("operator"), "all the same", "It did not stop."]))
    events: list[Event] = []

    async for event in conversation.runner.run_turn("s1", "go"):
        events.append(event)
        if event.kind == "delegation_started":
            assert conversation.runner.running.cancel_delegation("s1", "d1")

    assert transcript(events)[-1] == ("orchestrator", "answers It did not stop.")


async def test_a_turn_that_is_stopped_together_with_its_delegation_ends_as_stopped(
    talk: Conversation,
) -> None:
    conversation = talk(ScriptedModel([transfer("operator"), ToolCall("fs_stubborn")]), tools=[fs_stubborn])
    events: list[Event] = []

    async for event in conversation.runner.run_turn("s1", "go"):
        events.append(event)
        if event.kind == "tool_called":
            assert conversation.runner.running.cancel_delegation("s1", "d1")
            assert conversation.runner.running.cancel_turn("s1")

    await conversation.model.close()
    assert transcript(events)[-1] == ("user", "stops")
