"""The web application: one entry, and behind it the surfaces, each loaded with its first request."""

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from sestet import __version__
from sestet.core.record import Record, to_json
from sestet.server import built_page
from sestet.server.built_page import page_routes
from sestet.server.endpoint import Endpoint, answer, error_response
from sestet.server.entry import Entry, EntryCodes
from sestet.server.errors import ApiError
from sestet.server.host import Host
from sestet.server.limits import RequestLimits
from sestet.server.sign_in import sign_in_routes

#: The module of each surface, by the beginning of its paths. It has the table ``ENDPOINTS``.
SURFACES = {
    "/agui": "sestet.server.agui",
    "/v1/": "sestet.server.openai_api",
    "/api/": "sestet.server.own_api",
    "/metrics": "sestet.server.metrics_api",
}


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
        Route("/health", health),
        Route("/ready", ready),
        *sign_in_routes(host.tokens, codes, limits, scheme),
        *page,
    ]

    def load(surface: str) -> ASGIApp:
        return _starlette([_route(host, endpoint, limits) for endpoint in endpoints_of(surface)])

    inner = _Surfaces(_starlette(routes), load)
    return Entry(inner, host.tokens, hosts, limits, scheme, frozenset(route.path for route in page))


def endpoints_of(surface: str) -> tuple[Endpoint, ...]:
    return import_module(SURFACES[surface]).ENDPOINTS


def all_endpoints() -> tuple[Endpoint, ...]:
    return tuple(endpoint for surface in SURFACES for endpoint in endpoints_of(surface))


class _Surfaces:
    """Hands a request to the surface that it is for.

    A server that is ready has not loaded all of them: most clients use one.
    """

    def __init__(self, others: ASGIApp, load: Callable[[str], ASGIApp]) -> None:
        """``others`` gets the requests that are for no surface."""
        self._others = others
        self._load = load
        self._loaded: dict[str, ASGIApp] = {}
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        surface = next((each for each in SURFACES if path.startswith(each)), None)
        inner = self._others if surface is None else self._loaded.get(surface) or await self._get(surface)
        await inner(scope, receive, send)

    async def _get(self, surface: str) -> ASGIApp:
        async with self._loading:
            if surface not in self._loaded:
                # In a thread, so that turns and other requests go on meanwhile.
                self._loaded[surface] = await asyncio.to_thread(self._load, surface)
        return self._loaded[surface]


def _starlette(routes: Sequence[Route]) -> Starlette:
    inner = Starlette(routes=routes, exception_handlers={HTTPException: _no_such_page, Exception: _failed})
    inner.router.redirect_slashes = False
    return inner


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
    surface = next((each for each in SURFACES if path.startswith(each)), None)
    if surface is None:
        return "GET, POST" if path == "/enter" else "GET"
    patterns = ((each, compile_path(each.path)[0]) for each in endpoints_of(surface))
    return ", ".join(sorted({each.method for each, pattern in patterns if pattern.match(path)}))


async def _failed(request: Request, error: Exception) -> Response:
    return error_response(error)


def _json(value: object) -> Response:
    return Response(to_json(value), media_type="application/json")
