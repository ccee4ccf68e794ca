"""One HTTP request with a secret in it, made by the broker: to its own host, and to no other."""

import http.client
import socket
import ssl
import time
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from sestet.core.errors import VaultError
from sestet.core.words import duration
from sestet.services.vault.entries import origin

#: Where the secret stands in a header or in the body.
SLOT = "{secret}"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_SECONDS = 30.0
_MOST_BYTES = 1_000_000
_PIECE = 65_536
_MOST_REDIRECTS = 5
#: Headers that would change who receives the request, or how its end is found.
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "proxy-authorization", "te"}
)
#: After these, a server wants to be asked again with GET.
_AS_GET = (301, 302, 303)
_ELSEWHERE = (301, 302, 303, 307, 308)


class WebAnswer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class WebRequest(NamedTuple):
    """A request as the model wrote it, without the secret."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: str

    def filled(self, secret: str, *, in_body: bool) -> "WebRequest":
        """The request with the secret in its slots; without any slot it becomes a bearer token."""
        if SLOT in self.url:
            raise VaultError("a secret is never put into an address, which servers log; use a header")
        if SLOT in self.body and not in_body:
            raise VaultError("this secret may stand in headers alone, not in a body")
        headers = {name: value.replace(SLOT, secret) for name, value in self.headers.items()}
        if headers == dict(self.headers) and SLOT not in self.body:
            if any(name.casefold() == "authorization" for name in headers):
                raise VaultError(f"put {SLOT} into the Authorization header, or leave that header out")
            headers["Authorization"] = f"Bearer {secret}"
        return self._replace(headers=headers, body=self.body.replace(SLOT, secret) if in_body else self.body)


def checked(request: WebRequest) -> WebRequest:
    """The request, if it can be made; else a ``VaultError``. Before a secret is in it."""
    method = request.method.upper()
    if method not in METHODS:
        raise VaultError(f"'{request.method}' is no method; known: {', '.join(METHODS)}")
    origin(request.url)
    if not request.url.isascii() or any(sign <= " " for sign in request.url):
        raise VaultError("the address holds a sign that must be encoded with %")
    for name, value in request.headers.items():
        if name.casefold() in _OURS:
            raise VaultError(f"the header '{name}' is not yours to set")
        if not name.isascii() or not all(sign.isalnum() or sign in "!#$%&'*+-.^_`|~" for sign in name):
            raise VaultError(f"'{name}' is not the name of a header")
        if any(sign < " " and sign != "\t" for sign in value):
            raise VaultError(f"the header '{name}' holds a control character")
    return request._replace(method=method)


def send(request: WebRequest) -> WebAnswer:
    """Make the request; a redirect to another origin is not followed, but told."""
    until = time.monotonic() + _SECONDS
    home, url, method, body = origin(request.url), request.url, request.method, request.body
    for _ in range(_MOST_REDIRECTS + 1):
        answer = _ask_once(request._replace(url=url, method=method, body=body), until)
        target = answer.headers.get("location", "")
        if answer.status not in _ELSEWHERE or not target:
            return answer
        url = urljoin(url, target)
        try:
            follows = origin(url) == home and url.isascii()
        except VaultError:
            follows = False
        if not follows:
            return answer
        if answer.status in _AS_GET and method != "HEAD":
            method, body = "GET", ""
    raise VaultError(f"the server redirected more than {_MOST_REDIRECTS} times")


def _ask_once(request: WebRequest, until: float) -> WebAnswer:
    parts = urlsplit(request.url)
    host = parts.hostname or ""
    left = until - time.monotonic()
    if left <= 0:
        raise _late()
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, parts.port, timeout=left, context=context)
    else:
        connection = http.client.HTTPConnection(host, parts.port, timeout=left)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {
        "User-Agent": "sestet",
        "Accept-Encoding": "identity",
        **request.headers,
        "Connection": "close",
    }
    body = request.body.encode() if request.body or request.method in ("POST", "PUT", "PATCH") else None
    try:
        connection.request(request.method, target, body=body, headers=headers)
        response = connection.getresponse()
        content = _read(response, connection.sock, until)
        # A header may come several times; of each, the last one is told.
        return WebAnswer(
            response.status, {name.lower(): value for name, value in response.getheaders()}, content
        )
    except TimeoutError:
        raise _late() from None
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        # The text of the error may repeat a header.
        why = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        raise VaultError(f"{origin(request.url)} cannot be reached: {why}") from None
    finally:
        connection.close()


def _read(response: http.client.HTTPResponse, channel: socket.socket | None, until: float) -> bytes:
    content = b""
    while len(content) <= _MOST_BYTES:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if channel is not None and channel.fileno() >= 0:
            channel.settimeout(left)
        piece = response.read1(_PIECE)
        if not piece:
            return content
        content += piece
    raise VaultError(f"the answer is larger than {_MOST_BYTES:,} bytes")


def _late() -> VaultError:
    return VaultError(f"the server took longer than {duration(_SECONDS)}")
