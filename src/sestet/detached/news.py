"""What happens in all sessions, for readers that follow everything.

The latest messages are held once for all readers, and only while there is one. A reader that is so slow that
its next message is no longer held is let go: it comes back and reads the journal. So a slow reader never
slows a turn down, and memory has a bound.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from itertools import islice

from sestet.core.record import to_json
from sestet.storage.session_log import Placed, SessionLog, SessionMark

#: Messages that are held in memory, and their bytes.
_HELD = 4096
_HELD_BYTES = 8_000_000
#: Messages that a reader gets at once.
_AT_ONCE = 256


class News:
    """Each message is JSON: an event with its long texts cut, or the kind of a change and its session."""

    def __init__(self, log: SessionLog) -> None:
        self.readers = 0
        self._log = log
        self._ended = False
        self._held: deque[bytes] = deque()
        self._bytes = 0
        #: The number of the first message that is held. Numbers only grow.
        self._start = 0
        self._waiting: asyncio.Future[None] | None = None
        #: The sessions at the last look; None: nobody reads.
        self._marks: dict[str, SessionMark] | None = None
        #: The sessions of this process's own events since then: their readers were told already.
        self._own: set[str] = set()
        self._looking = asyncio.Lock()

    def add(self, placed: Placed) -> None:
        """Tell an event that this process has written."""
        if self.readers:
            self._own.add(placed.event.stamp.session_id)
            self._tell(placed.clipped)

    def changed(self, session_id: str) -> None:
        """Tell that a session is no longer as it was, in a way that no event says."""
        self._tell_kind("session_changed", session_id)

    def deleted(self, session_id: str) -> None:
        if self._marks:
            self._marks.pop(session_id, None)
        self._tell_kind("session_deleted", session_id)

    def _tell_kind(self, kind: str, session_id: str) -> None:
        if self.readers:
            self._tell(to_json({"kind": kind, "session": session_id}))

    def _tell(self, message: bytes) -> None:
        self._held.append(message)
        self._bytes += len(message)
        while len(self._held) > _HELD or self._bytes > _HELD_BYTES:
            self._bytes -= len(self._held.popleft())
            self._start += 1
        self._wake()

    def end(self) -> None:
        """Let every reader go."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def look(self) -> None:
        """Tell which sessions another process has changed since the last look."""
        async with self._looking:
            before = self._marks
            if before is None:
                return
            own, self._own = self._own, set()
            now = await self._log.marks()
            # An event that is written while the marks are read may be in them or not.
            own |= self._own
            if self._marks is None:
                return
            self._marks = now
            for session_id in before.keys() - now.keys():
                self.deleted(session_id)
            for session_id, mark in now.items():
                known = before.get(session_id)
                if known != mark and (
                    session_id not in own or (known is not None and known.title != mark.title)
                ):
                    self.changed(session_id)

    async def follow(self, quiet: float | None = None) -> AsyncGenerator[list[bytes]]:
        """All messages, some at a time, up to the end of this process or of the reader's pace.

        The first list is empty: nothing that happens after it is left out. Later lists are empty after so
        many seconds without a message.
        """
        self.readers += 1
        try:
            following = self._start + len(self._held)
            async with self._looking:
                if self._marks is None:
                    self._marks = await self._log.marks()
            yield []
            while not self._ended and following >= self._start:
                index = following - self._start
                found = list(islice(self._held, index, index + _AT_ONCE))
                following += len(found)
                if found or not await self._has_news(quiet):
                    yield found
        finally:
            self.readers -= 1
            if not self.readers:
                self._start += len(self._held)
                self._held.clear()
                self._bytes = 0
                self._marks = None
                self._own.clear()

    async def _has_news(self, seconds: float | None) -> bool:
        # All readers wait for one future, and none of them cancels it.
        self._waiting = self._waiting or asyncio.get_running_loop().create_future()
        done, _ = await asyncio.wait((self._waiting,), timeout=seconds)
        return bool(done)
