"""A model that follows a script: the only fake in Sestet's tests, and a public part of the package."""

from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, cast

from sestet.core.errors import ScriptError
from sestet.core.message import ToolCall
from sestet.core.model import (
    CHARACTERS_PER_TOKEN,
    ModelItem,
    ModelReply,
    ModelRequest,
    TextDelta,
    Usage,
)

#: A text, one or several calls, a whole reply, an error to raise, or a function of the request.
ScriptItem: TypeAlias = (
    "str | ToolCall | Sequence[ToolCall] | ModelReply | Exception | Callable[[ModelRequest], ScriptItem]"
)

Script: TypeAlias = Mapping[str, Iterable[ScriptItem]]

_ANY_AGENT = ""


class ScriptedModel:
    """Replies from a list, or from one list for each agent name; records every request.

    It raises when the script has no reply left, and on ``close`` when replies are left over.
    """

    def __init__(
        self,
        script: "Iterable[ScriptItem] | Script" = (),
        *,
        name: str = "scripted",
        chunk: int = 0,
    ) -> None:
        by_agent = cast("Script", script) if isinstance(script, Mapping) else {_ANY_AGENT: script}
        self._script = {agent: deque(items) for agent, items in by_agent.items()}
        self._missing: ScriptError | None = None
        self._chunk = chunk
        self.name = name
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        self.requests.append(request)
        reply = self._reply(self._next(request), request)
        for piece in self._pieces(reply.text):
            yield TextDelta(piece)
        yield reply

    async def close(self) -> None:
        if self._missing:
            raise self._missing
        left = {agent or "any agent": len(items) for agent, items in self._script.items() if items}
        if left:
            raise ScriptError(f"the script has replies left over: {left}")

    def _next(self, request: ModelRequest) -> ScriptItem:
        items = self._script.get(request.agent, self._script.get(_ANY_AGENT))
        if not items:
            self._missing = ScriptError(f"the script has no reply left for '{request.agent}'")
            raise self._missing
        return items.popleft()

    def _reply(self, item: ScriptItem, request: ModelRequest) -> ModelReply:
        if isinstance(item, ModelReply):
            return item
        if isinstance(item, str):
            return ModelReply(item, usage=_estimate(request, item))
        if isinstance(item, ToolCall):
            return ModelReply(calls=(item,), usage=_estimate(request, ""))
        if isinstance(item, Exception):
            raise item
        if isinstance(item, Sequence):
            return ModelReply(calls=tuple(cast("Sequence[ToolCall]", item)), usage=_estimate(request, ""))
        return self._reply(item(request), request)

    def _pieces(self, text: str) -> Iterable[str]:
        if not text:
            return ()
        size = self._chunk or len(text)
        return (text[start : start + size] for start in range(0, len(text), size))


def _estimate(request: ModelRequest, text: str) -> Usage:
    read = len(request.instruction) + sum(len(message.text) for message in request.messages)
    return Usage(read // CHARACTERS_PER_TOKEN, len(text) // CHARACTERS_PER_TOKEN)
