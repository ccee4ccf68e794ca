"""The web application: one entry, and behind it the surfaces, each loaded with its first request."""

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sestet import __version__
from sestet.config.installation import install_command
from sestet.core.errors import PersonError
from sestet.core.record import Record, to_json
from sestet.server import built_page
from sestet.server.built_page import page_paths
from sestet.server.endpoint import Endpoint, answer, error_response
from sestet.server.entry import Entry, EntryCodes
from sestet.server.errors import ApiError
from sestet.server.host import Host
from sestet.server.limits import RequestLimits
from sestet.server.paths import Path, Paths
from sestet.server.sign_in import sign_in_paths

#: The module of each surface, by the beginning of its paths. It has the table ``ENDPOINTS``.
SURFACES = {
    "/agui": "sestet.server.agui",
    "/v1/": "sestet.server.openai_api",
    "/api/": "sestet.server.own_api",
    "/metrics": "sestet.server.metrics_api",
    "/mcp": "sestet.server.mcp_api",
}
#: Surfaces of a protocol with a description of its own, which are not in the OpenAPI document.
_DESCRIBED_ELSEWHERE = frozenset({"/mcp"})


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

    page = page_paths(built_page.DIRECTORY)
    a2a, a2a_open = _a2a(host, limits, scheme)
    others = Paths(
        (
            Path("GET", "/health", health),
            Path("GET", "/ready", ready),
            *sign_in_paths(host.tokens, codes, limits, scheme),
            *a2a,
            *page,
        )
    )

    def load(surface: str) -> ASGIApp:
        return Paths(_path(host, endpoint, limits) for endpoint in endpoints_of(surface))

    inner = _Surfaces(others, load)
    open_paths = a2a_open.union(each.path for each in page)
    return Entry(inner, host.tokens, hosts, limits, scheme, open_paths)


def _a2a(host: Host, limits: RequestLimits, scheme: str) -> tuple[list[Path], frozenset[str]]:
    """The paths of the A2A server if the settings switch it on, and those that need no token."""
    if not host.app.settings.a2a.server.enabled:
        return [], frozenset()
    try:
        module = import_module("sestet.server.a2a.routes")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "sestet":
            raise
        raise PersonError(f"a2a.server.enabled needs the extra: {install_command('a2a')}") from error
    return module.a2a_paths(host, limits, scheme), frozenset({module.CARD_PATH})


def endpoints_of(surface: str) -> tuple[Endpoint, ...]:
    return import_module(SURFACES[surface]).ENDPOINTS


def all_endpoints() -> tuple[Endpoint, ...]:
    """Every endpoint of the OpenAPI document."""
    surfaces = (surface for surface in SURFACES if surface not in _DESCRIBED_ELSEWHERE)
    return tuple(endpoint for surface in surfaces for endpoint in endpoints_of(surface))


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


def _path(host: Host, endpoint: Endpoint, limits: RequestLimits) -> Path:
    async def handle(request: Request) -> Response:
        return await answer(host, limits, endpoint, request)

    return Path(endpoint.method, endpoint.path, handle)


def _json(value: object) -> Response:
    return Response(to_json(value), media_type="application/json")
