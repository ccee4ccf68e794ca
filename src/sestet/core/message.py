"""What a model reads and writes: the messages of one context."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple, TypeAlias, cast

from sestet.core.record import Record, field
from sestet.core.schema import JsonObject, JsonValue

#: Python's JSON reader refuses numbers of more than 4,300 digits; this many bits stay below that.
_MOST_BITS = 14_000


class ToolCall(Record):
    """A call that a model asks for. ``malformed`` holds arguments that were not a JSON object."""

    name: str
    arguments: JsonObject = field(default_factory=dict[str, str])
    id: str = ""
    malformed: str = ""


class UserMessage(NamedTuple):
    """The words an agent has to act on: the person's, or the request of a delegation."""

    text: str
    #: The person's local time at the beginning of the turn; empty: unknown.
    said_at: str = ""

    @property
    def dated(self) -> str:
        """The text as a model reads it, after its time."""
        return f"[Sent {self.said_at}]\n{self.text}" if self.said_at else self.text


class AssistantMessage(NamedTuple):
    """What the model said, and the calls it asked for."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    #: What the specialist found that answers the person itself, as in ``ToolMessage``.
    found: tuple["Found", ...] = ()


class Found(NamedTuple):
    """One thing that a tool found, such as a file or a memory, apart from the text of its result."""

    #: The name to use in a later call: a path, an id such as m3, the title of an entry.
    name: str
    #: What it says; for a file in a folder, its size.
    text: str = ""
    #: What it is, if a result has things of several kinds: the role of a control of a page.
    kind: str = ""


class ToolMessage(NamedTuple):
    """The answer to one call."""

    call_id: str
    name: str
    text: str
    failed: bool = False
    #: The same for the person, where ``text`` instructs the model; empty: ``text`` is for both.
    for_person: str = ""
    #: The sources of the passages in ``text``, as an answer may cite them.
    citations: tuple[str, ...] = ()
    #: What was found, for models that cannot read it out of ``text``.
    found: tuple[Found, ...] = ()


class MemoryMessage(NamedTuple):
    """Stored memories that match the next user message: data, not a request."""

    text: str


def whole(text: str) -> str:
    """The text with "?" for each half character (lone surrogate), which databases and models refuse."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def plain(value: object) -> JsonValue:
    """A value as JSON, with whole characters; ``TypeError`` or ``ValueError`` if JSON cannot hold it."""
    if isinstance(value, str):
        return whole(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError("a number is not finite")
        return value
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise ValueError("a number is too long")
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, (dict, Mapping)):
        return plain_object(cast("object", value))
    raise TypeError(f"a {type(value).__name__} is no JSON")


def plain_object(values: object) -> dict[str, JsonValue]:
    """An object as JSON, with texts as names; the same errors as ``plain``."""
    if not isinstance(values, (dict, Mapping)):
        raise TypeError(f"a {type(values).__name__} is no object")
    found: dict[str, JsonValue] = {}
    for name, value in cast("Mapping[object, object]", values).items():
        if not isinstance(name, str):
            raise TypeError(f"a {type(name).__name__} is no name")
        found[whole(name)] = plain(value)
    return found


Message: TypeAlias = MemoryMessage | UserMessage | AssistantMessage | ToolMessage
