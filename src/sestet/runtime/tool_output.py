"""What a tool prints while it runs, as events: a few times a second, and not more than a person can use."""

import asyncio
from collections.abc import Callable

from sestet.core.errors import StorageError
from sestet.core.event import OutputStreamed
from sestet.core.message import whole
from sestet.core.scanner import HeldBackText
from sestet.runtime.tool_step import ToolStep

#: Seconds between two events, and the most characters of one and of all of them.
_PAUSE = 0.1
_MOST_AT_ONCE, _MOST = 4_000, 200_000


class OutputStream:
    """The output of one call until the call is answered."""

    def __init__(self, step: ToolStep) -> None:
        self._step = step
        self._waiting = ""
        self._harmless = HeldBackText(step.run.turn.scanner)
        self._shown = 0
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def report(self) -> Callable[[str], None]:
        return self._add

    def close(self) -> None:
        """Show nothing more: the result holds all of it."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _add(self, text: str) -> None:
        if self._closed or self._shown >= _MOST:
            return
        # Of a flood only the end of each moment can be read.
        self._waiting = (self._waiting + text)[-_MOST_AT_ONCE:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._show)

    def _show(self) -> None:
        text, self._waiting, self._timer = self._harmless.feed(self._waiting), "", None
        self._shown += len(text)
        if not text:
            return
        run, call = self._step.run, self._step.call
        try:
            run.turn.record(OutputStreamed(run.stamp(), call.id, whole(text)), repeatable=True)
        except StorageError:
            # The turn itself learns of it, and ends.
            self._closed = True
