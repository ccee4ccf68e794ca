"""Where the A2A server answers: the card, JSON-RPC at two addresses, and REST, in 1.0 and in 0.3."""

from collections.abc import Awaitable, Callable

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sestet.core.record import to_json
from sestet.server.a2a.callers import CallerLimits, Callers
from sestet.server.a2a.card import REST_PATH, RPC_PATH, build_card
from sestet.server.a2a.handler import CALL, SestetRequests
from sestet.server.a2a.push import Pushes
from sestet.server.endpoint import Call, NoQuery, error_response
from sestet.server.errors import ApiError
from sestet.server.host import Host
from sestet.server.limits import RequestLimits
from sestet.server.paths import Path
from sestet.storage.callers import CallerStore

#: The card tells a client how to get in, so it needs no token.
CARD_PATH = AGENT_CARD_WELL_KNOWN_PATH
_SCOPES = ("owner", "a2a")


class _ContextBuilder(DefaultServerCallContextBuilder):
    def __init__(self, host: Host, limits: RequestLimits) -> None:
        self._host = host
        self._limits = limits

    def build(self, request: Request) -> ServerCallContext:
        context = super().build(request)
        context.state[CALL] = Call(self._host, self._limits, request, None, NoQuery())
        return context


def a2a_paths(
    host: Host,
    limits: RequestLimits,
    scheme: str,
    caller_limits: CallerLimits = CallerLimits(),  # noqa: B008 - frozen
) -> list[Path]:
    store = CallerStore(host.app.database)
    pushes = Pushes(store, host.app.settings.a2a.server.push_hosts)
    host.turns.listeners.append(pushes.notice)
    host.on_close.append(pushes.close)
    requests = SestetRequests(host, store, Callers(store, caller_limits), pushes)
    builder = _ContextBuilder(host, limits)

    async def card(request: Request) -> Response:
        # The entry has checked that this host is one of ours.
        base = f"{scheme}://{request.headers['host']}"
        values = agent_card_to_dict(build_card(host.app, base, pushes.are_allowed))
        return Response(to_json(values), media_type="application/json")

    found = [
        *create_jsonrpc_routes(requests, RPC_PATH, builder, enable_v0_3_compat=True),
        *create_jsonrpc_routes(requests, "/", builder, enable_v0_3_compat=True),
        *create_rest_routes(requests, builder, enable_v0_3_compat=True, path_prefix=REST_PATH),
    ]
    # The kit adds routes for tenants, which answer at any path.
    routes = [each for each in found if isinstance(each, Route)]
    return [Path("GET", CARD_PATH, card), *(path for route in routes for path in _guarded(route))]


def _guarded(route: Route) -> list[Path]:
    """The route, for tokens that may ask over A2A alone."""
    inner: Callable[[Request], Awaitable[Response]] = route.endpoint

    async def handle(request: Request) -> Response:
        token = request.scope["sestet.token"]
        if token.scope not in _SCOPES:
            return error_response(
                ApiError(
                    "forbidden",
                    f"the token '{token.name}' has the scope '{token.scope}', which may not ask over A2A",
                    "make one with 'sestet tokens new NAME --scope a2a'",
                )
            )
        return await inner(request)

    return [Path(method, route.path, handle) for method in route.methods or () if method != "HEAD"]
