"""Bytes between the browser and a server: tunnels, and one plain request with its answer."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from sestet.core.record import Record
from sestet.services.browser.proxy_request import (
    HEAD_END,
    BadMessageError,
    BodyLength,
    ProxyRequest,
    parse_answer,
    parse_chunk_size,
)

_PIECE_BYTES: Final = 65_536


class Patience(Record):
    """``idle``: seconds without a byte in either direction; ``last``: the same once one side has ended."""

    idle: float
    last: float


class Stream(NamedTuple):
    """One connection, to the browser or to a server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, content: bytes) -> None:
        """Returns when the kernel has all of the content: nothing piles up here for a slow reader."""
        self.writer.transport.set_write_buffer_limits(0)
        self.writer.write(content)
        await self.writer.drain()

    def end(self) -> None:
        """Close at once. ``send`` has left nothing behind that could be lost."""
        self.writer.transport.abort()


class _Clock:
    """The time limit of one relay, which each byte renews."""

    def __init__(self, limit: asyncio.Timeout, patience: Patience) -> None:
        self._limit = limit
        self._patience = patience
        self._seconds = patience.idle

    def renew(self) -> None:
        self._limit.reschedule(asyncio.get_running_loop().time() + self._seconds)

    def one_side_ended(self) -> None:
        self._seconds = self._patience.last
        self.renew()


@asynccontextmanager
async def _clock(patience: Patience) -> AsyncGenerator[_Clock, None]:
    async with asyncio.timeout(patience.idle) as limit:
        yield _Clock(limit, patience)


async def read_head(reader: asyncio.StreamReader, too_large: int) -> bytes:
    """The head of a message; empty if the sender ended before. ``too_large``: the status of that error."""
    try:
        return await reader.readuntil(HEAD_END)
    except asyncio.LimitOverrunError:
        raise BadMessageError("the head of the message is too large", too_large) from None
    except asyncio.IncompleteReadError:
        return b""


async def tunnel(client: Stream, server: Stream, patience: Patience) -> None:
    """Carry bytes both ways until both sides have ended. The end of one side reaches the other one."""
    async with _clock(patience) as clock, asyncio.TaskGroup() as group:
        group.create_task(_carry_to_end(client, server, clock))
        group.create_task(_carry_to_end(server, client, clock))


async def exchange(client: Stream, server: Stream, request: ProxyRequest, patience: Patience) -> None:
    """Send one request and carry the answer back. The server may answer before it has the whole body."""
    async with _clock(patience) as clock:
        await server.send(request.head)
        sending = asyncio.create_task(_send_body(client, server, request.body, clock))
        try:
            await _answer(server, client, clock)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


async def _carry(source: Stream, sink: Stream, clock: _Clock) -> None:
    while piece := await source.reader.read(_PIECE_BYTES):
        clock.renew()
        await sink.send(piece)
        clock.renew()


async def _carry_to_end(source: Stream, sink: Stream, clock: _Clock) -> None:
    await _carry(source, sink, clock)
    clock.one_side_ended()
    sink.writer.write_eof()


async def _answer(server: Stream, client: Stream, clock: _Clock) -> None:
    interim = True
    while interim:
        head = await read_head(server.reader, 502)
        if not head:
            raise BadMessageError("the server ended the connection without an answer", 502)
        answer = parse_answer(head)
        await client.send(answer.head)
        clock.renew()
        interim = answer.interim
    await _carry(server, client, clock)


async def _send_body(client: Stream, server: Stream, length: BodyLength, clock: _Clock) -> None:
    """Exactly one body: bytes after it are never sent to the server, where they would be a second request."""
    try:
        if length == "chunked":
            await _send_chunks(client, server, clock)
        else:
            await _send_bytes(client, server, length, clock)
        if await client.reader.read(1):
            return
    except (BadMessageError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        # A server that got half a body must not take it for a whole one.
        server.end()
        return
    except OSError:
        # The server may have answered and stopped reading. Its answer is still on the way.
        pass
    clock.one_side_ended()


async def _send_bytes(client: Stream, server: Stream, length: int, clock: _Clock) -> None:
    left = length
    while left:
        piece = await client.reader.read(min(left, _PIECE_BYTES))
        if not piece:
            raise asyncio.IncompleteReadError(b"", left)
        left -= len(piece)
        await server.send(piece)
        clock.renew()


async def _send_chunks(client: Stream, server: Stream, clock: _Clock) -> None:
    """Each chunk in our own framing, without extensions and trailers."""
    while size := parse_chunk_size(await client.reader.readuntil(b"\r\n")):
        await server.send(b"%x\r\n" % size)
        await _send_bytes(client, server, size, clock)
        if await client.reader.readexactly(2) != b"\r\n":
            raise BadMessageError("a chunk of the body has another length than it says")
        await server.send(b"\r\n")
    while await client.reader.readuntil(b"\r\n") != b"\r\n":
        clock.renew()
    await server.send(b"0\r\n\r\n")
