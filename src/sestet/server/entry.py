"""Who may enter: checks each request before any of its body is read.

The host must be one of ours (a page on another name that leads here is refused), a request from a foreign
page is refused, and a token is required. The token comes in a header or in a cookie that other sites cannot
send; never in an address, which ends up in histories and logs.
"""

import secrets
import time
from collections.abc import Iterable
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sestet.server.endpoint import error_response
from sestet.server.errors import ApiError
from sestet.server.limits import RequestLimits, limited_body
from sestet.server.security_headers import with_security_headers
from sestet.services.tokens import TokenRow, Tokens, is_token

_COOKIE = "sestet_token"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_DEFAULT_PORTS = {"http": 80, "https": 443}
#: Paths that need no token: they tell nothing.
OPEN_PATHS = frozenset({"/health", "/ready", "/enter", "/favicon.ico"})
_CODE_SECONDS = 60.0
_TOKEN_PARAMETERS = frozenset({"token", "access_token", "api_key", "key"})


class EntryCodes:
    """Codes that let a browser in once: each is valid for a minute."""

    def __init__(self) -> None:
        self._codes: dict[str, float] = {}

    def new(self, seconds: float = _CODE_SECONDS) -> str:
        code = secrets.token_urlsafe(24)
        self._codes[code] = time.monotonic() + seconds
        return code

    def use(self, code: str) -> bool:
        """Whether the code lets somebody in now; afterwards it does no more."""
        return self._codes.pop(code, 0.0) > time.monotonic()


class Entry:
    """The outermost layer of the server."""

    def __init__(
        self,
        inner: ASGIApp,
        tokens: Tokens,
        hosts: Iterable[str],
        limits: RequestLimits,
        scheme: str,
        page: frozenset[str] = frozenset(),
    ) -> None:
        """``hosts``: the names that a request may call this server, with their port.

        ``scheme``: the one that clients see, which a proxy may have changed on the way.
        ``page``: the paths of the page's own files, which hold nothing private.
        """
        self._page = page
        self._inner = inner
        self._tokens = tokens
        self._hosts = frozenset(host.lower() for host in hosts)
        self._limits = limits
        self._scheme = scheme
        self._cookie = cookie_name(scheme)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = False

        async def send_safely(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": with_security_headers(list(message.get("headers", ())))}
            await send(message)

        scope["scheme"] = self._scheme
        try:
            receive = self._admit(scope, receive)
            await self._inner(scope, receive, send_safely)
        except Exception as error:
            if not started:
                await _error(error)(scope, receive, send_safely)
            elif not isinstance(error, ApiError):
                raise

    def _admit(self, scope: Scope, receive: Receive) -> Receive:
        """Check everything but the body, and limit the body."""
        headers = Headers(scope=scope)
        self._require_own_host(scope, headers)
        self._require_own_page(headers)
        _require_ordinary(scope, headers)
        _refuse_token_in_address(scope)
        token = self._token(headers)
        if token is None and not self._is_open(scope):
            raise _unknown(headers)
        if token is not None:
            self._limits.count(token.name)
        scope["sestet.token"] = token
        return limited_body(headers, receive, self._limits.body_of(scope["path"]))

    def _is_open(self, scope: Scope) -> bool:
        # Other methods at the path of a file may be requests: A2A answers a POST at "/".
        reads = scope["method"] in ("GET", "HEAD")
        return scope["path"] in OPEN_PATHS or (reads and scope["path"] in self._page)

    def _require_own_host(self, scope: Scope, headers: Headers) -> None:
        named = headers.getlist("host")
        if len(named) != 1 or not (named[0].lower() in self._hosts or named[0] == _own_address(scope)):
            raise ApiError(
                "misdirected",
                "this server does not answer to that host name",
                "use the address that 'sestet serve' prints, or name the host with --allow-host",
            )

    def _require_own_page(self, headers: Headers) -> None:
        own = f"{self._scheme}://{headers['host'].lower()}"
        if any(origin.lower() != own for origin in headers.getlist("origin")):
            raise ApiError("forbidden", "requests from pages of other sites are refused")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise ApiError("forbidden", "requests from pages of other sites are refused")

    def _token(self, headers: Headers) -> TokenRow | None:
        kind, _, value = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            value = cookie_parser(headers.get("cookie", "")).get(self._cookie, "")
        return self._tokens.find(value.strip())


def cookie_name(scheme: str) -> str:
    """Over TLS the prefix makes browsers refuse a cookie of this name that another host has set."""
    return f"__Host-{_COOKIE}" if scheme == "https" else _COOKIE


def loopback_hosts(port: int, scheme: str) -> list[str]:
    return [written for host in _LOOPBACK for written in written_hosts(host, port, scheme)]


def written_hosts(host: str, port: int, scheme: str) -> list[str]:
    """How clients write a host: with the port, and without it if it is the usual one."""
    return [f"{host}:{port}", *([host] if port == _DEFAULT_PORTS[scheme] else [])]


def _own_address(scope: Scope) -> str:
    """The address at which a request arrived: a page on a foreign name cannot have it as its host."""
    address, port = scope.get("server") or ("", None)
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _require_ordinary(scope: Scope, headers: Headers) -> None:
    # The application answers every other method, with those that are possible at the path.
    if scope["method"] == "CONNECT":
        raise ApiError("method_not_allowed", "this method is not possible here")
    if not scope["path"].startswith("/"):
        raise ApiError("bad_request", "the address of a request must be a path that begins with '/'")
    if headers.get("upgrade", "").lower() == "websocket":
        raise ApiError("bad_request", "there are no WebSockets here", "events come as server-sent events")


def _refuse_token_in_address(scope: Scope) -> None:
    query = scope["query_string"]
    if query and any(
        name.lower() in _TOKEN_PARAMETERS or is_token(value)
        for name, value in parse_qsl(query.decode("latin-1"))
    ):
        raise ApiError(
            "bad_request", "a token must not be in an address", "send the header Authorization: Bearer TOKEN"
        )


def _error(error: Exception) -> Response:
    response = error_response(error)
    if isinstance(error, ApiError) and error.status == 429:
        response.headers["retry-after"] = str(error.retry_after)
    return response


def _unknown(headers: Headers) -> ApiError:
    shown = "authorization" in headers or "cookie" in headers
    return ApiError(
        "unauthorized",
        "this token is unknown or was revoked" if shown else "a token is required",
        "send the header Authorization: Bearer TOKEN; the owner's is in the file 'server-token' "
        "of the data directory, and 'sestet tokens new NAME' makes others",
    )
