"""One connection of a client. It closes when the client is too slow, so that no client can keep others out.

uvicorn alone waits for ever: for the head of a request, for its body, and for a client that does not read.
"""

import asyncio
from collections import OrderedDict
from typing import Literal, TypeAlias

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from sestet.core.record import Record, to_json
from sestet.server.errors import ApiError, ErrorBody
from sestet.server.security_headers import API_HEADERS

#: A body gets one more second for so many bytes: a large document may come over a slow line.
_BYTES_A_SECOND = 10_000

#: ``head``: a request begins, or must begin. ``body``: its body comes. ``rest``: it was answered, and the
#: rest of its body is thrown away. ``idle``: between two requests. ``busy``: the whole request is here.
_Phase: TypeAlias = Literal["head", "body", "rest", "idle", "busy"]


class ConnectionLimits(Record):
    """How long a client may take, in seconds, and how many may wait."""

    head: float = 10.0
    body: float = 30.0
    #: After an answer that needed no body, such as 413: a client that still sends can read the answer.
    rest: float = 2.0
    #: A client that does not read what it is sent.
    unread: float = 30.0
    handshake: float = 10.0
    #: Connections without a request. If there are more, the one that waits longest is closed.
    waiting: int = 1000
    #: Nobody is closed for being too many before so many seconds: a request may be on its way.
    settle: float = 1.0


class WaitingRoom:
    """The connections that have no request."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._since: OrderedDict[GuardedConnection, float] = OrderedDict()

    def enter(self, connection: "GuardedConnection", now: float) -> None:
        self._since.setdefault(connection, now)
        if len(self._since) > self.limits.waiting:
            longest, since = next(iter(self._since.items()))
            if now - since >= self.limits.settle:
                self.leave(longest)
                longest.transport.abort()

    def leave(self, connection: "GuardedConnection") -> None:
        self._since.pop(connection, None)


class GatheredWrites(asyncio.Transport):
    """Sends what is written in one step of the event loop in one piece: a system call costs more."""

    def __init__(self, inner: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._inner = inner
        self._loop = loop
        self._held: list[bytes | bytearray | memoryview] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)

    def _flush(self) -> None:
        held, self._held = self._held, []
        if not self._inner.is_closing():
            self._inner.write(b"".join(held))

    def close(self) -> None:
        self._flush()
        self._inner.close()

    def abort(self) -> None:
        self._held.clear()
        self._inner.abort()

    def is_closing(self) -> bool:
        return self._inner.is_closing()

    def get_extra_info(self, name: str, default: object = None) -> object:
        return self._inner.get_extra_info(name, default)

    def pause_reading(self) -> None:
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        self._inner.resume_reading()


class GuardedConnection(H11Protocol):
    def __init__(
        self, room: WaitingRoom, config: Config, state: ServerState, loop: asyncio.AbstractEventLoop
    ) -> None:
        super().__init__(config, state, {}, loop)
        self._room = room
        self._limits = room.limits
        self._phase: _Phase = "busy"
        self._since = 0.0
        #: Bytes since the phase began.
        self._received = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(GatheredWrites(transport, self.loop))
        self._enter("head", 0)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._enter("busy", 0)
        self._forget_unread()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._received += len(data)
        self._watch(self._phase_now(begins=True), len(data))

    def on_response_complete(self) -> None:
        super().on_response_complete()
        begins = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        self._watch(self._phase_now(begins), 0)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self._limits.unread, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forget_unread()

    def send_400_response(self, msg: str) -> None:
        self._refuse(ApiError("bad_request", "this is not HTTP that the server can read"))

    def _should_upgrade(self) -> bool:
        # Clients offer HTTP/2 this way, and go on without it. The entry refuses WebSockets.
        return False

    def _phase_now(self, begins: bool) -> _Phase:
        """``begins``: the first bytes of a request are here."""
        theirs = self.conn.their_state
        if theirs is h11.SEND_BODY:
            answered = self.cycle is not None and self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison] - None before the first request
            return "rest" if answered else "body"
        if theirs is h11.IDLE:
            return "head" if begins else "idle"
        return "busy"

    def _watch(self, phase: _Phase, received: int) -> None:
        if phase != self._phase and not self.transport.is_closing():
            self._enter(phase, received)

    def _enter(self, phase: _Phase, received: int) -> None:
        self._phase, self._received, self._since = phase, received, self.loop.time()
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if (seconds := self._seconds()) is not None:
            self._deadline = self.loop.call_later(seconds, self._check_pace)
        if phase in ("head", "idle"):
            self._room.enter(self, self._since)
        else:
            self._room.leave(self)

    def _seconds(self) -> float | None:
        """How long this phase may take in all; None: uvicorn ends an idle one, and a busy one is ours."""
        match self._phase:
            case "head":
                return self._limits.head
            case "body":
                return self._limits.body + self._received / _BYTES_A_SECOND
            case "rest":
                return self._limits.rest
            case _:
                return None

    def _check_pace(self) -> None:
        left = self._since + (self._seconds() or 0.0) - self.loop.time()
        if left > 0:
            self._deadline = self.loop.call_later(left, self._check_pace)
        elif self._phase == "rest" or not self._received:
            self.transport.abort()
        else:
            self._refuse(ApiError("too_slow", "the request did not arrive in time", "send it again"))

    def _refuse(self, error: ApiError) -> None:
        """Answer in place of the application, and close."""
        if self.transport.is_closing():
            return
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            # An answer is on its way already.
            self.transport.abort()
            return
        content = to_json(ErrorBody(error.facts))
        headers = [
            *API_HEADERS,
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=error.status, headers=headers),
            h11.Data(data=content),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _forget_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
