"""Looks names up with the system's resolver."""

import asyncio
import socket
import threading
from contextlib import suppress
from typing import Final

_THREADS: Final = 16


class NameLookup:
    """Each look-up blocks a thread, for half a minute if a DNS server is silent.

    The threads are daemons, and limited in number: a silent server does not delay the end of Sestet.
    """

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(_THREADS)

    async def addresses(self, name: str) -> list[str]:
        """Every address of the name; raises OSError if there is none."""
        await self._places.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()

        def look_up() -> None:
            try:
                found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
            except (OSError, UnicodeError):
                found = []
            # The loop may be closed by now, and then nobody waits for the answer.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._tell, answer, [str(entry[4][0]) for entry in found])

        threading.Thread(target=look_up, daemon=True, name="sestet-look-up").start()
        found = await answer
        if not found:
            raise OSError("the name has no address")
        return found

    def _tell(self, answer: asyncio.Future[list[str]], found: list[str]) -> None:
        self._places.release()
        if not answer.done():
            answer.set_result(found)
