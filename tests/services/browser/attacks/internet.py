"""A small Internet on loopback: sites with names of their own, and a canary that nobody may reach."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing, suppress
from ipaddress import ip_address
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote_plus

from sestet.services.browser.address_rules import Address
from sestet.services.browser.egress import connect_exactly

#: Public addresses, which the tests lead to sites on loopback.
SHOP_ADDRESS, EVIL_ADDRESS = "93.184.216.34", "151.101.1.69"
EVIL_ADDRESS_6 = "2606:4700:10::6816:2b3"
SHOP, EVIL = "shop.example", "evil.example"

Stream: TypeAlias = asyncio.StreamWriter
#: Writes an answer of its own, such as one that never ends.
Special: TypeAlias = Callable[["Seen", Stream], Awaitable[None]]


class Seen(NamedTuple):
    """One request that a site got."""

    method: str
    host: str
    path: str
    headers: Mapping[str, str]
    body: str

    @property
    def text(self) -> str:
        """All that the site has learned from it."""
        named = "\n".join(f"{name}: {value}" for name, value in self.headers.items())
        return unquote_plus(f"{self.method} {self.host}{self.path}\n{named}\n\n{self.body}")


class Answer(NamedTuple):
    content: str | bytes
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = {}


class Site:
    """A web server that remembers every request."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer | Special] = {}
        self.seen: list[Seen] = []
        self.connections = 0
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["Site"]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def learned(self, text: str) -> bool:
        """Whether any request brought this text here."""
        return any(text in request.text for request in self.seen)

    def got(self, path: str) -> bool:
        return any(request.path.partition("?")[0] == path for request in self.seen)

    def clear(self) -> None:
        self.pages.clear()
        self.seen.clear()
        self.connections = 0

    def _accept(self, reader: asyncio.StreamReader, writer: Stream) -> None:
        self.connections += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: Stream) -> None:
        with suppress(OSError, asyncio.IncompleteReadError), closing(writer):
            request = await _read(reader)
            self.seen.append(request)
            answer = self.pages.get(request.path.partition("?")[0], Answer("there is nothing", status=404))
            if isinstance(answer, Answer):
                writer.write(_written(answer))
                await writer.drain()
            else:
                await answer(request, writer)


async def _read(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    method, path, *_ = first.split(" ")
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(method, headers.get("host", ""), path, headers, body.decode("utf-8", "replace"))


def _written(answer: Answer) -> bytes:
    content = answer.content.encode() if isinstance(answer.content, str) else answer.content
    headers = {"Content-Type": answer.kind, "Content-Length": str(len(content)), "Connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in (headers | dict(answer.headers)).items())
    return f"HTTP/1.1 {answer.status} Answer\r\n{lines}\r\n".encode() + content


class Canary(asyncio.DatagramProtocol):
    """A service of this machine, on TCP and UDP. Every connection and every datagram is a break-out."""

    def __init__(self) -> None:
        self.touched: list[str] = []
        self.port = 0

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["Canary"]:
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        more = [server]
        if socket.has_ipv6:
            with suppress(OSError):
                more.append(await asyncio.start_server(self._accept, "::1", self.port))
        datagrams, _ = await loop.create_datagram_endpoint(lambda: self, ("127.0.0.1", self.port))
        try:
            yield self
        finally:
            datagrams.close()
            for each in more:
                each.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: Stream) -> None:
        self.touched.append("a connection")
        with suppress(OSError), closing(writer):
            self.touched.append((await reader.read(200)).decode("latin-1"))

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.touched.append("a datagram")


class Roads:
    """Names and public addresses of this Internet; everything else is as on the real one."""

    def __init__(self) -> None:
        #: The answers for a name, one after the other; the last one is repeated.
        self.names: dict[str, list[list[str]]] = {}
        self.ports: dict[str, int] = {}

    async def resolve(self, name: str) -> list[str]:
        answers = self.names.get(name)
        if not answers:
            raise OSError("no such name")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def connect(self, address: Address, port: int) -> socket.socket:
        if address.is_loopback:
            return await connect_exactly(address, port)
        if str(address) not in self.ports:
            raise OSError(101, "Network is unreachable")  # No test leaves this machine.
        return await connect_exactly(ip_address("127.0.0.1"), self.ports[str(address)])
