"""A small model behind the same seam: its prompts are short, its replies are read tolerantly."""

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from sestet.core.agent import TRANSFER, AgentSpec
from sestet.core.errors import ModelError
from sestet.core.message import Message, UserMessage
from sestet.core.model import Model, ModelItem, ModelReply, ModelRequest, TextDelta
from sestet.core.tool import Tool
from sestet.models.lexical import route
from sestet.models.small.prompt import SmallPrompt, reply_schema, sources_of, to_plain
from sestet.models.small.reading import read_reply
from sestet.models.small.stream import AnswerStream

_log = logging.getLogger("sestet.models")
_NO_TOOLS: Mapping[str, Sequence[Tool]] = {}


class SmallModel:
    """Another model that has no calls of its own, or none that can be relied on: they are made in text."""

    def __init__(
        self, model: Model, specs: Sequence[AgentSpec], tools: Mapping[str, Sequence[Tool]] = _NO_TOOLS
    ) -> None:
        self._model = model
        self._specs = specs
        self._tools = tools
        self._prompt = SmallPrompt(specs)
        #: Whether its replies are held to a schema.
        self._held = True

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
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
        async with aclosing(self._model.stream(self.plain(request))) as items:
            async for item in items:
                match item:
                    case TextDelta(text):
                        if piece := answer.feed(text) if request.tools else text:
                            yield TextDelta(piece)
                    case ModelReply() if request.tools:
                        text, calls = read_reply(item.text, request.tools)
                        if not calls and (rest := answer.rest(text)):
                            yield TextDelta(rest)
                        yield item._replace(text=text, calls=calls)
                    case _:
                        yield item

    def plain(self, request: ModelRequest) -> ModelRequest:
        """The request as the model is shown it: texts only, and the form of its reply."""
        if not request.tools:
            # There is nothing to choose from, so it may write as it likes.
            return request._replace(messages=to_plain(request.messages))
        delegates = any(tool.name == TRANSFER for tool in request.tools)
        may_answer = not (delegates and self._is_task(request.messages[-1]))
        return ModelRequest(
            request.agent,
            self._prompt.instruction(request.instruction, request.tools),
            to_plain(request.messages, past_in_brief=delegates),
            (),
            reply_schema(request.tools, sources_of(request.messages), may_answer=may_answer)
            if self._held
            else None,
        )

    def _is_task(self, message: Message) -> bool:
        """Whether the words speak for a specialist: a small orchestrator would rather make up an answer."""
        return isinstance(message, UserMessage) and route(message.text, self._specs, self._tools) is not None

    async def close(self) -> None:
        await self._model.close()
