"""A small model behind the same seam: its prompts are short, its replies are read tolerantly."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from typing import cast

from sestet.core.agent import REJECT_TASK, TRANSFER, AgentSpec
from sestet.core.errors import ModelError
from sestet.core.message import MemoryMessage, ToolMessage, UserMessage
from sestet.core.model import Model, ModelItem, ModelReply, ModelRequest, TextDelta
from sestet.core.record import replace
from sestet.core.schema import JsonObject
from sestet.core.tool import Tool
from sestet.models.small.prompt import SmallPrompt, repeats_itself, reply_schema, sources_of, to_plain
from sestet.models.small.reading import read_reply
from sestet.models.small.stream import AnswerStream

_log = logging.getLogger("sestet.models")
#: The owner of what the orchestrator answers itself.
DIRECT = "direct"


def _anybody(request: str) -> Collection[str]:
    return ()


class SmallModel:
    """Another model that has no calls of its own, or none that can be relied on: they are made in text.

    ``owners_of`` tells whose work a request may be, without asking any model: names of agents, and ``direct``
    for an answer of the orchestrator's own; nothing: anybody's.
    """

    def __init__(
        self, model: Model, specs: Sequence[AgentSpec], owners_of: Callable[[str], Collection[str]] = _anybody
    ) -> None:
        self._model = model
        self._owners_of = owners_of
        self._prompt = SmallPrompt(specs)
        #: Whether its replies are held to a schema.
        self._held = True

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if all(tool.name == REJECT_TASK for tool in request.tools):
            # Who has no other tool declines whatever it is asked: it may write as it likes.
            request = request._replace(tools=())
        try:
            async with aclosing(self._read(request)) as items:
                async for item in items:
                    yield item
            return
        except ModelError as error:
            if error.kind != "bad_request" or not request.tools or not self._held:
                raise
            # Whatever it did not like about the form, it can be asked for in words alone.
            _log.warning("%s takes no schema for its replies: %s", self.name, error)
            self._held = False
        async with aclosing(self._read(request)) as items:
            async for item in items:
                yield item

    async def _read(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        """The reply with the calls that stand in it, its answer shown as it comes."""
        answer = AnswerStream()
        # In a thread: what is certain has to be loaded once.
        plain = await asyncio.to_thread(self.plain, request)
        async with aclosing(self._model.stream(plain)) as items:
            async for item in items:
                match item:
                    case TextDelta(text):
                        if piece := answer.feed(text) if request.tools else text:
                            yield TextDelta(piece)
                    case ModelReply() if request.tools:
                        text, calls = read_reply(item.text, request.tools, _data_in(request))
                        if not calls and (rest := answer.rest(text)):
                            yield TextDelta(rest)
                        yield item._replace(text=text, calls=calls)
                    case _:
                        yield item

    def plain(self, request: ModelRequest) -> ModelRequest:
        """The request as the model is shown it: texts only, and the form of its reply."""
        if not request.tools:
            return request._replace(messages=to_plain(request.messages))
        delegates = any(tool.name == TRANSFER for tool in request.tools)
        return ModelRequest(
            request.agent,
            self._prompt.instruction(request.instruction, request.tools),
            to_plain(request.messages, past_in_brief=delegates),
            (),
            self._schema(request, delegates) if self._held else None,
        )

    def _schema(self, request: ModelRequest, delegates: bool) -> JsonObject:
        """What the reply may be. A small orchestrator may only choose among those whose work it may be."""
        last, tools, may_answer = request.messages[-1], request.tools, True
        if repeats_itself(request.messages):
            tools = ()
        if delegates and isinstance(last, UserMessage):
            owners = self._owners_of(last.text)
            here = [name for name in _agents(request.tools) if name in owners]
            if here:
                tools = tuple(_only(tool, here) for tool in request.tools)
                may_answer = DIRECT in owners
            elif DIRECT in owners:
                tools = ()
        return reply_schema(tools, sources_of(request.messages), may_answer=may_answer)

    async def close(self) -> None:
        await self._model.close()


def _data_in(request: ModelRequest) -> Sequence[str]:
    """What was given to the model to read, and is nobody's request."""
    return [m.text for m in request.messages if isinstance(m, ToolMessage | MemoryMessage)]


def _agents(tools: Sequence[Tool]) -> Sequence[str]:
    """Whom the orchestrator can ask."""
    (transfer,) = (tool for tool in tools if tool.name == TRANSFER)
    properties = cast("Mapping[str, JsonObject]", transfer.parameters["properties"])
    return cast("Sequence[str]", properties["agent_name"]["enum"])


def _only(tool: Tool, agent_names: Sequence[str]) -> Tool:
    """The same tool with these agents to choose from."""
    if tool.name != TRANSFER:
        return tool
    properties = cast("Mapping[str, JsonObject]", tool.parameters["properties"])
    named = {**properties["agent_name"], "enum": list(agent_names)}
    return replace(tool, parameters={**tool.parameters, "properties": {**properties, "agent_name": named}})
