"""What a model reads and writes: the messages of one context."""

from dataclasses import field
from typing import NamedTuple, TypeAlias

from sestet.core.record import Values, record
from sestet.core.schema import JsonObject


@record
class ToolCall(Values):
    """A call that a model asks for. ``malformed`` holds arguments that were not a JSON object."""

    name: str
    arguments: JsonObject = field(default_factory=dict[str, str])
    id: str = ""
    malformed: str = ""


class UserMessage(NamedTuple):
    """The words an agent has to act on: the person's, or the request of a delegation."""

    text: str


class AssistantMessage(NamedTuple):
    """What the model said, and the calls it asked for."""

    text: str
    calls: tuple[ToolCall, ...] = ()


class ToolMessage(NamedTuple):
    """The answer to one call."""

    call_id: str
    name: str
    text: str
    failed: bool = False


class MemoryMessage(NamedTuple):
    """What is remembered that has to do with the next user message; data, and nobody's request."""

    text: str


Message: TypeAlias = MemoryMessage | UserMessage | AssistantMessage | ToolMessage
