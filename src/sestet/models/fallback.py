"""Asks the next model of a list when one cannot answer."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from sestet.core.errors import FailureKind, ModelError
from sestet.core.model import Model, ModelItem, ModelReply, ModelRequest, Setback, TextDelta

#: Failures of one model or its server; another model may answer the same request.
_CURABLE: frozenset[FailureKind] = frozenset(
    {"rate_limit", "transient", "timeout", "auth", "quota", "unknown_model"}
)
#: How many seconds a failed model is asked last, so that not every call waits for it to fail again.
_REST = 60.0


class FallbackModel:
    """Several models as one, in order of preference. It has the name of the first."""

    def __init__(self, models: Sequence[Model], clock: Callable[[], float] = time.monotonic) -> None:
        self._models = tuple(models)
        self._clock = clock
        self._rested: dict[str, float] = {}

    @property
    def name(self) -> str:
        return self._models[0].name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        now = self._clock()
        # A stable sort: the order of preference holds among rested models and among failed ones.
        models = sorted(self._models, key=lambda model: self._rested.get(model.name, now) > now)
        for model, following in zip(models, [*models[1:], None], strict=True):
            shown = False
            try:
                async with aclosing(model.stream(request)) as items:
                    async for item in items:
                        shown = shown or isinstance(item, TextDelta)
                        yield self._signed(item, model)
                return
            except ModelError as error:
                # Another model cannot continue a reply that was partly shown.
                if error.kind not in _CURABLE or shown or following is None:
                    raise
                self._rested[model.name] = self._clock() + max(_REST, error.retry_after or 0.0)
                setback = Setback(model.name, error.kind, str(error), 0.0, following.name)
            yield setback

    def _signed(self, item: ModelItem, model: Model) -> ModelItem:
        if isinstance(item, ModelReply) and model is not self._models[0]:
            return item._replace(model=model.name)
        return item

    async def close(self) -> None:
        for model in self._models:
            await model.close()
