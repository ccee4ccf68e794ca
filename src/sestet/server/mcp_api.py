"""``/mcp``: Sestet as an MCP server over streamable HTTP. Each request stands alone."""

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sestet.config.installation import install_command
from sestet.server.endpoint import Call, Endpoint, NoQuery
from sestet.server.errors import ApiError

try:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from sestet.server.mcp_server import mcp_server
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
        raise
    StreamableHTTPSessionManager = mcp_server = None


class _Exchange(Response):
    """One request, which the kit reads and answers."""

    def __init__(self, call: Call[None, NoQuery]) -> None:
        super().__init__()
        self._call = call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert StreamableHTTPSessionManager is not None
        assert mcp_server is not None
        # A token that may only chat reads nothing directly.
        server = mcp_server(self._call.host, reading=self._call.token.scope == "owner")
        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)


async def exchange(call: Call[None, NoQuery]) -> Response:
    if mcp_server is None:
        raise ApiError("unavailable", "MCP needs an extra", f"run: {install_command('mcp')}")
    return _Exchange(call)


ENDPOINTS = (
    Endpoint("POST", "/mcp", exchange, "Answer an MCP client.", ("chat",), takes="application/json"),
)
