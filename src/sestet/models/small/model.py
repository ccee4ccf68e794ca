"""A small model behind the same seam: its prompts are short, its replies are read tolerantly."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from sestet.core.agent import AgentSpec
from sestet.core.model import Model, ModelItem, ModelReply, ModelRequest, TextDelta
from sestet.models.small.prompt import SmallPrompt, reply_schema, to_plain
from sestet.models.small.reading import read_reply
from sestet.models.small.stream import AnswerStream


class SmallModel:
    """Another model that has no calls of its own, or none that can be relied on: they are made in text."""

    def __init__(self, model: Model, specs: Sequence[AgentSpec]) -> None:
        self._model = model
        self._prompt = SmallPrompt(specs)

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if not request.tools:
            # There is nothing to choose from, so it may write as it likes.
            async with aclosing(
                self._model.stream(request._replace(messages=to_plain(request.messages)))
            ) as items:
                async for item in items:
                    yield item
            return
        answer = AnswerStream()
        async with aclosing(self._model.stream(self.plain(request))) as items:
            async for item in items:
                match item:
                    case TextDelta(text):
                        if piece := answer.feed(text):
                            yield TextDelta(piece)
                    case ModelReply():
                        text, calls = read_reply(item.text, request.tools)
                        if not calls and (rest := answer.rest(text)):
                            yield TextDelta(rest)
                        yield item._replace(text=text, calls=calls)
                    case _:
                        yield item

    def plain(self, request: ModelRequest) -> ModelRequest:
        """The request as the model is shown it: texts only, and the form of its reply."""
        return ModelRequest(
            request.agent,
            self._prompt.instruction(request.instruction, request.tools),
            to_plain(request.messages),
            (),
            reply_schema(request.tools),
        )

    async def close(self) -> None:
        await self._model.close()
