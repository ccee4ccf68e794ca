"""A lean HTTP client on loopback: the load must cost less than the servers that it measures."""

import asyncio
import time

#: The end of an answer in chunks.
_LAST_CHUNK = b"0\r\n\r\n"
_HEAD_END = b"\r\n\r\n"


class Connection(asyncio.Protocol):
    """One connection that is kept open: sends one request after the other."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._got = bytearray()
        self._answer: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._got += data
        if self._answer is not None and is_whole(self._got) and not self._answer.done():
            self._answer.set_result(bytes(self._got))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("the server closed the connection"))

    async def ask(self, request: bytes) -> bytes:
        """The whole answer to a request, its head included."""
        assert self._transport is not None
        self._got.clear()
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class Reader(asyncio.Protocol):
    """A client of server-sent events: keeps what arrives, and when. It is read after the load."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._transport: asyncio.WriteTransport | None = None
        #: When some bytes were here, and all bytes up to then.
        self.arrivals: list[tuple[float, int]] = []
        self.content = bytearray()
        self.connected = asyncio.get_running_loop().create_future()
        self.lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self.content += data
        self.arrivals.append((time.time(), len(self.content)))
        if not self.connected.done() and b": connected" in self.content:
            self.connected.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        if not self.connected.done():
            self.connected.set_exception(ConnectionError(bytes(self.content[:500]).decode()))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()


async def connect(port: int) -> Connection:
    _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
    return connection


def is_whole(got: bytes | bytearray) -> bool:
    """Whether an answer has arrived to its end."""
    end = got.find(_HEAD_END)
    if end < 0:
        return False
    head = bytes(got[:end]).lower()
    _, named, rest = head.partition(b"content-length:")
    if named:
        return len(got) >= end + len(_HEAD_END) + int(rest.split(b"\r\n", 1)[0])
    return got.endswith(_LAST_CHUNK)


def post(port: int, path: str, body: bytes, *headers: str) -> bytes:
    lines = (f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Type: application/json", *headers)
    return "\r\n".join((*lines, f"Content-Length: {len(body)}", "", "")).encode() + body


def get(port: int, path: str, *headers: str) -> bytes:
    return "\r\n".join((f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *headers, "", "")).encode()
