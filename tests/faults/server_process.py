"""A server to be killed; its model speaks on and on: ``python -m tests.faults.server_process HOME PORT``."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import sestet
from sestet.core.message import UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta
from sestet.server.serve import Address, serve
from tests.server.served import SETTINGS

#: A file in the home of the server: once it is there, the answers come to their end.
MAY_END = "may-end"
_PAUSE = 0.02


class SlowModel(sestet.ScriptedModel):
    """Answers each message with its own words, again and again, piece by piece."""

    def __init__(self, may_end: Path) -> None:
        super().__init__([])
        self._may_end = may_end

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        said = next(each.text for each in reversed(request.messages) if isinstance(each, UserMessage))
        words = 0
        while not words or not self._may_end.exists():
            await asyncio.sleep(_PAUSE)
            words += 1
            yield TextDelta(f"{said} ")
        yield ModelReply(f"{said} " * words)


async def main() -> None:
    home, port = Path(sys.argv[1]), int(sys.argv[2])
    async with sestet.open(SETTINGS, model=SlowModel(home / MAY_END), home=home) as app:
        await serve(app, Address(port=port), lambda url, codes: print(url, flush=True))


if __name__ == "__main__":
    asyncio.run(main())
