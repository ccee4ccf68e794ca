"""Long reads apart from the event loop: in a thread, with a connection of its own."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from sestet.storage.database import Database

_Result = TypeVar("_Result")


async def read_apart(database: Database, work: Callable[[Database], _Result]) -> _Result:
    """Do the work in a thread, on another connection to the same file. Turns go on meanwhile."""

    def read() -> _Result:
        # A connection of SQLite belongs to one thread.
        own = Database(database.path)
        try:
            return work(own)
        finally:
            own.close()

    return await asyncio.to_thread(read)
