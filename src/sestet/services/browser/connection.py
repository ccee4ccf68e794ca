"""The DevTools protocol over a pair of pipes: commands, their answers, and events."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, cast

from sestet.core.errors import ToolError
from sestet.core.record import to_json

#: JSON from Chromium. Any: the protocol has thousands of fields, and each reader knows its own few.
Message: TypeAlias = dict[str, Any]
#: Called with the session that the event is from, and its parameters.
Listener: TypeAlias = Callable[[str, Message], None]

#: Seconds after which a command that Chromium does not answer has failed.
_PATIENCE = 30.0
#: The most that Chromium may send in one message: a screenshot of a long page has some tens of megabytes.
_MOST_BYTES = 200_000_000


class BrowserError(ToolError):
    """The browser could not do what was asked. Without words of their own, the person reads the same text."""

    def __init__(self, text: str = "", for_person: str = "") -> None:
        super().__init__(text)
        self.for_person = for_person


class ProtocolError(BrowserError):
    """Chromium refused one command, such as one for an element that is gone."""


class BrowserGoneError(BrowserError):
    """Chromium has ended, or does not answer any more."""


class Connection(asyncio.Protocol):
    """One Chromium. Messages end with a zero byte."""

    def __init__(self) -> None:
        self._answers: dict[int, asyncio.Future[Message]] = {}
        #: The session of each command that waits for its answer.
        self._asked: dict[int, str] = {}
        #: Sessions whose process is gone, with the reason.
        self._gone: dict[str, str] = {}
        self._listeners: dict[str, list[Listener]] = {}
        self._number = 0
        self._received = bytearray()
        self._reader: asyncio.ReadTransport | None = None
        self._writer: asyncio.WriteTransport | None = None
        self._descriptor = -1
        #: Messages that wait while somebody else writes to the pipe; None: nobody does.
        self._waiting: list[bytes] | None = None
        #: Set when Chromium is gone.
        self.closed = asyncio.Event()

    async def open(self, reading: int, writing: int) -> None:
        """Take over both ends of the pipes."""
        loop = asyncio.get_running_loop()
        self._reader, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(reading, "rb", 0))
        pipe = os.fdopen(writing, "wb", 0)
        self._descriptor = writing
        self._writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, pipe)

    def close(self) -> None:
        for transport in (self._reader, self._writer):
            if transport is not None:
                transport.close()
        self._end()

    def listen(self, event: str, listener: Listener) -> None:
        """Call the listener with every event of this name, from any session."""
        self._listeners.setdefault(event, []).append(listener)

    def forget(self, event: str, listener: Listener) -> None:
        """Stop calling a listener."""
        self._listeners[event].remove(listener)

    async def send(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        session: str = "",
        wait: float = _PATIENCE,
    ) -> Message:
        """Send one command and wait for its answer."""
        if self.closed.is_set() or self._writer is None:
            raise BrowserGoneError("the browser has ended; the next call starts a new one")
        self._number += 1
        number = self._number
        self._write(number, method, params or {}, session)
        return await self._answer(number, wait, session)

    async def send_through(self, write: Callable[[int, int], Awaitable[None]]) -> Message:
        """Let another process write one command: it gets the pipe and the number of the command."""
        if self.closed.is_set() or self._writer is None:
            raise BrowserGoneError("the browser has ended; the next call starts a new one")
        # A transport tells nobody that it has become empty.
        while self._waiting is not None or self._writer.get_write_buffer_size():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        self._waiting = []
        self._number += 1
        number = self._number
        answer = asyncio.create_task(self._answer(number, _PATIENCE))
        await asyncio.sleep(0)  # now the answer is waited for
        try:
            await write(self._descriptor, number)
        except BaseException:
            answer.cancel()
            raise
        finally:
            waiting, self._waiting = self._waiting, None
            for message in waiting:
                self._writer.write(message)
        return await answer

    def give_up(self, session: str, why: str) -> None:
        """The process behind a session is gone, and Chromium answers none of its commands any more."""
        self._gone[session] = why
        for number, asked in self._asked.items():
            answer = self._answers.get(number)
            if asked == session and answer is not None and not answer.done():
                answer.set_exception(BrowserGoneError(why))

    async def _answer(self, number: int, wait: float, session: str = "") -> Message:
        if session in self._gone:
            raise BrowserGoneError(self._gone[session])
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        self._asked[number] = session
        try:
            async with asyncio.timeout(wait):
                return await answer
        except TimeoutError:
            raise BrowserGoneError("the browser does not answer") from None
        finally:
            self._answers.pop(number, None)
            self._asked.pop(number, None)

    def tell(self, method: str, params: Mapping[str, object], session: str = "") -> None:
        """Send one command whose answer does not matter."""
        if self._writer is not None and not self.closed.is_set():
            self._number += 1
            self._write(self._number, method, params, session)

    def _write(self, number: int, method: str, params: Mapping[str, object], session: str) -> None:
        message: dict[str, object] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = to_json(message) + b"\0"
        if self._waiting is not None:
            self._waiting.append(data)
        elif self._writer is not None:
            self._writer.write(data)

    def data_received(self, data: bytes) -> None:
        *whole, rest = data.split(b"\0")
        for piece in whole:
            self._received += piece
            message = bytes(self._received)
            self._received.clear()
            self._handle(message)
        self._received += rest
        if len(self._received) > _MOST_BYTES:
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()

    def _handle(self, data: bytes) -> None:
        message = cast("Message", json.loads(data))
        if "id" in message:
            answer = self._answers.pop(message["id"], None)
            if answer is None or answer.done():
                return
            if "error" in message:
                answer.set_exception(ProtocolError(str(message["error"].get("message", "refused"))))
            else:
                answer.set_result(message.get("result", {}))
            return
        for listener in tuple(self._listeners.get(message.get("method", ""), ())):
            listener(message.get("sessionId", ""), message.get("params", {}))

    def _end(self) -> None:
        self.closed.set()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(
                    BrowserGoneError("the browser has ended; the next call starts a new one")
                )
        self._answers.clear()
