"""Models with a check before each call, or with a note of what each reply used."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from sestet.core.model import Model, ModelItem, ModelReply, ModelRequest


class GuardedModel:
    """Calls ``check`` before each call of a model; an error that it raises is the end of the call."""

    def __init__(self, model: Model, check: Callable[[], None]) -> None:
        self._model = model
        self._check = check

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        self._check()
        async with aclosing(self._model.stream(request)) as items:
            async for item in items:
                yield item

    async def close(self) -> None:
        await self._model.close()


class MeteredModel:
    """Hands each reply to ``note`` before its reader gets it, so that a reply that is no use is noted too."""

    def __init__(self, model: Model, note: Callable[[ModelRequest, ModelReply], Awaitable[None]]) -> None:
        self._model = model
        self._note = note

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        async with aclosing(self._model.stream(request)) as items:
            async for item in items:
                if isinstance(item, ModelReply):
                    await self._note(request, item)
                yield item

    async def close(self) -> None:
        await self._model.close()
