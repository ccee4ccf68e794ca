"""The small built-in model: no network, no large weights. It recognises requests by their words."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from sestet.core.agent import AgentSpec
from sestet.core.model import ModelItem, ModelRequest, TextDelta
from sestet.core.tool import Tool

if TYPE_CHECKING:
    from sestet.models.offline.replies import Replies
    from sestet.models.router import Router


class OfflineModel:
    """Routes with the embedded router, and finds tools and arguments by the examples of the tools."""

    name = "offline"

    def __init__(
        self,
        specs: Sequence[AgentSpec],
        tools: Mapping[str, Sequence[Tool]],
        open_router: "Callable[[], Router]",
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._specs = specs
        self._tools = tools
        self._open_router = open_router
        self._now = now

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        reply = self.replies.to(request)
        if reply.text:
            yield TextDelta(reply.text)
        yield reply._replace(free=True)

    async def close(self) -> None:
        """Nothing to close."""

    @cached_property
    def replies(self) -> "Replies":
        """Loaded on the first request: it takes 25 ms, and many commands never ask the model."""
        from sestet.models.offline.replies import Replies

        return Replies(self._specs, self._tools, self._open_router(), self._now)
