"""Sites, one Chromium for all tasks of a file, and for each task a conversation of its own."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from sestet.config.browser_settings import BrowserSettings
from sestet.services.browser.browser import Browser
from sestet.services.browser.cookies import CookieStore
from sestet.services.browser.program import has_chromium
from sestet.services.vault.vault import Vault
from tests.services.browser.tasks.surfer import Surfer
from tests.services.browser.tasks.web import Web, serving
from tests.services.file_changes.world import World
from tests.services.vault.cheap import CHEAP, PASSPHRASE


@pytest.fixture(scope="session")
def _sites() -> Iterator[tuple[Web, Web]]:
    with ExitStack() as sites:
        yield sites.enter_context(serving("127.0.0.1")), sites.enter_context(serving("localhost"))


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def _browser(
    _sites: tuple[Web, Web], tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Browser]:
    if not has_chromium():
        pytest.skip("Chromium is not installed")
    cookies = CookieStore(tmp_path_factory.mktemp("browser") / "cookies.json", {})
    browser = Browser(BrowserSettings(allow=tuple(each.site for each in _sites)), cookies)
    yield browser
    await browser.close()


@pytest.fixture
def web(_sites: tuple[Web, Web]) -> Iterator[Web]:
    """The site of the task."""
    yield _sites[0]
    _sites[0].clear()


@pytest.fixture
def other(_sites: tuple[Web, Web]) -> Iterator[Web]:
    """Another site, in whose frames Chromium uses another process."""
    yield _sites[1]
    _sites[1].clear()


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    vault = Vault(tmp_path / "sestet.vault")
    vault.create(PASSPHRASE, cost=CHEAP)
    yield vault
    vault.close()


@pytest.fixture
def surfer(_browser: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Surfer]:
    """A conversation with a workspace of its own. It has a vault if the task asks for one."""
    world = World(tmp_path)
    has_vault = "vault" in request.fixturenames
    vault = request.getfixturevalue("vault") if has_vault else Vault(tmp_path / "none")
    yield Surfer(_browser, world, vault, request.node.nodeid)
    world.close()
