"""Who may enter: checks each request before any of its body is read.

The host must be one of ours (a page on another name that leads here is refused), a request from a foreign
page is refused, and a token is required. The token comes in a header or in a cookie that other sites cannot
send; never in an address, which ends up in histories and logs.
"""

import secrets
import time
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from sestet.server.endpoint import error_response
from sestet.server.errors import ApiError
from sestet.server.limits import RequestLimits, limited_body
from sestet.services.tokens import TokenRow, Tokens

#: The cookie of a browser. The prefix makes browsers refuse one that a subdomain sets, over TLS.
COOKIE = "sestet_token"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
#: Paths that need no token: they tell nothing.
OPEN_PATHS = frozenset({"/health", "/ready", "/enter", "/", "/favicon.ico"})
_CODE_SECONDS = 60.0
_TOKEN_PARAMETERS = ("token", "access_token", "api_key", "key")


class EntryCodes:
    """Codes that let a browser in once: each is valid for a minute."""

    def __init__(self) -> None:
        self._codes: dict[str, float] = {}

    def new(self) -> str:
        code = secrets.token_urlsafe(24)
        self._codes[code] = time.monotonic() + _CODE_SECONDS
        return code

    def use(self, code: str) -> bool:
        """Whether the code lets somebody in now; afterwards it does no more."""
        return self._codes.pop(code, 0.0) > time.monotonic()


class Entry:
    """The outermost layer of the server."""

    def __init__(self, inner: ASGIApp, tokens: Tokens, hosts: Iterable[str], limits: RequestLimits) -> None:
        """``hosts``: the names that a request may call this server, with their port."""
        self._inner = inner
        self._tokens = tokens
        self._hosts = frozenset(host.lower() for host in hosts)
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._inner(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            self._require_own_host(headers)
            self._require_own_page(scope, headers)
            _refuse_token_in_address(scope)
            token = self._token(headers)
            if token is None and scope["path"] not in OPEN_PATHS:
                raise _unknown(headers)
            if token is not None:
                self._limits.count(token.name)
            scope["sestet.token"] = token
            receive = limited_body(headers, receive, self._limits.body_of(scope["path"]))
        except ApiError as error:
            await error_response(error)(scope, receive, send)
            return
        await self._inner(scope, receive, send)

    def _require_own_host(self, headers: Headers) -> None:
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self._hosts:
            raise ApiError(
                "misdirected",
                "this server does not answer to that host name",
                "use the address that 'sestet serve' prints, or name the host with --allow-host",
            )

    def _require_own_page(self, scope: Scope, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"{scope['scheme']}://{headers['host'].lower()}":
            raise ApiError("forbidden", "requests from pages of other sites are refused")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise ApiError("forbidden", "requests from pages of other sites are refused")

    def _token(self, headers: Headers) -> TokenRow | None:
        kind, _, value = headers.get("authorization", "").partition(" ")
        shown = value.strip() if kind.lower() == "bearer" else _cookie(headers)
        return self._tokens.find(shown) if shown else None


def loopback_hosts(port: int) -> list[str]:
    return [f"{host}:{port}" for host in _LOOPBACK]


def _cookie(headers: Headers) -> str:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def _refuse_token_in_address(scope: Scope) -> None:
    query = scope["query_string"]
    if query and any(name in parse_qs(query.decode("latin-1")) for name in _TOKEN_PARAMETERS):
        raise ApiError(
            "bad_request", "a token must not be in an address", "send the header Authorization: Bearer TOKEN"
        )


def _unknown(headers: Headers) -> ApiError:
    shown = "authorization" in headers or "cookie" in headers
    return ApiError(
        "unauthorized",
        "this token is unknown or was revoked" if shown else "a token is required",
        "send the header Authorization: Bearer TOKEN; the owner's is in the file 'server-token' "
        "of the data directory, and 'sestet tokens new NAME' makes others",
    )
