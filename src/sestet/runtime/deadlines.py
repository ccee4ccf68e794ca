"""Limits of time that cost next to nothing while they are far away: hardly any of them is ever reached."""

import asyncio
from types import TracebackType

#: Seconds between two looks at the limits that are far away.
_LOOK = 5.0


class Deadlines:
    """The limits of one event loop. Only those that are near have a timer of their own."""

    def __init__(self) -> None:
        self._far: dict[asyncio.Timeout, float] = {}
        self._is_watching = False

    def within(self, seconds: float) -> "Within":
        """Like ``asyncio.timeout``: ``async with deadlines.within(60)``."""
        return Within(self, seconds)

    def start(self, seconds: float) -> asyncio.Timeout:
        """A limit that is about to be entered."""
        if seconds <= 2 * _LOOK:
            return asyncio.timeout(seconds)
        loop, timeout = asyncio.get_running_loop(), asyncio.timeout(None)
        self._far[timeout] = loop.time() + seconds
        if not self._is_watching:
            self._is_watching = True
            loop.call_later(_LOOK, self._look, loop)
        return timeout

    def end(self, timeout: asyncio.Timeout) -> None:
        """The limit was left; it may not have been a far one."""
        self._far.pop(timeout, None)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give a timer to whatever ends before the look after the next one."""
        near = [timeout for timeout, when in self._far.items() if when <= loop.time() + 2 * _LOOK]
        for timeout in near:
            timeout.reschedule(self._far.pop(timeout))
        self._is_watching = bool(self._far)
        if self._far:
            loop.call_later(_LOOK, self._look, loop)


class Within:
    """One stay within a limit, for ``async with``."""

    __slots__ = ("_deadlines", "_seconds", "_timeout")

    def __init__(self, deadlines: Deadlines, seconds: float) -> None:
        self._deadlines = deadlines
        self._seconds = seconds

    async def __aenter__(self) -> None:
        self._timeout = self._deadlines.start(self._seconds)
        await self._timeout.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._deadlines.end(self._timeout)
        return await self._timeout.__aexit__(kind, error, trace)

    def expired(self) -> bool:
        """Whether it was this limit that ended the work."""
        return self._timeout.expired()
