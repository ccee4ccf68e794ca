"""What every surface of the server works with: the assistant, its detached turns, and its stored data."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sestet.app import App
from sestet.detached.turns import DetachedTurns, detached_turns
from sestet.server.metrics import Metrics
from sestet.services.tokens import Tokens
from sestet.storage.apart import read_apart

if TYPE_CHECKING:
    from sestet.data import Data

_Result = TypeVar("_Result")
_READS_AT_ONCE = 4


class Host:
    """One process that serves one assistant."""

    def __init__(self, app: App, turns: DetachedTurns, settings_file: Path | None) -> None:
        self.app = app
        self.turns = turns
        self.started_at = time.time()
        self.tokens = Tokens(app.database)
        #: The file that was named; None: the usual ones.
        self.settings_file = settings_file
        #: Ends the server and starts it again; None: its program does not do that.
        self.restart: Callable[[], None] | None = None
        #: The copies of uploaded files, beside the database.
        self.uploads = app.database.path.parent / "uploads"
        self._reads = asyncio.Semaphore(_READS_AT_ONCE)
        self.metrics = Metrics()
        #: Awaited when the process stops, after the turns have reached their safe points.
        self.on_close: list[Callable[[], Awaitable[None]]] = []
        turns.listeners.append(self.metrics.count)

    async def read(self, work: "Callable[[Data], _Result]") -> _Result:
        """Do a read that may take long, apart from the turns."""
        # Loaded with the first such read: turns need none.
        from sestet.data import Data

        settings, file = self.app.settings, self.settings_file
        async with self._reads:
            return await read_apart(self.app.database, lambda own: work(Data(settings, own, file)))


@asynccontextmanager
async def hosting(app: App, settings_file: Path | None = None) -> AsyncGenerator[Host]:
    """Serve an assistant: go on with what an earlier process has accepted, and leave the rest to the next."""
    async with detached_turns(app) as turns:
        turns.start()
        host = Host(app, turns, settings_file)
        yield host
        for close in host.on_close:
            await close()
