"""What a turn does when a model fails on the way to its reply."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from sestet.core.errors import FailureKind, ModelError
from sestet.core.event import ModelRetried, TurnFailed
from sestet.core.message import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, Setback, Usage
from sestet.models.scripted import ScriptedModel
from sestet.runtime.history import shortened
from sestet.storage.event_json import decode, encode
from tests.runtime.conftest import Conversation
from tests.runtime.transcript import transcript, transfer

TOO_LONG = ModelError("The conversation is too long for 'tiny'.", "context_too_long")
LONG = "x" * 500


async def test_a_conversation_that_is_too_long_is_shown_without_its_older_half_and_that_is_on_record(
    talk: Conversation,
) -> None:
    model = ScriptedModel(["one", "two", "three", "four", TOO_LONG, "five"])
    conversation = talk(model)
    for text in ("first", "second", "third", "fourth"):
        await conversation.begin(text)

    events = await conversation.say("fifth")

    assert transcript(events)[1:] == [
        ("orchestrator", "asks scripted after context_too_long"),
        ("orchestrator", "thinks → five"),
        ("orchestrator", "answers five"),
    ]
    (told,) = (event for event in events if isinstance(event, ModelRetried))
    assert told.text == f"{TOO_LONG} It is asked again without the oldest 4 messages."
    said = [message.text for message in model.requests[-1].messages]
    assert said == ["third", "three", "fourth", "four", "fifth"]


async def test_each_step_of_a_turn_may_make_it_shorter_by_what_is_still_from_earlier_turns(
    talk: Conversation,
) -> None:
    steps = [TOO_LONG, transfer("operator"), TOO_LONG, "six"]
    model = ScriptedModel({"orchestrator": ["one", "two", "three", "four", *steps], "operator": ["five"]})
    conversation = talk(model)
    for text in ("first", "second", "third", "fourth"):
        await conversation.begin(text)

    await conversation.say("fifth")

    said = [message.text for message in model.requests[-1].messages]
    assert said[:4] == ["fourth", "four", "fifth", ""]


async def test_it_is_made_shorter_once_and_then_the_turn_fails_with_the_reason(talk: Conversation) -> None:
    conversation = talk(ScriptedModel(["one", TOO_LONG, TOO_LONG]))
    await conversation.begin("first")

    events = await conversation.say("second")

    assert isinstance(events[-1], TurnFailed)
    assert events[-1].text == f"I could not answer: the model failed: {TOO_LONG}"


async def test_nothing_that_could_be_left_out_is_a_failure_at_once(talk: Conversation) -> None:
    model = ScriptedModel([TOO_LONG])

    events = await talk(model).say("first")

    assert isinstance(events[-1], TurnFailed)
    assert len(model.requests) == 1


@pytest.mark.parametrize("kind", ["bad_request", "auth", "content_filter", "transient", "other"])
async def test_other_failures_are_not_answered_with_a_shorter_conversation(
    kind: FailureKind, talk: Conversation
) -> None:
    conversation = talk(ScriptedModel(["one", ModelError("No.", kind)]))
    await conversation.begin("first")

    assert isinstance((await conversation.say("second"))[-1], TurnFailed)


async def test_a_specialist_is_shown_its_request_without_older_results(talk: Conversation) -> None:
    model = ScriptedModel(
        {
            "orchestrator": [transfer("operator", reply=True)],
            "operator": [
                ToolCall("fs_big"),
                ToolCall("fs_list", {"path": LONG}),
                TOO_LONG,
                "done",
            ],
        }
    )

    await talk(model).say("go")

    full, shorter = (request.messages for request in model.requests[-2:])
    assert [type(message) for message in shorter] == [type(message) for message in full]
    assert shorter[0] == full[0]
    assert "was left out" in shorter[2].text
    assert shorter[4] == full[4]


# The messages that are left


def conversation(*words: str) -> list[Message]:
    return [UserMessage(word) if word.isupper() else AssistantMessage(word) for word in words]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("A a B b C", "B b C"),
        ("A a C", "C"),
        ("A a a a a B b C", "B b C"),
        ("A a B b D d E e C", "D d E e C"),
    ],
)
def test_earlier_turns_are_left_out_whole(words: str, left: str) -> None:
    messages = conversation(*words.split())
    assert shortened(messages, len(messages) - 1) == conversation(*left.split())


def test_short_results_are_not_worth_leaving_out() -> None:
    messages = [UserMessage("A"), AssistantMessage("", (ToolCall("t", id="c"),)), ToolMessage("c", "t", "ok")]
    assert shortened(messages, 0) is None


@pytest.mark.parametrize(
    "reply",
    [
        {"text": None},
        {"calls": ("fs_list",)},
        {"usage": None},
    ],
    ids=repr,
)
async def test_a_reply_of_the_wrong_form_is_the_models_failure_and_not_ours(
    talk: Conversation,
    reply: Any,  # Any: the mistakes under test
) -> None:
    events = await talk(ScriptedModel([ModelReply(**reply)])).say("hello")

    assert isinstance(events[-1], TurnFailed)
    assert "the model failed: 'scripted' gave a reply whose text, calls or usage" in events[-1].text


class CarelessModel(ScriptedModel):
    """Reports a failure that the journal could not read again."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        yield Setback("m", "cosmic rays", "busy", 1.0, "m")  # pyright: ignore[reportArgumentType] - the mistake
        async for item in super().stream(request):
            yield item


@pytest.mark.parametrize(
    "model",
    [
        ScriptedModel([ModelReply("hello", usage=Usage(1.5, 1))]),  # pyright: ignore[reportArgumentType] - the mistake
        ScriptedModel([ModelReply("hello", model=b"m")]),  # pyright: ignore[reportArgumentType] - the mistake
        CarelessModel(),
    ],
)
async def test_what_the_journal_could_not_read_again_fails_the_call_and_not_the_session(
    talk: Conversation, model: ScriptedModel
) -> None:
    conversation = talk(model)
    events = await conversation.say("hi")
    assert isinstance(events[-1], TurnFailed)
    assert [decode(event.stamp, event.kind, encode(event)) for event in events] == events
