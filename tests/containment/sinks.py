"""Servers on loopback that the tools really talk to: they keep what they receive, and nothing else counts."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

_LONGEST_LINE = 2**23


class Mail(NamedTuple):
    to: tuple[str, ...]
    text: str


class MailServer:
    """Speaks as much SMTP as a client needs; ``refusal`` is what it answers to its first receiver."""

    def __init__(self) -> None:
        self.port = 0
        self.refusal = ""
        self.mails: list[Mail] = []

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def answer(line: str) -> None:
            writer.write(f"{line}\r\n".encode())

        to: list[str] = []
        answer("220 loopback")
        while line := (await reader.readline()).decode().rstrip("\r\n"):
            verb = line[:4].upper()
            if verb == "RCPT" and self.refusal:
                answer(f"550 {self.refusal}")
                self.refusal = ""
            elif verb == "RCPT":
                to.append(line.partition("<")[2].rpartition(">")[0])
                answer("250 ok")
            elif verb == "DATA":
                answer("354 go on")
                body = (await reader.readuntil(b"\r\n.\r\n")).decode()
                self.mails.append(Mail(tuple(to), body.removesuffix("\r\n.\r\n")))
                answer("250 ok")
            else:
                answer("250 ok")
            if verb == "QUIT":
                break
        writer.close()


class MailRefusedError(Exception):
    """The words of a mail server."""


async def send_mail(port: int, to: list[str], text: str) -> None:
    """A mail over SMTP; raises with the server's own words if it refuses."""
    async with _connected(port) as (reader, writer):
        await reader.readline()
        for line in ("EHLO me", "MAIL FROM:<me@example.org>", *(f"RCPT TO:<{each}>" for each in to), "DATA"):
            writer.write(f"{line}\r\n".encode())
            reply = (await reader.readline()).decode().strip()
            if reply.startswith("5"):
                raise MailRefusedError(reply)
        writer.write(f"{text}\r\n.\r\nQUIT\r\n".encode())
        await reader.readline()


class Request(NamedTuple):
    method: str
    url: str
    body: str


class WebServer:
    """The whole web behind one proxy: pages by address, a search endpoint, and a record of every request."""

    def __init__(self) -> None:
        self.port = 0
        self.pages: dict[str, str] = {}
        #: Pages that are answered with an error, whose body is the text.
        self.broken: dict[str, str] = {}
        #: The excerpt of every search result.
        self.excerpt = "Nothing of interest."
        self.received: list[Request] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, url, _ = (await reader.readline()).decode().split()
        size = 0
        while line := (await reader.readline()).decode().strip():
            name, _, value = line.partition(":")
            size = int(value) if name.lower() == "content-length" else size
        body = (await reader.readexactly(size)).decode()
        self.received.append(Request(method, url, body))
        status, text = self._answer(method, url)
        data = text.encode()
        writer.write(f"HTTP/1.1 {status} x\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
        writer.close()

    def _answer(self, method: str, url: str) -> tuple[int, str]:
        if url in self.broken:
            return 500, self.broken[url]
        if urlsplit(url).path == "/search":
            asked = parse_qs(urlsplit(url).query).get("q", [""])[0]
            found = {"title": f"About {asked}", "url": "http://found.example/", "content": self.excerpt}
            return 200, json.dumps({"results": [found]})
        if method == "GET":
            return (200, self.pages[url]) if url in self.pages else (404, "there is no such page")
        return 200, "ok"


async def fetch(port: int, method: str, url: str, body: str = "") -> tuple[int, str]:
    """One request through the proxy; the address is sent as it is."""
    data = body.encode()
    # An address is one word of the request's first line.
    target = url.replace(" ", "%20") or "/"
    head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n"
    async with _connected(port) as (reader, writer):
        writer.write(head.encode() + data)
        answer = (await reader.read()).decode()
    head, _, text = answer.partition("\r\n\r\n")
    return int(head.split()[1]), text


@asynccontextmanager
async def _connected(port: int) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection that is closed at the end, also of a call that was cut off in the middle."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=_LONGEST_LINE)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


@asynccontextmanager
async def serving(server: MailServer | WebServer) -> AsyncGenerator[None]:
    """The server, listening on loopback."""
    listener = socket.create_server(("127.0.0.1", 0))
    server.port = listener.getsockname()[1]
    async with await asyncio.start_server(server.handle, sock=listener, limit=_LONGEST_LINE):
        yield
