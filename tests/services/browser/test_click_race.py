"""A page that moves something else under the mouse gets no click, and the call does not claim one."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from sestet.config.browser_settings import BrowserSettings
from sestet.core.label import Label
from sestet.core.tool import CallInfo
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.cookies import CookieStore
from sestet.services.browser.engine import Engine
from tests.services.browser.real_page import PROGRAM, PageSite

pytestmark = pytest.mark.slow

CALL = CallInfo("s", "t", "navigator", "c", Label())
#: As soon as the mouse is over the button, another one lies under it.
RACE = """<button onclick="fetch('/sent')">Send</button><script>
    document.querySelector("button").addEventListener("mousemove", () => {
        const other = document.createElement("button");
        other.textContent = "Delete all";
        other.style.cssText = "position:fixed;inset:0;width:100%;height:100%";
        other.onclick = other.onmousedown = () => fetch("/deleted");
        document.body.append(other);
    }, { once: true });
</script>"""


@pytest.fixture
async def engine(tmp_path: Path, site: PageSite) -> AsyncGenerator[Engine]:
    if not PROGRAM.exists():
        pytest.skip("chromium-headless-shell is not installed")
    engine = Engine(BrowserSettings(allow=(f"127.0.0.1:{site.port}",)), CookieStore(tmp_path / "cookies", {}))
    yield engine
    await engine.close()


async def test_a_button_that_jumps_under_the_click_is_not_clicked(engine: Engine, site: PageSite) -> None:
    site.pages["/"] = RACE
    async with engine.visit(CALL) as visitor:
        await visitor.navigate(site.url("127.0.0.1"))
        with pytest.raises(BrowserError, match="the page moved while 'Send' was clicked"):
            await visitor.hands.click("Send")
    assert site.asked == ["/"]


async def test_a_page_that_moves_over_its_frame_gets_no_click(engine: Engine, site: PageSite) -> None:
    """The frame's own mouse tells the page outside, which lays a button over the frame."""
    site.pages["/"] = RACE.replace(
        'document.querySelector("button").addEventListener("mousemove"', 'addEventListener("message"'
    ).replace("<button onclick=\"fetch('/sent')\">Send</button>", "<iframe src=/in></iframe>")
    site.pages["/sent"] = "yes"
    site.pages["/in"] = (
        "<button onclick=\"fetch('/sent')\">Send</button>"
        "<script>addEventListener('mousemove', () => parent.postMessage('', '*'))</script>"
    )
    async with engine.visit(CALL) as visitor:
        await visitor.navigate(site.url("127.0.0.1"))
        told = ""
        try:
            await visitor.hands.click("Send")
        except BrowserError as error:
            told = str(error)
    assert "/deleted" not in site.asked
    # The message may come too late: then the click has met its button, and nothing else.
    assert "the page moved while 'Send' was clicked" in told or "/sent" in site.asked


async def test_a_button_that_stays_is_clicked(engine: Engine, site: PageSite) -> None:
    site.pages["/"] = RACE.partition("<script>")[0]
    site.pages["/sent"] = "yes"
    async with engine.visit(CALL) as visitor:
        await visitor.navigate(site.url("127.0.0.1"))
        await visitor.hands.click("Send")
    assert site.asked == ["/", "/sent"]
