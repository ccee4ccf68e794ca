"""Scripted models that take their time."""

import asyncio
from collections.abc import AsyncGenerator

from sestet.core.model import ModelItem, ModelRequest
from sestet.models.scripted import ScriptedModel


class HangingModel(ScriptedModel):
    """Specialists never answer."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if request.agent != "orchestrator":
            await asyncio.Event().wait()
        async for item in super().stream(request):
            yield item


class MeetingModel(ScriptedModel):
    """Two specialists answer only once both of them have been asked."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if request.agent != "orchestrator":
            await asyncio.wait_for(self.barrier.wait(), 5)
        async for item in super().stream(request):
            yield item

    barrier = asyncio.Barrier(2)
