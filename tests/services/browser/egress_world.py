"""A small Internet on loopback for the tests of the browser's proxy: sites, names, and public addresses."""

import asyncio
import base64
import hashlib
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TypeAlias

from sestet.services.browser.address_rules import Address, AddressRules
from sestet.services.browser.egress import Egress, Limits, connect_exactly

#: Addresses of the public Internet that the world leads to a site on loopback.
PUBLIC = "93.184.216.34"
PUBLIC_6 = "2606:2800:220:1:248:1893:25c8:1946"
SECONDS = 20.0
Handler: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Site:
    """A server on loopback that remembers what it was sent."""

    def __init__(self, handler: Handler | None = None) -> None:
        self.connections = 0
        self.received = b""
        self.port = 0
        self._handler = handler or self._greet
        self._server: asyncio.Server | None = None
        self._tasks = set[asyncio.Task[None]]()

    async def start(self, host: str = "127.0.0.1") -> None:
        self._server = await asyncio.start_server(self._accept, host, 0, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._handler(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # The other side went away, as some tests want.
        finally:
            writer.transport.abort()

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, then keep what follows it until the other side ends."""
        self.received += await reader.readuntil(b"\r\n\r\n")
        await answer(writer, b"hello")
        self.received += await reader.read()


async def answer(writer: asyncio.StreamWriter, content: bytes, more: bytes = b"") -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (more, len(content), content))
    await writer.drain()
    writer.write_eof()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send back every byte, and the end after the end."""
    while piece := await reader.read(65_536):
        writer.write(piece)
        await writer.drain()
    writer.write_eof()
    await writer.drain()


async def web_socket_echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Shake hands, then send each short frame of text back."""
    head = await reader.readuntil(b"\r\n\r\n")
    key = head.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: %s\r\n\r\n" % accept_of(key)
    )
    while True:
        kind, length = await reader.readexactly(2)
        mask = await reader.readexactly(4)
        masked = await reader.readexactly(length & 0x7F)
        text = bytes(byte ^ mask[place % 4] for place, byte in enumerate(masked))
        writer.write(bytes((kind, len(text))) + text)


def accept_of(key: bytes) -> bytes:
    return base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())  # noqa: S324


class World:
    """A proxy, with names and public addresses that the test chooses.

    ``names``: the answers of the DNS server, one after the other; the last one is repeated. ``roads``: the
    port on loopback behind a public address. ``attempts``: every connection that the proxy tried to open.
    """

    def __init__(self, allowed: Sequence[str] = (), limits: Limits | None = None) -> None:
        self.names = dict[str, list[list[str]]]()
        self.roads = dict[str, int]()
        self.attempts = list[tuple[str, int]]()
        self.asked = list[str]()
        self.port = 0
        self.egress = Egress(
            AddressRules(tuple(allowed)), resolve=self._resolve, connect=self._connect, limits=limits
        )

    async def start(self) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        self.port = listening.getsockname()[1]
        await self.egress.start(listening)

    async def ask(self, request: bytes | str) -> bytes:
        """Send the bytes, and read the whole answer."""
        async with self.client() as (reader, writer):
            writer.write(request.encode() if isinstance(request, str) else request)
            return await reader.read()

    async def get(self, address: str) -> bytes:
        return await self.ask(f"GET {address} HTTP/1.1\r\nHost: {address.split('/')[2]}\r\n\r\n")

    async def tunnel_status(self, authority: str) -> int:
        async with self.client() as (reader, writer):
            writer.write(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
            return status_of(await reader.readuntil(b"\r\n\r\n"))

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter], None]:
        """A connection to the proxy. A test that would hang fails instead."""
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                yield reader, writer
            finally:
                writer.transport.abort()

    @asynccontextmanager
    async def tunnel(
        self, authority: str
    ) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter], None]:
        async with self.client() as (reader, writer):
            writer.write(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
            assert status_of(await reader.readuntil(b"\r\n\r\n")) == 200
            yield reader, writer

    async def settle(self, connections: int = 0) -> None:
        """Wait until the proxy has this many connections."""
        async with asyncio.timeout(SECONDS):
            while self.egress.connections != connections:  # noqa: ASYNC110 (no event for a test alone)
                await asyncio.sleep(0.005)

    async def _resolve(self, name: str) -> list[str]:
        self.asked.append(name)
        answers = self.names.get(name)
        if not answers:
            raise OSError("no such name")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def _connect(self, address: Address, port: int) -> socket.socket:
        self.attempts.append((str(address), port))
        if str(address) in self.roads:
            return await connect_exactly(ip_address("127.0.0.1"), self.roads[str(address)])
        if not address.is_loopback:
            raise OSError(101, "Network is unreachable")  # No test leaves this machine.
        return await connect_exactly(address, port)


def status_of(answer: bytes) -> int:
    """The status of an answer; 0 if there is none."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0
