"""A real server with the built page, and a person in front of it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from playwright.async_api import CDPSession, Locator, Page

import sestet
from sestet.core.model import Model
from sestet.core.tool import Tool
from sestet.server.serve import Address, Listening, listening
from sestet.services.tokens import OWNER_FILE
from tests.page.stage import TOOLS, Stage
from tests.server.served import SETTINGS


class Site:
    """A server at one address, which can be ended and started again."""

    def __init__(self, home: Path, settings: dict[str, object] | None = None) -> None:
        self.home = home
        self.stage = Stage()
        self.model: Model | None = self.stage
        self.settings = SETTINGS | (settings or {})
        self.tools: Sequence[Tool] = TOOLS
        self.url = ""
        self._port = 0
        self._running: AsyncExitStack | None = None
        self._server: Listening | None = None
        self._app: sestet.App | None = None
        self._restarts: list[asyncio.Future[None]] = []

    async def start(self) -> None:
        async with AsyncExitStack() as stack:
            self._app = await stack.enter_async_context(
                sestet.open(self.settings, model=self.model, home=self.home, tools=self.tools)
            )
            self._server = await stack.enter_async_context(listening(self._app, Address(port=self._port)))
            self.url = self._server.url
            self._port = int(self.url.rpartition(":")[2])
            self._running = stack.pop_all()

    async def stop(self) -> None:
        if self._running:
            running, self._running = self._running, None
            await running.aclose()

    def allow_restart(self) -> None:
        """Let the owner restart it by a request, as the program does."""
        assert self._server is not None
        self._server.host.restart = lambda: self._restarts.append(asyncio.ensure_future(self._start_again()))

    async def _start_again(self) -> None:
        await self.stop()
        await self.start()

    @property
    def app(self) -> sestet.App:
        assert self._app is not None
        return self._app

    def entrance(self) -> str:
        """An address that lets a browser in."""
        assert self._server is not None
        return f"{self.url}/enter?code={self._server.codes.new()}"

    def client(self) -> httpx2.AsyncClient:
        token = (self.home / OWNER_FILE).read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    async def ask(self, session: str, text: str) -> str:
        """Run a turn to its end or pause without the page; return its id."""
        async with self.client() as client:
            answer = await client.post(f"/api/sessions/{session}/messages", json={"text": text})
            assert answer.status_code == 202, answer.text
            turn = answer.json()["turn"]
            async with client.stream("GET", f"/api/turns/{turn}/events") as response:
                async for _ in response.aiter_lines():
                    pass
        return turn

    async def get(self, path: str) -> Any:
        async with self.client() as client:
            answer = await client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()


@asynccontextmanager
async def running(site: Site) -> AsyncGenerator[Site]:
    await site.start()
    try:
        yield site
    finally:
        await site.stop()


class Person:
    """What somebody does with the page, by its roles and words."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page = page
        self.site = site

    @property
    def composer(self) -> Locator:
        return self.page.locator("#composer")

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    @property
    def rail(self) -> Locator:
        return self.page.locator("aside.rail")

    @property
    def question(self) -> Locator:
        return self.page.locator("section.question")

    def button(self, name: str, *, exact: bool = True) -> Locator:
        return self.page.get_by_role("button", name=name, exact=exact)

    def turn(self, number: int) -> Locator:
        return self.page.get_by_role("article", name=f"Turn {number}", exact=True)

    async def enter(self, place: str = "") -> None:
        """Come in, and go to a place of the page such as ``s/ID``."""
        await self.page.goto(self.site.entrance())
        if place:
            await self.go(place)
        await self.page.locator(".shell").wait_for()

    async def go(self, place: str) -> None:
        await self.page.goto(f"{self.site.url}/#/{place}")

    async def say(self, text: str) -> None:
        await self.composer.fill(text)
        await self.composer.press("Enter")


class Devtools:
    """What a test can do only through Chromium's own protocol."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    @classmethod
    async def of(cls, page: Page) -> "Devtools":
        return cls(await page.context.new_cdp_session(page))

    async def send(self, method: str, **parameters: object) -> None:
        await self._session.send(method, parameters)  # pyright: ignore[reportUnknownMemberType] - untyped
