"""A server whose model speaks slowly, to be killed: ``python -m tests.faults.server_process HOME PORT``."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import sestet
from sestet.core.message import UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta
from sestet.server.serve import Address, serve
from tests.server.served import SETTINGS

_WORDS = 40
_PAUSE = 0.02


class SlowModel(sestet.ScriptedModel):
    """Answers each message with its own words, many times, piece by piece."""

    def __init__(self) -> None:
        super().__init__([])

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        said = next(each.text for each in reversed(request.messages) if isinstance(each, UserMessage))
        for _ in range(_WORDS):
            await asyncio.sleep(_PAUSE)
            yield TextDelta(f"{said} ")
        yield ModelReply(f"{said} " * _WORDS)


async def main() -> None:
    home, port = Path(sys.argv[1]), int(sys.argv[2])
    async with sestet.open(SETTINGS, model=SlowModel(), home=home) as app:
        await serve(app, Address(port=port), lambda url, codes: print(url, flush=True))


if __name__ == "__main__":
    asyncio.run(main())
