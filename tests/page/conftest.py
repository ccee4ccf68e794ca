"""One Chromium for all tests of the page, and for each test a server of its own."""

import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Request, async_playwright, expect

from sestet.server.built_page import DIRECTORY
from tests.page.site import Person, Site

_FOLDER = Path(__file__).parent
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
#: Milliseconds that a loaded machine may take for anything; nothing is asserted about time.
_PATIENCE = 30_000
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}

expect.set_options(timeout=_PATIENCE)

OpenPerson = Callable[..., Awaitable[Person]]


# One event loop for the whole folder, so that all tests share one browser.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_FOLDER) and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def built_page() -> Path:
    if not (DIRECTORY / "index.html").exists():
        pytest.fail("the page was not built: 'make web' builds it, and 'make test-page' does so first")
    return DIRECTORY


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(built_page: Path) -> AsyncGenerator[Browser]:
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if not program:
        pytest.fail(f"the tests of the page need one of {', '.join(_PROGRAMS)} on the PATH")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=_FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def site(tmp_path: Path) -> AsyncGenerator[Site]:
    """A server that runs. A test may end it and start it again."""
    served = Site(tmp_path)
    await served.start()
    yield served
    await served.stop()


class Watched:
    """Requests and errors of all pages of a test."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.errors: list[str] = []

    async def watch(self, context: BrowserContext) -> None:
        context.set_default_timeout(_PATIENCE)
        context.on("request", self._on_request)
        context.on("page", self._on_page)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))

    def _on_request(self, request: Request) -> None:
        self.requests.append(request.url)

    def _on_page(self, page: Page) -> None:
        page.on(
            "console", lambda said: self.errors.append(said.text) if "Content Security" in said.text else None
        )

    def foreign(self) -> list[str]:
        """Requests that left this machine."""
        hosts = ((url, urlsplit(url)) for url in self.requests)
        return [
            url
            for url, parts in hosts
            if parts.scheme not in ("data", "blob") and parts.hostname not in _LOOPBACK
        ]


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest_asyncio.fixture(loop_scope="session")
async def new_person(browser: Browser, site: Site, watched: Watched) -> AsyncGenerator[OpenPerson]:
    """Opens a browser of its own for a person; nothing that its pages do may leave loopback or break."""
    async with AsyncExitStack() as stack:

        async def open_person(**options: object) -> Person:
            chosen = {"viewport": {"width": 1440, "height": 900}, **options}
            context = await browser.new_context(**chosen)  # pyright: ignore[reportArgumentType] - by name
            stack.push_async_callback(context.close)
            await watched.watch(context)
            return Person(await context.new_page(), site)

        yield open_person
    assert watched.foreign() == []
    assert watched.errors == []


@pytest_asyncio.fixture(loop_scope="session")
async def person(new_person: OpenPerson) -> Person:
    return await new_person()
