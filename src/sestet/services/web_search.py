"""Searches the web, through a SearXNG-compatible endpoint of the settings."""

import asyncio
import json
from typing import TYPE_CHECKING, Protocol, cast

from sestet.core.errors import ConfigError, ToolError
from sestet.core.masking import mask_address
from sestet.core.record import Record
from sestet.core.tool import CallInfo
from sestet.core.words import duration

# HTTP modules are imported on use: every start loads this module, and few sessions search the web.
if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse
    from threading import Event
    from urllib.parse import SplitResult

_SECONDS = 20.0
_MOST_BYTES = 2_000_000
_PIECE_BYTES = 65_536
_TITLE_LENGTH = 200
_EXCERPT_LENGTH = 500
_MEANINGS = {
    403: "; if it is SearXNG, 'json' must stand under search.formats in its settings",
    429: "; it is being asked too often: wait a while",
}


class WebResult(Record):
    title: str
    url: str
    excerpt: str


class WebSearch(Protocol):
    """Finds pages of the web, by whatever way the settings choose."""

    async def find(self, query: str, limit: int, call: CallInfo) -> list[WebResult]:
        """The first results; every failure becomes a ToolError."""
        ...


class EndpointSearch:
    """Calls one endpoint over HTTP."""

    def __init__(self, url: str, seconds: float = _SECONDS, key: str = "") -> None:
        """``key``: sent as a bearer token."""
        self._address = _address(url)
        self._seconds = seconds
        self._key = key

    async def find(self, query: str, limit: int, call: CallInfo) -> list[WebResult]:
        return await asyncio.to_thread(self.search, query, limit)

    def search(self, query: str, limit: int) -> list[WebResult]:
        """The first results; every failure becomes a ToolError. Blocking: call it from a thread."""
        content = self._fetch(query)
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ToolError("the search endpoint did not answer with JSON; see 'search.url'") from error
        found = cast("dict[str, object]", answer).get("results") if isinstance(answer, dict) else None
        if not isinstance(found, list):
            raise ToolError("the search endpoint answered without 'results'; see 'search.url'")
        results = (_result(entry) for entry in cast("list[object]", found))
        return [result for result in results if result is not None][:limit]

    def _fetch(self, query: str) -> bytes:
        from http.client import HTTPException
        from threading import Event, Timer
        from urllib.parse import urlencode

        connection = self._connect()
        # The socket timeout limits each wait; this timer limits all waits together.
        over = Event()
        watchdog = Timer(self._seconds, _hang_up, (connection, over))
        watchdog.daemon = True
        watchdog.start()
        try:
            target = f"{self._address.path}?{urlencode({'q': query, 'format': 'json'})}"
            headers = {"Accept": "application/json", "User-Agent": "sestet", "Connection": "close"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            connection.request("GET", target, headers=headers)
            body = _body(connection.getresponse())
            if over.is_set():
                raise TimeoutError
            return body
        except (OSError, HTTPException) as error:
            if over.is_set() or isinstance(error, TimeoutError):
                raise ToolError(f"the search endpoint took longer than {duration(self._seconds)}") from error
            reason = str(error) or type(error).__name__
            raise ToolError(f"the search endpoint cannot be reached: {reason}; are you online?") from error
        finally:
            watchdog.cancel()
            connection.close()

    def _connect(self) -> "HTTPConnection":
        from http.client import HTTPConnection, HTTPSConnection

        # One host only: no proxy, and no redirects.
        secure = self._address.scheme == "https"
        kind = HTTPSConnection if secure else HTTPConnection
        return kind(self._address.hostname or "", self._address.port, timeout=self._seconds)


def _address(url: str) -> "SplitResult":
    """The parsed address of the endpoint; a bad one is a ConfigError."""
    from urllib.parse import urlsplit

    try:
        address = urlsplit(url.strip())
        usable = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:
        usable, address = False, urlsplit("")
    if not usable or address.username or address.query or address.fragment or not url.isascii():
        # The part after '?' may hold a key, so it is not shown.
        shown = mask_address(url)
        raise ConfigError(
            [f"search.url: {shown!r} must be the address of a search endpoint, such as http://127.0.0.1:8888"]
        )
    path = address.path.rstrip("/").removesuffix("/search")
    return address._replace(path=f"{path}/search")


def _body(response: "HTTPResponse") -> bytes:
    if 300 <= response.status < 400:
        raise ToolError("the search endpoint redirects elsewhere, which is not followed; see 'search.url'")
    if response.status != 200:
        meaning = _MEANINGS.get(response.status, "")
        raise ToolError(f"the search endpoint answered with status {response.status}{meaning}")
    body = b""
    while piece := response.read1(_PIECE_BYTES):
        body += piece
        if len(body) > _MOST_BYTES:
            raise ToolError(f"the search endpoint's answer is larger than {_MOST_BYTES:,} bytes")
    return body


def _hang_up(connection: "HTTPConnection", over: "Event") -> None:
    import socket

    over.set()
    if connection.sock is not None:
        try:
            connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # closed meanwhile


def _result(entry: object) -> WebResult | None:
    """A result with the address of a page, or None."""
    if not isinstance(entry, dict):
        return None
    values = cast("dict[str, object]", entry)
    title, url, excerpt = (_line(values.get(name)) for name in ("title", "url", "content"))
    if not url.startswith(("http://", "https://")) or len(url) > 2_000:
        return None
    return WebResult(title[:_TITLE_LENGTH] or url, url, excerpt[:_EXCERPT_LENGTH])


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
