"""What every surface of the server works with: the assistant, its detached turns, and its stored data."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from sestet.app import App
from sestet.config import Settings
from sestet.data import Data
from sestet.detached.turns import DetachedTurns, detached_turns
from sestet.services.tokens import Tokens
from sestet.storage.database import Database

_Result = TypeVar("_Result")
_READS_AT_ONCE = 4


class Reader:
    """Reads that may take long, in threads with connections of their own: the turns go on meanwhile."""

    def __init__(self, settings: Settings, path: Path, settings_file: Path | None) -> None:
        self._settings = settings
        self._path = path
        self._file = settings_file
        self._at_once = asyncio.Semaphore(_READS_AT_ONCE)

    async def read(self, work: Callable[[Data], _Result]) -> _Result:
        async with self._at_once:
            return await asyncio.to_thread(self._read, work)

    def _read(self, work: Callable[[Data], _Result]) -> _Result:
        database = Database(self._path, power=self._settings.storage.durability == "power")
        try:
            return work(Data(self._settings, database, self._file))
        finally:
            database.close()


class Host:
    """One process that serves one assistant."""

    def __init__(
        self, app: App, turns: DetachedTurns, reader: Reader, settings_file: Path | None = None
    ) -> None:
        self.app = app
        self.turns = turns
        self.tokens = Tokens(app.database)
        self.read = reader.read
        #: The file that was named; None: the usual ones.
        self.settings_file = settings_file


@asynccontextmanager
async def hosting(app: App, settings_file: Path | None = None) -> AsyncGenerator[Host]:
    """Serve an assistant: go on with what an earlier process has accepted, and leave the rest to the next."""
    reader = Reader(app.settings, app.database.path, settings_file)
    async with detached_turns(app) as turns:
        turns.start()
        yield Host(app, turns, reader, settings_file)
