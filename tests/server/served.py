"""A real server on loopback with a scripted model, and clients that talk with it over HTTP."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

import sestet
from sestet.core.model import Model
from sestet.core.tool import Tool
from sestet.server.limits import RequestLimits
from sestet.server.serve import Address, Listening, listening
from sestet.services.tokens import OWNER_FILE, TokenScope

SETTINGS = {"embedding": {"provider": "none"}, "observationalMemory": {"enabled": False}}


class Served:
    """A running server."""

    def __init__(self, app: sestet.App, server: Listening) -> None:
        self.app = app
        self.server = server
        self.url = server.url
        self.token = (app.database.path.parent / OWNER_FILE).read_text().strip()

    def client(self, token: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """A client with the owner's token, or another one; an empty text: without a token."""
        shown = self.token if token is None else token
        entry = {"Authorization": f"Bearer {shown}"} if shown else {}
        return httpx2.AsyncClient(base_url=self.url, headers=entry | headers, timeout=30, trust_env=False)

    def new_token(self, scope: TokenScope, name: str = "") -> str:
        return self.server.host.tokens.new(name or f"the {scope} one".replace(" ", "-"), scope)


@asynccontextmanager
async def serving(
    home: Path,
    *replies: object,
    model: Model | None = None,
    tools: Sequence[Tool] = (),
    limits: RequestLimits | None = None,
    settings: dict[str, object] | None = None,
) -> AsyncGenerator[Served]:
    """A server whose model gives these replies: texts and tool calls."""
    scripted = model or sestet.ScriptedModel(list(replies))  # pyright: ignore[reportArgumentType] - texts, calls
    async with (
        sestet.open(SETTINGS | (settings or {}), model=scripted, home=home, tools=tools) as app,
        listening(app, Address(port=0), limits=limits) as server,
    ):
        yield Served(app, server)
