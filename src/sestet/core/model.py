"""The seam between a turn and any LLM."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from contextvars import ContextVar
from typing import NamedTuple, Protocol, TypeAlias

from sestet.core.errors import FailureKind, ModelError
from sestet.core.message import Message, ToolCall
from sestet.core.record import Record
from sestet.core.schema import JsonObject
from sestet.core.tool import Tool

#: A rough estimate for texts that no model has counted.
CHARACTERS_PER_TOKEN = 4
#: A longer reply is a failure of its model.
LONGEST_REPLY = 4_000_000
#: After this many items of a stream, other tasks run, even if the model never waits.
_ITEMS_IN_A_ROW = 128


#: The client's own name for the message of the running turn, for the model that answers by rules.
MESSAGE_KEY: ContextVar[str] = ContextVar("message_key", default="")


class ModelRequest(NamedTuple):
    """One question to a model: everything it is shown, and nothing else."""

    agent: str
    instruction: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    #: The JSON Schema that the reply's text must fit, for models that support one.
    schema: JsonObject | None = None


class Usage(Record):
    """What one model call used."""

    input_tokens: int = 0
    output_tokens: int = 0
    #: Price in billionths of a dollar: whole numbers add up exactly.
    nano_dollars: int = 0
    #: Input tokens that the vendor had cached from an earlier call; they cost less.
    cached_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.nano_dollars + other.nano_dollars,
            self.cached_tokens + other.cached_tokens,
        )


class TextDelta(NamedTuple):
    """A piece of the reply's text, as it arrives."""

    text: str


class ModelReply(NamedTuple):
    """The whole reply; the last item of every stream."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    #: The model that replied; empty: the one that was asked.
    model: str = ""
    #: It costs nothing, as on this machine. Else a price of 0 is an unknown price.
    free: bool = False


class Setback(NamedTuple):
    """A call failed; the next one goes to the same model, or to the next one in the list."""

    model: str
    kind: FailureKind
    text: str
    #: Seconds until the next call.
    wait: float
    #: The model that is asked next.
    next_model: str


ModelItem: TypeAlias = TextDelta | Setback | ModelReply


class Model(Protocol):
    """An LLM. ``stream`` yields text as it arrives and ends with exactly one ``ModelReply``."""

    @property
    def name(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]: ...

    async def close(self) -> None:
        """Close connections. Called once, when a conversation ended without an error."""
        ...


class StreamGuard:
    """Counts the items of one reply: other tasks run in between, and a reply without end is an error."""

    __slots__ = ("_model", "_number", "_size")

    def __init__(self, model: Model) -> None:
        self._model = model
        self._number = self._size = 0

    def count(self, item: ModelItem) -> bool:
        """Whether other tasks must run now: the time limit and the person stop a model that never waits."""
        self._number += 1
        if isinstance(item, TextDelta):
            self._size += len(item.text)
            require_length(self._model, self._size)
        return self._number % _ITEMS_IN_A_ROW == 0


async def read_stream(model: Model, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
    """The items of one reply, guarded."""
    guard = StreamGuard(model)
    async with aclosing(model.stream(request)) as items:
        async for item in items:
            if guard.count(item):
                await asyncio.sleep(0)
            yield item


def require_length(model: Model, characters: int) -> None:
    """Raise if a reply is longer than ``LONGEST_REPLY``."""
    if characters > LONGEST_REPLY:
        raise ModelError(f"'{model.name}' gave a reply longer than {LONGEST_REPLY:,} characters")
