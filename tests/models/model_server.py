"""A model server on loopback that sends the answers a test prepared, over real HTTP."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

#: One event of a stream: a chunk, raw text in its place, or a gate that the test opens.
Event: TypeAlias = "Mapping[str, object] | str | asyncio.Event"
Ending: TypeAlias = Literal["done", "end", "drop", "hang"]


@dataclass(frozen=True)
class Answer:
    """The answer to one request: a stream of events, or a status with a body."""

    events: Sequence[Event] = ()
    #: done: as OpenAI ends it; end: closed in good order but too early; drop: cut; hang: held open for ever.
    ending: Ending = "done"
    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Received:
    """A request that a client sent."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]  # Any: JSON that a test looks into


class ModelServer:
    """Gives the answers in order, the last one again and again; remembers every request."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = list(answers)
        self._connections: list[asyncio.Task[None]] = []
        self.received: list[Received] = []
        #: Set when a client hangs up in the middle of an answer.
        self.abandoned = asyncio.Event()
        self.port = 0

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """As it is written for OpenAI's protocol."""
        return f"{self.root}/v1"

    @property
    def body(self) -> Mapping[str, Any]:
        """The body of the only request."""
        (received,) = self.received
        return received.body

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.append(asyncio.create_task(self._serve(reader, writer)))

    @property
    def connections(self) -> int:
        """How many there have been."""
        return len(self._connections)

    async def alone(self) -> None:
        """Returns when the last client has hung up."""
        await asyncio.gather(*self._connections)

    async def finish(self) -> None:
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # The client hung up.
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether the connection goes on."""
        head = await reader.readuntil(b"\r\n\r\n")
        request_line, *lines = head.decode().strip().splitlines()
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.received.append(Received(request_line.split()[1], headers, json.loads(body or b"{}")))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not answer.events:
            _send_whole(writer, answer)
            await writer.drain()
            return True
        return await self._stream(reader, writer, answer)

    async def _stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer
    ) -> bool:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for event in answer.events:
            if isinstance(event, asyncio.Event):
                await event.wait()
            else:
                _send_chunk(writer, event if isinstance(event, str) else f"data: {json.dumps(event)}\n\n")
                await writer.drain()
        if answer.ending == "hang":
            await reader.read()
            self.abandoned.set()
        if answer.ending in ("hang", "drop"):
            writer.transport.abort()
            return False
        if answer.ending == "done":
            _send_chunk(writer, "data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


@asynccontextmanager
async def serve(*answers: Answer) -> AsyncGenerator[ModelServer, None]:
    server = ModelServer(answers)
    listener = await asyncio.start_server(server.accept, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    async with listener:
        try:
            yield server
        finally:
            await server.finish()


def said(*events: Event, ending: Ending = "done") -> Answer:
    """An answer with status 200 that streams these events."""
    return Answer(events, ending)


def refused(status: int, body: object, **headers: str) -> Answer:
    """An answer with a status and a body; a header is written with ``_`` for ``-``."""
    text = body if isinstance(body, str) else json.dumps(body)
    return Answer(
        status=status, body=text, headers={name.replace("_", "-"): headers[name] for name in headers}
    )


def _send_chunk(writer: asyncio.StreamWriter, content: str) -> None:
    data = content.encode()
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _send_whole(writer: asyncio.StreamWriter, answer: Answer) -> None:
    data = answer.body.encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(data))} | dict(answer.headers)
    lines = [f"HTTP/1.1 {answer.status} Status", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode() + data)
