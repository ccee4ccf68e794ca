"""Repeats a model call after a temporary failure."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing

from sestet.core.errors import FailureKind, ModelError
from sestet.core.model import Model, ModelItem, ModelReply, ModelRequest, Setback, TextDelta
from sestet.core.record import Record

#: The most retries for each kind of failure; other kinds are not retried.
_WORTH: Mapping[FailureKind, int] = {
    "rate_limit": 10,
    "transient": 10,
    # A timeout has already taken long.
    "timeout": 1,
}
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 20.0
#: A longer wait that a vendor asks for fails the call, so that a fallback or the person can react.
_LONGEST_REST = 60.0


class Pacing(Record):
    """How often a call is repeated, and how to wait; tests pass their own clock."""

    retries: int = 3
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    #: Jitter between 0 and 1, so that callers that failed together do not retry together.
    chance: Callable[[], float] = random.random

    def wait_before(self, attempt: int, error: ModelError) -> float | None:
        """Seconds to wait before retry number ``attempt``; None: do not retry."""
        if attempt > min(self.retries, _WORTH.get(error.kind, 0)):
            return None
        rest = error.retry_after or 0.0
        # Asked this way round, NaN is too long as well.
        if not rest <= _LONGEST_REST:
            return None
        backoff = min(_FIRST_WAIT * 2 ** (attempt - 1), _LONGEST_WAIT)
        # Never sooner than the vendor asked for.
        return max(rest, 0.0) + backoff * (1 + self.chance()) / 2


class RetryingModel:
    """Another model, whose calls are repeated after temporary failures."""

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
    """The reply without the text that was shown before the connection broke.

    Shown text cannot be taken back, so a reply that begins differently is an error.
    """
    repeated = 0
    async with aclosing(model.stream(request)) as items:
        async for item in items:
            left = len(shown) - repeated
            if isinstance(item, TextDelta) and left:
                seen, new = item.text[:left], item.text[left:]
                if not shown.startswith(seen, repeated):
                    raise _lost(model)
                repeated += len(seen)
                if new:
                    yield TextDelta(new)
                continue
            if isinstance(item, ModelReply) and left:
                raise _lost(model)
            yield item


def _lost(model: Model) -> ModelError:
    return ModelError(
        f"the connection to '{model.name}' broke off in the middle of this answer, "
        "and the repeated call began a different one: ask again"
    )
