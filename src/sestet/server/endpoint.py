"""One request of the API: its path, what it takes and gives, and who may make it. All of it is data.

The table of endpoints gives the routes, the checks of every request, and the OpenAPI document.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar, cast

from starlette.requests import Request
from starlette.responses import Response

from sestet.core.record import DecodeError, Meta, Record, ValidationError, convert, from_json, to_json
from sestet.core.secret_text import refusal
from sestet.server.errors import ApiError, ErrorBody, api_error, not_found
from sestet.server.host import Host
from sestet.server.limits import RequestLimits
from sestet.services.tokens import TokenRow, TokenScope

_log = logging.getLogger(__name__)
#: Digits of a number in a path: SQLite has numbers of 64 bits.
_LONGEST_NUMBER = 18
_MOST = 200

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Handler: TypeAlias = Callable[["Call[Any, Any]"], Awaitable[object]]
_BodyT = TypeVar("_BodyT")
_QueryT = TypeVar("_QueryT")


class Body(Record, forbid_unknown_fields=True):
    """The base of what a request brings: an unknown field is a mistake, and told."""


_Kind = TypeVar("_Kind", bound=Body)


class NoQuery(Body):
    """No parameter behind the question mark."""


#: How many rows an answer has at most.
Limit: TypeAlias = Annotated[int, Meta(ge=1, le=_MOST)]
#: A text that says something.
Words: TypeAlias = Annotated[str, Meta(min_length=1, max_length=2000, pattern=r"\S")]


class PageQuery(Body):
    limit: Limit = 50


class Endpoint(Record):
    method: Method
    path: str
    handle: Handler
    #: One line for the OpenAPI document.
    summary: str
    #: The scopes that may call it beside the owner's.
    scopes: tuple[TokenScope, ...] = ()
    body: type[Body] | None = None
    query: type[Body] = NoQuery
    #: The type of the answer; None: it has no body, or is a stream.
    answer: Any = None  # a record, or a list of records
    status: int = 200
    #: A stream of events in place of JSON.
    stream: bool = False
    #: Writes an error in the form of the endpoint's own clients; None: in ours.
    error: Callable[[Exception], Response] | None = None
    #: The media type of a body that is no JSON, such as a document; the handler reads it.
    takes: str = ""
    #: Media types in which the answer can come beside JSON.
    gives: tuple[str, ...] = ()


class Call(Generic[_BodyT, _QueryT]):
    """A request that has passed the checks of its endpoint."""

    def __init__(
        self, host: Host, limits: RequestLimits, request: Request, body: _BodyT, query: _QueryT
    ) -> None:
        self.host = host
        self.limits = limits
        self.request = request
        self.body = body
        self.query = query

    @property
    def token(self) -> TokenRow:
        return cast("TokenRow", self.request.scope["sestet.token"])

    def path(self, name: str) -> str:
        return cast("str", self.request.path_params[name])

    def number(self, name: str) -> int:
        """A part of the path that is a whole number; there is nothing at any other path."""
        text = self.path(name)
        if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER):
            raise not_found(name, text)
        return int(text)

    def header(self, name: str) -> str:
        return self.request.headers.get(name, "")


async def answer(host: Host, limits: RequestLimits, endpoint: Endpoint, request: Request) -> Response:
    """Check a request against its endpoint, handle it, and write the answer."""
    try:
        token = cast("TokenRow", request.scope["sestet.token"])
        if token.scope not in allowed(endpoint):
            raise ApiError(
                "forbidden",
                f"the token '{token.name}' has the scope '{token.scope}', which may not do this",
                "use a token with a wider scope: 'sestet tokens new NAME --scope owner'",
            )
        query = _query(endpoint.query, request)
        body = await read_body(endpoint.body, request) if endpoint.body else None
        result = await endpoint.handle(Call(host, limits, request, body, query))
    except Exception as error:
        return endpoint.error(error) if endpoint.error else error_response(error)
    if isinstance(result, Response):
        return result
    if result is None:
        return Response(status_code=204)
    return Response(to_json(result), endpoint.status, media_type="application/json")


def refuse_secret(text: str, anyway: bool) -> None:
    """Raise if a text looks like a secret, unless the client insists."""
    if not anyway and (why := refusal(text)):
        raise ApiError("conflict", why, "send 'anyway': true to keep it")


def allowed(endpoint: Endpoint) -> frozenset[TokenScope]:
    """The scopes of tokens that may call an endpoint; the owner may call every one."""
    return frozenset({"owner", *endpoint.scopes})


def error_response(error: Exception) -> Response:
    told = api_error(error)
    if told.facts.code == "internal":
        _log.error("a request failed on a bug", exc_info=error)
    headers = {"WWW-Authenticate": "Bearer"} if told.status == 401 else {}
    headers |= {"Retry-After": str(told.retry_after)} if told.status in (429, 503) else {}
    return Response(to_json(ErrorBody(told.facts)), told.status, headers, "application/json")


def _query(kind: type[Body], request: Request) -> Body:
    given = request.query_params
    if len(given.multi_items()) > len(given):
        raise ApiError("bad_request", "a parameter of the query is given more than once")
    try:
        return convert(dict(given), kind, strict=False)
    except ValidationError as error:
        raise ApiError("bad_request", f"in the query: {error}") from None


async def read_body(kind: type[_Kind], request: Request) -> _Kind:
    """The body of a request, which must be JSON of this form."""
    declared = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if declared != "application/json":
        raise ApiError(
            "unsupported_media_type", "the body must be JSON", "send Content-Type: application/json"
        )
    content = await request.body()
    try:
        return from_json(content, type=kind)
    except (DecodeError, RecursionError, UnicodeError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ApiError("bad_request", f"the body cannot be read: {why}") from None
