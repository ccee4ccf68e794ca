"""Connections to remote agents: bounded answers, no cookies, no redirects, no private network by surprise."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from sestet.config.settings import RemoteAgentSettings
from sestet.services.browser.address_rules import kind_of

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


class PrivateAddress(httpx.ConnectError):
    """A name leads to this machine or the owner's own network, and the settings do not say so."""


class _PublicOnly(httpx.AsyncBaseTransport):
    """Connects to public addresses alone: to the very address that was checked."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        address = await _public_address(host, request.url.port or 443)
        sent = httpx.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            # The certificate must still be the one of the name.
            extensions={**request.extensions, "sni_hostname": host},
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _public_address(host: str, port: int) -> str:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpx.ConnectError(f"the host '{host}' is not known") from error
    addresses = [str(place[0]) for *_, place in found]
    for address in addresses:
        if not is_public(address):
            raise PrivateAddress(
                f"'{host}' leads to the private address {address}: if that is your own network, "
                "set privateNetwork: true for this agent"
            )
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether an address in numbers is one of the open internet."""
    return not kind_of(ipaddress.ip_address(address.partition("%")[0]))


def names_its_network(url: str) -> bool:
    """Whether the owner wrote where an address leads: in numbers, or as localhost."""
    try:
        host = httpx.URL(url).host
    except httpx.InvalidURL:
        # Nothing can be sent there.
        return True
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return True


def connection_to(entry: RemoteAgentSettings, limit: int, trusted: ssl.SSLContext) -> httpx.AsyncClient:
    """A connection to the agent of an entry."""
    is_free = entry.private_network or names_its_network(entry.url)
    return open_connection(limit, trusted, entry.api_key, public_only=not is_free)


def open_connection(
    limit: int, trusted: ssl.SSLContext, key: str = "", *, public_only: bool = False
) -> httpx.AsyncClient:
    """A client that reads ``limit`` bytes of an answer at most; the caller bounds the time.

    ``key`` goes with every request: only addresses of the card's own host are used, and no redirect.
    """

    async def bound(response: httpx.Response) -> None:
        # A few compressed bytes can unpack to any size in one step, before we could count them.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise AnswerRefused("its answer is compressed, although that was not asked for")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, limit)

    return httpx.AsyncClient(
        verify=trusted,
        transport=_PublicOnly(httpx.AsyncHTTPTransport(verify=trusted)) if public_only else None,
        follow_redirects=False,
        timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
        headers={"accept-encoding": "identity", **({"authorization": f"Bearer {key}"} if key else {})},
        # A cookie would tie one request to the next, and each has to stand alone.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        event_hooks={"response": [bound]},
    )
