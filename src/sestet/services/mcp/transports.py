"""Carries the messages of MCP over a program's pipes or over HTTP, within limits of size.

The kit's own transports read a message of any size. These end the connection instead, and keep the reason.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from sestet.services.mcp.listing import plain_line
from sestet.services.mcp.programs import Program, ProgramStarter

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

#: One message, and everything that a server may send for one request.
MOST_MESSAGE, MOST_RECEIVED = 4_000_000, 16_000_000
_CHUNK = 65_536
#: What each line counts beside its bytes: to read an empty one takes as long as to read a short message.
_LINE = 1_000
_KEPT_ERRORS = 4_000
#: A server that writes more to stderr than this is read slowly, so that it waits and not we.
_MOST_ERRORS, _ERROR_PAUSE = 1_000_000, 0.05
_CONNECT_SECONDS, _READ_SECONDS = 15.0, 300.0


class Watch:
    """What is seen of one connection: how much came, what was wrong, and that it ended."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        #: Why the connection was ended here; empty: it was not.
        self.problem = ""
        self._received = 0
        self._errors = ""

    def begin_request(self) -> None:
        self._received = 0

    def count(self, size: int) -> bool:
        """Whether so much more is still within the limit."""
        self._received += size
        if self._received > MOST_RECEIVED:
            self.problem = f"it sent more than {MOST_RECEIVED // 1_000_000} MB"
        return not self.problem

    def add_error(self, text: str) -> None:
        self._errors = (self._errors + text)[-_KEPT_ERRORS:]

    @property
    def last_errors(self) -> str:
        """The end of what a program wrote to stderr, in one line."""
        lines = [line for line in self._errors.splitlines() if line.strip()]
        return plain_line(lines[-1], 300) if lines else ""


@asynccontextmanager
async def over_pipes(starter: ProgramStarter, watch: Watch) -> "AsyncGenerator[TransportStreams]":
    """Start the program, and exchange one line of JSON for each message; the program ends with the block."""
    program = await starter.start()
    to_session, from_program = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_program, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = (
        asyncio.create_task(_read(program, to_session, watch)),
        asyncio.create_task(_write(program, from_session, watch)),
        asyncio.create_task(_read_errors(program, watch)),
    )
    try:
        yield from_program, to_program
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (to_session, from_program, to_program, from_session):
            stream.close()
        await program.end()
        watch.gone.set()


async def _open_reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    return reader, transport


async def _read(
    program: Program, to_session: MemoryObjectSendStream[SessionMessage | Exception], watch: Watch
) -> None:
    reader, transport = await _open_reader(program.pipes.stdout)
    line = bytearray()
    try:
        async with to_session:
            while chunk := await reader.read(_CHUNK):
                if not watch.count(len(chunk) + _LINE * chunk.count(b"\n")):
                    return
                *whole, rest = chunk.split(b"\n")
                for part in whole:
                    await to_session.send(_message(bytes(line) + part))
                    line.clear()
                line += rest
                if len(line) > MOST_MESSAGE:
                    watch.problem = f"it sent a message of more than {MOST_MESSAGE // 1_000_000} MB"
                    return
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        pass
    finally:
        transport.close()
        watch.gone.set()


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except (ValueError, RecursionError) as error:
        return error if isinstance(error, ValueError) else ValueError("the message is nested too deeply")


async def _write(
    program: Program, from_session: MemoryObjectReceiveStream[SessionMessage], watch: Watch
) -> None:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(program.pipes.stdin, "wb", buffering=0)
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    try:
        async with from_session:
            async for sent in from_session:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                writer.write(text.encode() + b"\n")
                await writer.drain()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        watch.gone.set()
    finally:
        transport.close()


async def _read_errors(program: Program, watch: Watch) -> None:
    reader, transport = await _open_reader(program.pipes.stderr)
    read = 0
    try:
        with suppress(OSError):
            while chunk := await reader.read(_CHUNK):
                watch.add_error(chunk[-_KEPT_ERRORS:].decode(errors="replace"))
                read += len(chunk)
                if read > _MOST_ERRORS:
                    await asyncio.sleep(_ERROR_PAUSE)
    finally:
        transport.close()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, watch: Watch) -> None:
        self._stream = stream
        self._watch = watch

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            if not self._watch.count(len(chunk)):
                self._watch.gone.set()
                raise httpx2.ReadError(self._watch.problem)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def over_http(url: str, headers: Mapping[str, str], watch: Watch) -> "AsyncGenerator[TransportStreams]":
    """Exchange messages with a server at an address. No redirect leads to another host."""

    async def bound(response: httpx2.Response) -> None:
        # A few compressed bytes can unpack to any size in one step, before we could count them.
        if response.headers.get("content-encoding", "identity") != "identity":
            watch.problem = "its answer is compressed, although that was not asked for"
            raise httpx2.ReadError(watch.problem)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, watch)

    client = httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **headers},
        follow_redirects=False,
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS),
        event_hooks={"response": [bound]},
    )
    async with (
        client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MOST_MESSAGE) as streams,
    ):
        yield streams
