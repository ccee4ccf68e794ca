"""Asks a model again when a call failed for the moment."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import NamedTuple

from sestet.core.errors import FailureKind, ModelError
from sestet.core.model import Model, ModelItem, ModelReply, ModelRequest, Setback, TextDelta

#: How often at most a failure of this kind is worth another call; what is not here is not.
_WORTH: Mapping[FailureKind, int] = {
    "rate_limit": 10,
    "transient": 10,
    # It has already taken all the patience there is.
    "timeout": 1,
}
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 20.0
#: A vendor that wants to be left alone for longer is not waited for: the person is told, or another is asked.
_LONGEST_REST = 60.0


class Pacing(NamedTuple):
    """How often a call is made again, and what waiting is; tests have a clock of their own."""

    retries: int = 3
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    #: Between 0 and 1, so that callers who failed together do not come back together.
    chance: Callable[[], float] = random.random

    def wait_before(self, attempt: int, error: ModelError) -> float | None:
        """Seconds until the call is made for the ``attempt``-th time again; None: it is not."""
        if attempt > min(self.retries, _WORTH.get(error.kind, 0)):
            return None
        if error.retry_after is not None and error.retry_after > _LONGEST_REST:
            return None
        backoff = min(_FIRST_WAIT * 2 ** (attempt - 1), _LONGEST_WAIT)
        # Never sooner than it was asked for.
        return (error.retry_after or 0.0) + backoff * (1 + self.chance()) / 2


class RetryingModel:
    """Another model, with the patience to ask it again."""

    def __init__(self, model: Model, pacing: Pacing) -> None:
        self._model = model
        self._pacing = pacing

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        shown = ""
        attempt = 0
        while True:
            try:
                async with aclosing(_rest_of(self._model, request, shown)) as items:
                    async for item in items:
                        if isinstance(item, TextDelta):
                            shown += item.text
                        yield item
                return
            except ModelError as error:
                attempt += 1
                wait = self._pacing.wait_before(attempt, error)
                if wait is None:
                    raise
                setback = Setback(self.name, error.kind, str(error), wait, self.name)
            yield setback
            await self._pacing.sleep(setback.wait)

    async def close(self) -> None:
        await self._model.close()


async def _rest_of(model: Model, request: ModelRequest, shown: str) -> AsyncGenerator[ModelItem, None]:
    """The reply without its beginning, which the person has seen before the connection broke off.

    Shown text cannot be taken back, so a reply that begins differently is not shown beside it.
    """
    ahead = shown
    async with aclosing(model.stream(request)) as items:
        async for item in items:
            if isinstance(item, TextDelta) and ahead:
                seen, new = item.text[: len(ahead)], item.text[len(ahead) :]
                if not ahead.startswith(seen):
                    raise _lost(model)
                ahead = ahead[len(seen) :]
                if new:
                    yield TextDelta(new)
                continue
            if isinstance(item, ModelReply) and ahead:
                raise _lost(model)
            yield item


def _lost(model: Model) -> ModelError:
    return ModelError(
        f"the connection to '{model.name}' broke off in the middle of this answer, "
        "and asked again it began another one: ask once more"
    )
