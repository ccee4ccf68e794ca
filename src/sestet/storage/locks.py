"""One turn of a session at a time, within this process and between processes on the same file.

The kernel lets go of the lock when its process dies, so a crash never leaves a session locked.
"""

import asyncio
import fcntl
import hashlib
import os
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from sestet.storage.database import storage_errors

_FIRST_WAIT = 0.005
_LONGEST_WAIT = 0.2
#: A lock of the open file and not of the process: two assistants in one process exclude each other too.
_SET_LOCK = getattr(fcntl, "F_OFD_SETLK", fcntl.F_SETLK)


class _Place:
    """The waiting line of one session within this process."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


class SessionLocks:
    """Byte-range locks on one file: a byte for each session, at the hash of its name."""

    def __init__(self, path: Path) -> None:
        with storage_errors(path):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._places: dict[str, _Place] = {}

    @asynccontextmanager
    async def hold(self, session_id: str) -> AsyncGenerator[None]:
        """Wait until the session is free, and keep it."""
        place = self._places.setdefault(session_id, _Place())
        place.users += 1
        try:
            async with place.lock:
                byte = _byte(session_id)
                await self._take(byte)
                try:
                    yield
                finally:
                    self._set(byte, fcntl.F_UNLCK)
        finally:
            place.users -= 1
            if not place.users:
                del self._places[session_id]

    def is_free(self, session_id: str) -> bool:
        """Whether no turn of the session is running, here or in another process, at this moment."""
        if session_id in self._places:
            return False
        byte = _byte(session_id)
        free = self._set(byte, fcntl.F_WRLCK)
        if free:
            self._set(byte, fcntl.F_UNLCK)
        return free

    async def _take(self, byte: int) -> None:
        wait = _FIRST_WAIT
        while not self._set(byte, fcntl.F_WRLCK):
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)

    def _set(self, byte: int, kind: int) -> bool:
        try:
            fcntl.fcntl(self._file, _SET_LOCK, struct.pack("hhqqi", kind, os.SEEK_SET, byte, 1, 0))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def close(self) -> None:
        os.close(self._file)


def _byte(session_id: str) -> int:
    digest = hashlib.blake2b(session_id.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest, "big")
