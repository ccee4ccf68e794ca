"""One assistant with a browser for the attacks of a file; each attack has a conversation of its own."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from sestet.services.browser.program import has_chromium
from tests.services.browser.attacks.arena import Arena, open_arena


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def shared_arena(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Arena]:
    if not has_chromium(visible=False):
        pytest.skip("no Chromium is installed")
    async with open_arena(tmp_path_factory.mktemp("arena")) as arena:
        yield arena


@pytest_asyncio.fixture(loop_scope="session")
async def arena(shared_arena: Arena) -> AsyncGenerator[Arena]:
    """The canary must be untouched after every attack."""
    shared_arena.clear()
    yield shared_arena
    assert shared_arena.canary.touched == []
