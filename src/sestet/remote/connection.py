"""An HTTP client for servers that are not trusted: bounded answers, no redirects, no cookies."""

import ssl
from collections.abc import AsyncIterator
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

_CONNECT_SECONDS = 10.0


class AnswerRefused(httpx.TransportError):
    """The server sent more than the limit, or compressed its answer so that its size is unknown."""


class _BoundedStream(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._limit:
                raise AnswerRefused(f"its answer is larger than {self._limit // 1_000_000} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def open_connection(limit: int, trusted: ssl.SSLContext) -> httpx.AsyncClient:
    """A client that reads ``limit`` bytes of an answer at most; the caller bounds the time."""

    async def bound(response: httpx.Response) -> None:
        # A few compressed bytes can unpack to any size in one step, before we could count them.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise AnswerRefused("its answer is compressed, although that was not asked for")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, limit)

    return httpx.AsyncClient(
        verify=trusted,
        follow_redirects=False,
        timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
        headers={"accept-encoding": "identity"},
        # A cookie would tie one request to the next, and each has to stand alone.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        event_hooks={"response": [bound]},
    )
