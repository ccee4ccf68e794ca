"""A connection to a server at the level of bytes, for requests that no proper client sends."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sestet.core.record import from_json

#: Only a bound, for a server that never answers.
PATIENCE = 20.0


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The code of the error."""
        read: Any = from_json(self.body)
        return read["error"]["code"]


class Wire:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, content: bytes) -> None:
        self.writer.write(content)
        await self.writer.drain()

    async def answer(self) -> Answer:
        """The next answer, which has a Content-Length."""
        async with asyncio.timeout(PATIENCE):
            head = await self.reader.readuntil(b"\r\n\r\n")
            status, *lines = head.decode("latin-1").strip().split("\r\n")
            pairs = (line.partition(":") for line in lines)
            headers = {name.lower(): value.strip() for name, _, value in pairs}
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(int(status.split(" ")[1]), headers, body)

    async def until_closed(self) -> bytes:
        """Everything that comes until the server closes the connection."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""


@asynccontextmanager
async def wire(url: str) -> AsyncGenerator[Wire]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.transport.abort()


@contextmanager
def deaf_wire(url: str, content: bytes) -> Generator[None]:
    """A connection that sends a request and never reads the answer."""
    with socket.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.connect((urlsplit(url).hostname, urlsplit(url).port))
        opened.sendall(content)
        yield


def head(line: str, **headers: str) -> bytes:
    """The head of a request: ``head("GET / HTTP/1.1", host="a")``."""
    lines = [line, *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


async def ask(url: str, content: bytes) -> Answer:
    """Send these bytes on a connection of their own, and read one answer."""
    async with wire(url) as line:
        await line.send(content)
        return await line.answer()
