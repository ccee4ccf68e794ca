"""A command in a sandbox, from its start until its end."""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from typing import Protocol

from sestet.core.errors import SestetError
from sestet.core.record import Record
from sestet.services.sandbox.plan import Plan

#: Seconds that a command has to end by itself after SIGTERM.
GRACE = 2.0
#: Seconds that a launcher has to end a command by force.
_LAST_PATIENCE = 5.0


class SandboxError(SestetError):
    """No sandbox could be made, or it was lost; the text says why."""


class Ended(Record):
    """How a command ended."""

    #: None: a signal ended it.
    code: int | None = None
    signal: int | None = None
    #: It was ended because its processes held too much memory,
    too_large: bool = False
    #: were too many,
    too_many: bool = False
    #: or left too little room on the disk.
    no_space: bool = False
    #: The program could not be started; the text says why.
    failed: str = ""


class Launching(Protocol):
    """Starts commands by a plan."""

    plan: Plan

    @property
    def is_alive(self) -> bool: ...

    def start(self, request: Mapping[str, object], descriptors: Sequence[int]) -> "RunningCommand": ...

    def signal(self, number: int, signal_number: int) -> None:
        """Send a signal to a command."""

    def kill(self) -> None:
        """End every command at once."""

    async def close(self) -> None:
        """End every command, and then the rest."""


class RunningCommand:
    """A command in the sandbox, from its start until its end."""

    def __init__(self, number: int, launcher: Launching) -> None:
        self.number = number
        self._launcher = launcher
        self._ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()

    async def wait(self) -> Ended:
        """How it ended, as soon as it has, with everything that it had started."""
        return await asyncio.shield(self._ended)

    @property
    def is_running(self) -> bool:
        return not self._ended.done()

    @property
    def ended(self) -> Ended | None:
        """How it ended; None: it is still running."""
        return self._ended.result() if self._ended.done() else None

    async def stop(self, grace: float = GRACE) -> Ended:
        """End it with everything that it has started: politely, and after ``grace`` seconds by force."""
        self._launcher.signal(self.number, signal.SIGTERM)
        await asyncio.wait([self._ended], timeout=grace)
        self.kill()
        return await self.wait()

    def kill(self) -> None:
        if self.is_running:
            self._launcher.signal(self.number, signal.SIGKILL)
            asyncio.get_running_loop().call_later(_LAST_PATIENCE, self._give_up)

    def end(self, ended: Ended) -> None:
        if not self._ended.done():
            self._ended.set_result(ended)

    def _give_up(self) -> None:
        """Its launcher does not end it: end the launcher, and with it all its commands."""
        if self.is_running:
            self._launcher.kill()
