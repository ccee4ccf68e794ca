"""A background worker that takes one small step at a time."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

_log = logging.getLogger(__name__)

#: A rest that is shorter costs more than it gives.
_SHORTEST_REST = 0.002


class WorkLimits(NamedTuple):
    """Whether the work may ask a model again today, and the part of one core that it may use."""

    has_room: Callable[[], bool] = lambda: True
    cpu_share: float = 1.0


class Worker:
    """Takes steps while there is work, then sleeps until ``wake``.

    Work must be stored in the database, not in memory: a process may end between any two steps, and the
    next process that opens the database continues. A step takes one piece of work out of the database and
    stores its outcome in one transaction, so a worker needs no queue of its own.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], Awaitable[bool]],
        *,
        grace: float = 5.0,
        pause: float = 1.0,
        longest_pause: float = 300.0,
        cpu_share: float = 1.0,
    ) -> None:
        """``step`` does one piece of work and returns False if there was none.

        ``grace``: seconds that ``close`` waits for the current step. ``pause``: seconds after a failed step,
        doubled with each failure in a row. ``cpu_share``: the part of one core that the steps may use.
        """
        self._name = name
        self._step = step
        self._grace = grace
        self._pause = pause
        self._longest_pause = longest_pause
        self._rest_for_work = 1 / cpu_share - 1
        self._woken = asyncio.Event()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Look for work. Cheap, and never raises an error of the work."""
        self._woken.set()
        if self._task is None and not self._closing.is_set():
            self._task = asyncio.create_task(self._run(), name=self._name)

    async def close(self) -> None:
        """Wait for the current step, at most for the grace, and take no further step."""
        self._closing.set()
        self._woken.set()
        if self._task is None:
            return
        await asyncio.wait((self._task,), timeout=self._grace)
        self._task.cancel()
        await asyncio.wait((self._task,))

    async def _run(self) -> None:
        failures = 0
        while not self._closing.is_set():
            # Cleared before the step: work that is added during the step needs another one.
            self._woken.clear()
            began = time.process_time()
            try:
                more = await self._step()
            except Exception as error:  # an error of the work must never reach a conversation
                if not failures:
                    _log.warning("%s: %s; will try again", self._name, error, exc_info=error)
                await self._rest(failures)
                failures += 1
                continue
            failures = 0
            if more:
                # Let a streaming reply go first. A turn that works meanwhile lengthens the rest.
                await self._wait((time.process_time() - began) * self._rest_for_work)
            elif not self._closing.is_set():
                await self._woken.wait()

    async def _rest(self, failures: int) -> None:
        await self._wait(min(self._pause * 2.0 ** min(failures, 30), self._longest_pause))

    async def _wait(self, seconds: float) -> None:
        """Let other tasks run for so long, or until this worker closes."""
        if seconds < _SHORTEST_REST:
            await asyncio.sleep(0)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)
