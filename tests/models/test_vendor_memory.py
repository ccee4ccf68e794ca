"""Remembered facts and the time are sent at the head of the person's message."""

from pydantic_ai.messages import ModelRequest, UserPromptPart

from sestet.core.message import AssistantMessage, MemoryMessage, UserMessage
from sestet.models.vendor.wire import to_messages


def test_memory_and_message_are_one_message_since_servers_refuse_two_in_a_row() -> None:
    first, _, last = to_messages(
        [UserMessage("hello"), AssistantMessage("Hi."), MemoryMessage("[Memory]"), UserMessage("which tea?")]
    )

    assert isinstance(first, ModelRequest)
    assert isinstance(last, ModelRequest)
    (part,) = last.parts
    assert isinstance(part, UserPromptPart)
    assert part.content == "[Memory]\n\nwhich tea?"


def test_each_message_is_sent_with_its_own_time() -> None:
    first, _, last = to_messages(
        [
            UserMessage("hello", "Sunday, 12:00"),
            AssistantMessage("Hi."),
            MemoryMessage("[Memory]"),
            UserMessage("which tea?", "Monday, 12:00"),
        ]
    )

    sent = [part for message in (first, last) for part in message.parts]
    assert [part.content for part in sent if isinstance(part, UserPromptPart)] == [
        "[Sent Sunday, 12:00]\nhello",
        "[Memory]\n\n[Sent Monday, 12:00]\nwhich tea?",
    ]
