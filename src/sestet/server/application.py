"""The web application: every endpoint of every surface, behind one entry."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, compile_path
from starlette.types import ASGIApp

from sestet import __version__
from sestet.core.record import Record, to_json
from sestet.server import (
    agents,
    agui,
    built_page,
    calls,
    conversations,
    costs,
    documents,
    graph,
    journal,
    knowledge,
    memory,
    metrics_api,
    openai_chat,
    openai_responses,
    openapi,
    session_list,
    sessions,
    settings,
    stream,
)
from sestet.server.built_page import page_routes
from sestet.server.endpoint import Endpoint, answer, error_response
from sestet.server.entry import Entry, EntryCodes
from sestet.server.errors import ApiError
from sestet.server.host import Host
from sestet.server.limits import RequestLimits
from sestet.server.sign_in import sign_in_routes

_FAMILIES = (
    session_list,
    conversations,
    journal,
    stream,
    calls,
    sessions,
    agents,
    memory,
    knowledge,
    documents,
    graph,
    costs,
    settings,
)
_OWN = tuple(endpoint for family in _FAMILIES for endpoint in family.ENDPOINTS)
#: The endpoints of our own API, which the OpenAPI document describes.
API: tuple[Endpoint, ...] = (*_OWN, openapi.endpoint_of(_OWN))
#: Every endpoint of every surface.
#: A request looks for its path in this order, so those that are made most often come first.
ENDPOINTS: tuple[Endpoint, ...] = (
    *agui.ENDPOINTS,
    *openai_chat.ENDPOINTS,
    *openai_responses.ENDPOINTS,
    *API,
    *metrics_api.ENDPOINTS,
)


class Health(Record):
    status: str
    version: str


def application(
    host: Host, codes: EntryCodes, hosts: Sequence[str], limits: RequestLimits, scheme: str = "http"
) -> ASGIApp:
    """``hosts``: the names and ports that this server answers to; ``scheme``: the one that clients see."""

    async def health(request: Request) -> Response:
        return _json(Health("ok", __version__))

    async def ready(request: Request) -> Response:
        if host.turns.is_stopping:
            return error_response(ApiError("unavailable", "the server is stopping"))
        return _json(Health("ready", __version__))

    page = page_routes(built_page.DIRECTORY)
    routes = [
        *(_route(host, endpoint, limits) for endpoint in ENDPOINTS),
        Route("/health", health),
        Route("/ready", ready),
        *sign_in_routes(host.tokens, codes, limits, scheme),
        *page,
    ]
    inner = Starlette(routes=routes, exception_handlers={HTTPException: _no_such_page, Exception: _failed})
    inner.router.redirect_slashes = False
    return Entry(inner, host.tokens, hosts, limits, scheme, frozenset(route.path for route in page))


def _route(host: Host, endpoint: Endpoint, limits: RequestLimits) -> Route:
    async def handle(request: Request) -> Response:
        return await answer(host, limits, endpoint, request)

    return Route(endpoint.path, handle, methods=[endpoint.method])


async def _no_such_page(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code == 405:
        response = error_response(ApiError("method_not_allowed", f"{request.method} is not possible here"))
        response.headers["allow"] = _allowed_methods(request.url.path)
        return response
    return error_response(ApiError("not_found", "there is nothing at this path", "see /api/openapi.json"))


def _allowed_methods(path: str) -> str:
    """The methods of every endpoint at a path, as the header Allow has them."""
    patterns = ((each, compile_path(each.path)[0]) for each in ENDPOINTS)
    methods = {each.method for each, pattern in patterns if pattern.match(path)}
    return ", ".join(sorted(methods)) or ("GET, POST" if path == "/enter" else "GET")


async def _failed(request: Request, error: Exception) -> Response:
    return error_response(error)


def _json(value: object) -> Response:
    return Response(to_json(value), media_type="application/json")
