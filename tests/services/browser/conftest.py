"""Sites on loopback, the proxy that leads to them, and one Chromium for all tests of a process."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import TypeAlias

import pytest
import pytest_asyncio

from sestet.services.browser.egress import Limits
from tests.services.browser.egress_world import Handler, Site, World
from tests.services.browser.real_page import PROGRAM, PageSite, RealPage

MakeSite: TypeAlias = Callable[..., Awaitable[Site]]
MakeWorld: TypeAlias = Callable[..., Awaitable[World]]


@pytest.fixture
async def make_site() -> AsyncGenerator[MakeSite, None]:
    async with AsyncExitStack() as open_things:

        async def make(handler: Handler | None = None, host: str = "127.0.0.1") -> Site:
            site = Site(handler)
            await site.start(host)
            open_things.push_async_callback(site.close)
            return site

        yield make


@pytest.fixture
async def make_world() -> AsyncGenerator[MakeWorld, None]:
    async with AsyncExitStack() as open_things:

        async def make(*allowed: str, limits: Limits | None = None) -> World:
            world = World(allowed, limits)
            await world.start()
            open_things.push_async_callback(world.egress.close)
            return world

        yield make


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def page() -> AsyncGenerator[RealPage]:
    if not PROGRAM.exists():
        pytest.skip("chromium-headless-shell is not installed")
    page = RealPage()
    await page.start()
    yield page
    await page.stop()


@pytest.fixture
def site() -> Iterator[PageSite]:
    site = PageSite()
    yield site
    site.close()
