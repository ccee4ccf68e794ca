"""One turn of a session at a time, within this process and between processes on the same file.

The kernel releases a lock when its process dies, so a crash never leaves a session locked.
"""

import asyncio
import errno
import fcntl
import os
import stat
import struct
from functools import lru_cache
from pathlib import Path

from sestet.core.errors import StorageError

_FIRST_WAIT = 0.005
_LONGEST_WAIT = 0.05
#: The places of a session's queue between processes: the bytes after the session's own.
_PLACES = 8
#: A session's byte and its places, and a few bytes more.
_ROOM = 16
#: As a length: up to the end, however far that is.
_ALL = 0
_REASONS = {errno.ELOOP: "is a link", errno.EISDIR: "is a directory", errno.EACCES: "may not be written"}
#: Open file description locks, so that two assistants in one process exclude each other too.
SET_LOCK = getattr(fcntl, "F_OFD_SETLK", fcntl.F_SETLK)


class _Queue:
    """The queue of waiting turns of one session in this process."""

    def __init__(self, session_id: str) -> None:
        self.byte = _byte(session_id)
        self.lock = asyncio.Lock()
        self.users = 0


class SessionLocks:
    """Byte-range locks on one file: one byte for each session, at the hash of its id.

    Processes queue for a session: each takes the last place, and then the next one as soon as it is free.
    A place is a locked byte as well. So a busy process that wants a session again stands behind those that
    already wait for it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._closed = False
        self._process = os.getpid()
        self._file = _open_lock_file(path)
        self._queues: dict[str, _Queue] = {}

    @classmethod
    def beside(cls, database: Path) -> "SessionLocks":
        """The locks that all users of this database file share."""
        return cls(database.with_suffix(".lock"))

    def hold(self, session_id: str) -> "_Hold":
        """Hold a session as soon as it is free: ``async with locks.hold(session_id)``."""
        return _Hold(self, session_id)

    async def take(self, session_id: str) -> None:
        """Wait until the session is free and lock it; ``give_back`` must follow."""
        if os.getpid() != self._process:
            # A forked process shares its parent's locks, and SQLite forbids sharing a connection.
            raise StorageError(f"{self._path}: was opened before a fork; open an assistant in each process")
        queue = self._queues.get(session_id)
        if queue is None:
            queue = self._queues[session_id] = _Queue(session_id)
        queue.users += 1
        try:
            await queue.lock.acquire()
            try:
                await self._take(queue.byte)
            except BaseException:
                queue.lock.release()
                raise
        except BaseException:
            self._leave(session_id, queue)
            raise

    def give_back(self, session_id: str) -> None:
        """Unlock the session for the next turn."""
        queue = self._queues[session_id]
        try:
            # Closing already released all locks.
            if not self._closed:
                self._set(queue.byte, fcntl.F_UNLCK)
        finally:
            queue.lock.release()
            self._leave(session_id, queue)

    def _leave(self, session_id: str, queue: _Queue) -> None:
        queue.users -= 1
        if not queue.users:
            del self._queues[session_id]

    def is_free(self, session_id: str) -> bool:
        """Whether no turn of the session is running, here or in another process, at this moment."""
        if session_id in self._queues:
            return False
        byte = _byte(session_id)
        free = self._set(byte, fcntl.F_WRLCK)
        if free:
            self._set(byte, fcntl.F_UNLCK)
        return free

    def take_all(self) -> bool:
        """Lock every session until ``close``; False if a turn or background work runs or waits anywhere."""
        return self._set(0, fcntl.F_WRLCK, length=_ALL)

    async def _take(self, byte: int) -> None:
        """Take the session at once if nobody holds it or waits for it; else go through the queue."""
        if self._set(byte, fcntl.F_WRLCK, 1 + _PLACES):
            self._set(byte + 1, fcntl.F_UNLCK, _PLACES)
            return
        place = None
        try:
            for following in range(_PLACES, -1, -1):
                await self._wait_for(byte + following)
                if place is not None:
                    self._set(place, fcntl.F_UNLCK)
                place = byte + following
        except BaseException:
            # Closing already released all locks.
            if place is not None and not self._closed:
                self._set(place, fcntl.F_UNLCK)
            raise

    async def _wait_for(self, byte: int) -> None:
        wait = _FIRST_WAIT
        while not self._set(byte, fcntl.F_WRLCK):
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)

    def _set(self, byte: int, kind: int, length: int = 1) -> bool:
        if self._closed:
            # The descriptor may belong to another file by now.
            raise StorageError(f"{self._path}: the assistant is closed")
        try:
            fcntl.fcntl(self._file, SET_LOCK, struct.pack("hhqqi", kind, os.SEEK_SET, byte, length, 0))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def close(self) -> None:
        """Release the locks of all sessions."""
        self._closed = True
        os.close(self._file)


class _Hold:
    """Holds the lock of one session inside ``async with``."""

    __slots__ = ("_locks", "_session_id")

    def __init__(self, locks: SessionLocks, session_id: str) -> None:
        self._locks = locks
        self._session_id = session_id

    async def __aenter__(self) -> None:
        await self._locks.take(self._session_id)

    async def __aexit__(self, *error: object) -> None:
        self._locks.give_back(self._session_id)


def _open_lock_file(path: Path) -> int:
    """The open lock file. Locks on anything else would exclude nobody, or let strangers hold us up."""
    try:
        # Not blocking, and no link: each user of the database must open the same file.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags, 0o600)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StorageError(f"{path}: {error}; choose another directory with SESTET_HOME") from error
    except OSError as error:
        raise _unusable(
            path, _REASONS.get(error.errno or 0, f"cannot be opened: {error.strerror}")
        ) from error
    state = os.fstat(descriptor)
    reason = "" if stat.S_ISREG(state.st_mode) else "is not a regular file"
    # Root may work with the data of anybody.
    if not reason and os.geteuid() not in (0, state.st_uid):
        reason = "belongs to another user"
    if reason:
        os.close(descriptor)
        raise _unusable(path, reason)
    return descriptor


def _unusable(path: Path, reason: str) -> StorageError:
    return StorageError(f"{path}: {reason}, so no turn can run; remove it while no Sestet runs")


@lru_cache(maxsize=256)
def _byte(session_id: str) -> int:
    from hashlib import blake2b

    digest = blake2b(session_id.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest, "big") * _ROOM
