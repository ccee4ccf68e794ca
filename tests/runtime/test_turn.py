"""A turn from the message to the reply, as transcripts."""

import asyncio
from contextlib import aclosing
from itertools import pairwise

import pytest

from sestet.core.errors import ModelError, PersonError
from sestet.core.event import Event, ModelCalled, TurnFailed, TurnFinished
from sestet.core.message import AssistantMessage, ToolCall, ToolMessage, UserMessage
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.limits import Limits
from tests.runtime.conftest import SAID_AT, Conversation, Talk
from tests.runtime.models import HangingModel, MeetingModel
from tests.runtime.transcript import streamed, transcript, transfer


async def drain(conversation: Talk, text: str) -> None:
    async for _ in conversation.runner.run_turn("s1", text):
        pass


async def test_a_greeting_costs_one_model_call(talk: Conversation) -> None:
    events = await talk(ScriptedModel(["Hello!"])).say("hi")

    assert transcript(events) == [
        ("user", "says hi"),
        ("orchestrator", "thinks → Hello!"),
        ("orchestrator", "answers Hello!"),
    ]


async def test_a_delegated_request_with_one_tool_costs_three_model_calls(talk: Conversation) -> None:
    script = [transfer("operator", "list the files", reply=True), ToolCall("fs_list", {}), "a.txt and b.txt"]

    events = await talk(ScriptedModel(script)).say("what is here?")

    assert transcript(events) == [
        ("user", "says what is here?"),
        ("orchestrator", "thinks → transfer_to_agent"),
        ("orchestrator", "delegates to operator: list the files"),
        ("operator", "thinks → fs_list"),
        ("operator", "calls fs_list"),
        ("operator", "fs_list is ok"),
        ("operator", "thinks → a.txt and b.txt"),
        ("operator", "returns ok: a.txt and b.txt"),
        ("operator", "answers a.txt and b.txt"),
    ]


async def test_without_reply_the_result_returns_to_the_orchestrator(talk: Conversation) -> None:
    model = ScriptedModel([transfer("operator"), "two files", "There are two files."])

    events = await talk(model).say("what is here?")

    assert transcript(events)[-2:] == [
        ("orchestrator", "thinks → There are two files."),
        ("orchestrator", "answers There are two files."),
    ]
    assert isinstance(asked := events[1], ModelCalled)
    assert model.requests[-1].messages[-1] == ToolMessage(asked.calls[0].id, "transfer_to_agent", "two files")


async def test_a_specialist_sees_its_request_and_nothing_of_the_conversation(talk: Conversation) -> None:
    model = ScriptedModel(["Noted.", transfer("operator", "list the files", reply=True), "done"])
    conversation = talk(model)
    await drain(conversation, "my password is swordfish")

    await conversation.say("what is here?")

    request = model.requests[-1]
    assert request.agent == "operator"
    assert request.messages == (UserMessage("list the files", SAID_AT),)
    assert "swordfish" not in request.instruction


async def test_the_next_turn_starts_at_the_orchestrator_with_the_conversation_so_far(
    talk: Conversation,
) -> None:
    model = ScriptedModel([transfer("operator", reply=True), "two files", "You are welcome."])
    conversation = talk(model)
    await drain(conversation, "what is here?")

    await conversation.say("thanks")

    assert model.requests[-1].agent == "orchestrator"
    assert model.requests[-1].messages == (
        UserMessage("what is here?", SAID_AT),
        AssistantMessage("two files"),
        UserMessage("thanks", SAID_AT),
    )


async def test_sessions_do_not_see_each_other(talk: Conversation) -> None:
    model = ScriptedModel(["one", "two"])
    conversation = talk(model)
    await drain(conversation, "first")

    await conversation.say("second", session_id="s2")

    assert model.requests[-1].messages == (UserMessage("second", SAID_AT),)


async def test_history_leaves_the_prompt_when_the_context_budget_is_used_up(talk: Conversation) -> None:
    model = ScriptedModel(["a" * 1500, "b" * 1500, "c"])
    conversation = talk(model, context_tokens=500)
    for text in ("first", "second"):
        await drain(conversation, text)

    await conversation.say("third")

    shown = [message.text for message in model.requests[-1].messages]
    assert shown == ["second", "b" * 1500, "third"]


async def test_a_long_conversation_begins_with_the_same_words_for_a_while(talk: Conversation) -> None:
    time = len(UserMessage("", SAID_AT).dated)
    model = ScriptedModel(["r" * (90 - time)] * 60)
    conversation = talk(model, context_tokens=500)
    for number in range(60):
        await drain(conversation, f"{number:010}")

    beginnings = [request.messages[0].text for request in model.requests]

    # Twenty turns fit; the next one drops the oldest six.
    changes = sum(before != after for before, after in pairwise(beginnings))
    assert changes == 7
    assert all(sum(len(m.text) for m in request.messages[:-1]) <= 2000 for request in model.requests)


async def test_several_delegations_in_one_reply_run_at_the_same_time(talk: Conversation) -> None:
    both = [transfer("operator"), transfer("librarian")]
    model = MeetingModel({"orchestrator": [both, "both done"], "operator": ["o"], "librarian": ["l"]})

    events = await talk(model).say("do two things")

    assert transcript(events)[-1] == ("orchestrator", "answers both done")
    assert [message.text for message in model.requests[-1].messages[-2:]] == ["o", "l"]


async def test_events_are_in_the_journal_before_they_are_shown(talk: Conversation) -> None:
    conversation = talk(ScriptedModel([transfer("operator", reply=True), ToolCall("fs_list", {}), "done"]))

    async for event in conversation.runner.run_turn("s1", "go"):
        stored = {e.seq for e in conversation.journal.events_of(event.stamp.turn_id)}
        assert event.seq in stored or event.kind == "text_streamed"


async def test_the_journal_gives_back_exactly_the_events_of_the_turn(talk: Conversation) -> None:
    conversation = talk(
        ScriptedModel([transfer("operator", reply=True), ToolCall("fs_list", {"path": "ü"}), "done"])
    )

    events = await conversation.say("go")

    stored = list(conversation.journal.events_of(events[0].stamp.turn_id))
    assert stored == [event for event in events if event.kind != "text_streamed"]


async def test_text_is_streamed_in_pieces_and_the_reply_is_whole(talk: Conversation) -> None:
    events = await talk(ScriptedModel(["Hello there, friend."], chunk=3)).say("hi")

    assert sum(event.kind == "text_streamed" for event in events) > 3
    assert streamed(events) == "Hello there, friend."
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].text == "Hello there, friend."


async def test_usage_of_all_model_calls_adds_up_to_the_turn(talk: Conversation) -> None:
    events = await talk(
        ScriptedModel([transfer("operator", reply=True), ToolCall("fs_list", {}), "done"])
    ).say("go")

    calls = [event.usage for event in events if isinstance(event, ModelCalled)]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].usage.input_tokens == sum(usage.input_tokens for usage in calls) > 0
    assert events[-1].usage.output_tokens == sum(usage.output_tokens for usage in calls)


async def test_cancelling_ends_the_turn_and_everything_that_works_for_it(talk: Conversation) -> None:
    conversation = talk(HangingModel([transfer("operator")]))
    events: list[Event] = []

    async for event in conversation.runner.run_turn("s1", "go"):
        events.append(event)
        if event.kind == "delegation_started":
            assert conversation.runner.running.cancel_turn("s1")

    assert transcript(events)[-1] == ("user", "stops")
    assert not conversation.runner.running.cancel_turn("s1")


async def test_a_reader_that_goes_away_stops_the_turn(talk: Conversation) -> None:
    conversation = talk(HangingModel([transfer("operator")]))

    async with aclosing(conversation.runner.run_turn("s1", "go")) as reader:
        first = await anext(reader)

    assert [event.kind for event in conversation.journal.events_of(first.stamp.turn_id)][
        -1
    ] == "turn_cancelled"


async def test_a_second_message_to_a_busy_session_waits(talk: Conversation) -> None:
    model = ScriptedModel(["one", "two"])
    conversation = talk(model)

    await asyncio.gather(drain(conversation, "first"), drain(conversation, "second"))

    assert [message.text for message in model.requests[-1].messages] == ["first", "one", "second"]


async def test_one_flat_agent_calls_tools_itself(talk: Conversation) -> None:
    model = ScriptedModel([ToolCall("fs_list", {}), "two files"])

    events = await talk(model, multi_agent=False).say("what is here?")

    assert transcript(events)[1:] == [
        ("assistant", "thinks → fs_list"),
        ("assistant", "calls fs_list"),
        ("assistant", "fs_list is ok"),
        ("assistant", "thinks → two files"),
        ("assistant", "answers two files"),
    ]
    assert "transfer_to_agent" not in {tool.name for tool in model.requests[0].tools}


async def test_a_failing_model_of_the_orchestrator_is_a_typed_failure_of_the_turn(talk: Conversation) -> None:
    events = await talk(ScriptedModel([ModelError("no connection")])).say("hi")

    assert isinstance(events[-1], TurnFailed)
    assert events[-1].text == "I could not answer: the model failed: no connection."


async def test_a_turn_that_takes_too_long_is_a_typed_failure(talk: Conversation) -> None:
    conversation = talk(HangingModel([transfer("operator")]), limits=Limits(seconds=0.05))

    events = await conversation.say("go")

    assert transcript(events)[-1] == ("orchestrator", "fails: timeout")


async def test_a_turn_cancelled_before_its_first_step_ends_for_its_reader(talk: Conversation) -> None:
    conversation = talk(ScriptedModel([]))

    async def read() -> list[Event]:
        return [event async for event in conversation.runner.run_turn("s1", "go")]

    reader = asyncio.create_task(read())
    for _ in range(100):
        if conversation.runner.running.cancel_turn("s1"):
            break
        await asyncio.sleep(0)

    assert transcript(await asyncio.wait_for(reader, 5)) == [("user", "says go"), ("user", "stops")]


async def test_a_cancelled_turn_has_a_result_for_each_of_its_delegations(talk: Conversation) -> None:
    conversation = talk(HangingModel([[transfer("operator"), transfer("librarian")]]))
    events: list[Event] = []

    async for event in conversation.runner.run_turn("s1", "go"):
        events.append(event)
        if event.kind == "delegation_started":
            conversation.runner.running.cancel_turn("s1")

    finished = [event.kind for event in events].count("delegation_finished")
    assert finished == [event.kind for event in events].count("delegation_started") > 0
    assert transcript(events)[-1] == ("user", "stops")


@pytest.mark.parametrize(
    ("session_id", "text"), [("", "hi"), ("a\nb", "hi"), ("x" * 201, "hi"), ("s1", " \n")]
)
async def test_a_name_or_message_that_cannot_be_used_is_a_clear_error_and_leaves_nothing(
    talk: Conversation, session_id: str, text: str
) -> None:
    conversation = talk(ScriptedModel([]))

    with pytest.raises(PersonError):
        await conversation.begin(text, session_id)

    assert conversation.journal.sessions() == []


async def test_half_characters_end_nothing(talk: Conversation) -> None:
    half = "\ud800"
    script: list[ScriptItem] = [
        transfer("operator", half),
        ToolCall("fs_list", {"path": half}),
        half,
        f"done {half}",
    ]

    events = await talk(ScriptedModel(script)).say(f"go {half}")

    assert isinstance(events[-1], TurnFinished)
    assert list(talk(ScriptedModel([])).journal.events_of(events[0].stamp.turn_id))
