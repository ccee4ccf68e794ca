"""Waiting for a database that another process has locked, while the event loop goes on."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from sestet.core.errors import BusyError, StorageError
from sestet.core.words import duration

#: After this many seconds, a lock of another process is an error.
LONGEST = 60.0
_FIRST_WAIT = 0.01
_LONGEST_WAIT = 0.2

_Result = TypeVar("_Result")


class LockWait:
    """One wait for a lock: how long it has lasted, and when to try again."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._wait = _FIRST_WAIT

    @property
    def is_over(self) -> bool:
        return time.monotonic() - self._since >= LONGEST

    def next_wait(self) -> float:
        """The seconds until the next try, longer each time."""
        wait, self._wait = self._wait, min(2 * self._wait, _LONGEST_WAIT)
        return wait


def held_too_long(error: BusyError) -> StorageError:
    return StorageError(f"{error}, for longer than {duration(LONGEST)}")


async def when_free(write: Callable[[], _Result]) -> _Result:
    """Do a write of one transaction, as soon as no other process has locked the database."""
    wait = LockWait()
    while True:
        try:
            return write()
        except BusyError as error:
            if wait.is_over:
                raise held_too_long(error) from error
        await asyncio.sleep(wait.next_wait())
