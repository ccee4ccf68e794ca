"""What one request and one client may use: size of a body, requests a minute, open streams, time."""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from sestet.server.connection import ConnectionLimits
from sestet.server.errors import ApiError

_BODY_BYTES = 1_000_000
#: Bodies of these paths are larger: documents.
_LARGE_BODIES = {"/api/documents": 50_000_000}
_REQUESTS_A_MINUTE = 1200
_STREAMS = 64
#: Wrong tokens that one address may show in a minute, and the addresses that are remembered.
_WRONG_TOKENS = 10
_WRONG_SECONDS = 60.0
_ADDRESSES = 1000


class RequestLimits:
    """Counts the requests and streams of each token. The limits are for mistakes and loops of a client."""

    def __init__(
        self,
        requests_a_minute: int = _REQUESTS_A_MINUTE,
        streams: int = _STREAMS,
        body: int = _BODY_BYTES,
        connection: ConnectionLimits | None = None,
    ) -> None:
        self.connection = connection or ConnectionLimits()
        self._rate = requests_a_minute / 60
        self._most = float(requests_a_minute)
        self._streams = streams
        self._body = body
        #: For each token: the requests that it may make now, and when that was counted.
        self._left: dict[str, tuple[float, float]] = {}
        self._open: dict[str, int] = {}
        #: For each address: when it has shown wrong tokens.
        self._wrong: dict[str, list[float]] = {}

    def body_of(self, path: str) -> int:
        return _LARGE_BODIES.get(path, self._body)

    def count(self, token: str) -> None:
        """Count a request; raise if the token has made too many."""
        now = time.monotonic()
        left, since = self._left.get(token, (self._most, now))
        left = min(self._most, left + (now - since) * self._rate)
        if left < 1:
            wait = math.ceil((1 - left) / self._rate)
            raise ApiError(
                "too_many_requests", "this token makes too many requests", f"wait {wait} seconds", wait
            )
        self._left[token] = (left - 1, now)

    def require_few_wrong_tokens(self, address: str) -> None:
        """Raise while an address has shown too many wrong tokens."""
        now = time.monotonic()
        recent = [at for at in self._wrong.get(address, ()) if now - at < _WRONG_SECONDS]
        if len(recent) >= _WRONG_TOKENS:
            wait = math.ceil(recent[0] + _WRONG_SECONDS - now)
            raise ApiError(
                "too_many_requests", "too many wrong tokens came from here", f"wait {wait} seconds", wait
            )

    def count_wrong_token(self, address: str) -> None:
        times = [*self._wrong.pop(address, ()), time.monotonic()][-_WRONG_TOKENS:]
        self._wrong[address] = times
        if len(self._wrong) > _ADDRESSES:
            # The address whose last wrong token is the oldest.
            del self._wrong[next(iter(self._wrong))]

    @property
    def open_streams(self) -> int:
        return sum(self._open.values())

    @contextmanager
    def stream(self, token: str) -> Generator[None]:
        """Count an open stream while it is open; raise if the token has too many."""
        count = self._open.get(token, 0)
        if count >= self._streams:
            raise ApiError(
                "too_many_requests", f"this token already has {count} open streams", "close one of them"
            )
        self._open[token] = count + 1
        try:
            yield
        finally:
            self._open[token] -= 1
            if not self._open[token]:
                del self._open[token]


def limited_body(headers: Headers, receive: Receive, limit: int) -> Receive:
    """Refuse a body that is declared too large at once, and one that grows too large as soon as it does."""
    declared = headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared[:18]) > limit:
        raise _too_large(limit)
    got = 0

    async def counted() -> Message:
        nonlocal got
        message = await receive()
        got += len(message.get("body", b""))
        if got > limit:
            raise _too_large(limit)
        return message

    return counted


def _too_large(limit: int) -> ApiError:
    return ApiError("too_large", f"the body is larger than {limit:,} bytes")
