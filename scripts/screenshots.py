"""Takes the pictures of the page for the documentation: ``make screenshots``.

The server, the page and the browser are real; the model follows a script, with pauses as a real one has them.
"""

import asyncio
import shutil
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Browser, async_playwright

import sestet
from sestet.core.label import Label, Labelled
from sestet.core.message import ToolCall
from sestet.core.model import ModelItem, ModelReply, ModelRequest, Usage
from tests.page.site import Site
from tests.page.stage import Stage, ask, decline

ROOT = Path(__file__).parents[1]
_NOTES = Label(private=True, untrusted=True, sources=("quotes/heatpump.md", "quotes/thermo-plus.pdf"))
_SHOP = Label(untrusted=True, sources=("nordwaerme.example",))
_FIRST = "Which of my notes mention the heat pump quotes, and how do they differ?"
_SECOND = "Check today's price on nordwaerme.example and mail Ines what is still open."
_OTHERS = (
    "Letter to the landlord",
    "What the router gets wrong",
    "Tea, and how long to brew it",
    "Garden plan",
)
_TABLE = """Two of them. Both leave the electrical work out.

| | Nordwärme | Thermo Plus |
|---|---|---|
| Price, net | € 14,200 | € 15,950 |
| Still open | Noise report for the yard | Date of installation |

`quotes/heatpump.md:12` and `quotes/thermo-plus.pdf` p. 2
"""


@sestet.tool(risk="safe", effect="none", reads=("private", "untrusted"), recovery="pure")
async def search_notes(words: str) -> Labelled:
    """Find words in notes."""
    await asyncio.sleep(1.2)
    return Labelled("Nordwärme: 14,200 net, noise report open. Thermo Plus: 15,950 net.", _NOTES)


@sestet.tool(risk="safe", effect="none", reads=("untrusted",), recovery="pure")
async def browser_look(address: str) -> Labelled:
    """Read a page."""
    await asyncio.sleep(2.4)
    return Labelled("Nordwärme 8: 14,650 euros net, today.", _SHOP)


@sestet.tool(risk="guarded", effect="external", targets=("to",), recovery="unsafe", reads=())
async def exec_mail(to: str, text: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


class Paced(Stage):
    """A model that takes its time, so that the score has something to show."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        await asyncio.sleep(0.7)
        async for item in super().stream(request):
            yield item


def said(answer: str | ToolCall | Sequence[ToolCall], tokens: int, nano_dollars: int) -> ModelReply:
    """A reply with what it used."""
    usage = Usage(tokens, tokens // 9, nano_dollars)
    if isinstance(answer, str):
        return ModelReply(answer, usage=usage)
    calls = (answer,) if isinstance(answer, ToolCall) else tuple(answer)
    return ModelReply(calls=calls, usage=usage)


async def converse(site: Site) -> None:
    """Some older conversations, and one that waits for the person."""
    stage = site.stage
    for title in _OTHERS:
        stage.play("orchestrator", said("Gladly.", 900, 180_000))
        await site.ask(title.lower().replace(" ", "-").replace(",", ""), title)
    stage.play("orchestrator", said(ask("librarian", _FIRST), 1_480, 300_000))
    stage.play("librarian", said(ToolCall("search_notes", {"words": "heat pump"}), 1_900, 800_000))
    stage.play("librarian", said(_TABLE, 2_310, 1_000_000))
    await site.ask("heat-pumps", _FIRST)
    price, points = (
        ask("navigator", "Today's price?", reply=False),
        ask("librarian", "Open points?", reply=False),
    )
    stage.play("orchestrator", said((price, points), 2_100, 400_000))
    stage.play(
        "navigator", said(ToolCall("browser_look", {"address": "nordwaerme.example"}), 4_900, 1_000_000)
    )
    stage.play("navigator", said("14,650 euros net.", 5_700, 1_400_000))
    stage.play("librarian", said(ToolCall("search_notes", {"words": "open points"}), 1_800, 400_000))
    stage.play("librarian", said("The noise report is open.", 2_200, 500_000))
    stage.play("orchestrator", said(ask("planner", "Write to Ines"), 2_000, 350_000))
    stage.play("planner", said(decline("This is a mail, not a plan."), 1_150, 300_000))
    request = (
        "Mail Ines, the architect, what is still open in the Nordwärme quote. Today's price is € 14,650 net."
    )
    stage.play("orchestrator", said(ask("operator", request), 1_400, 350_000))
    mail = {
        "to": "ines@studio-nord.example",
        "text": "The noise report is still open. Today's price is € 14,650 net.",
    }
    stage.play("operator", said(ToolCall("exec_mail", mail), 3_100, 700_000))
    await site.ask("heat-pumps", _SECOND)
    async with site.client() as client:
        await client.patch("/api/sessions/heat-pumps", json={"title": "Heat pump quotes"})


async def take(
    browser: Browser, site: Site, name: str, place: str, theme: str, size: tuple[int, int]
) -> None:
    context = await browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if theme == "dark" else "light",
        device_scale_factor=1,
    )
    page = await context.new_page()
    await page.goto(site.entrance())
    await page.goto(f"{site.url}/#/{place}")
    # A question is deaf for half a second, and looks so.
    await page.locator(".question, .trace").first.wait_for()
    await page.wait_for_timeout(800)
    await page.screenshot(path=ROOT / "docs" / f"page-{name}.png", animations="disabled")
    await context.close()
    print(f"docs/page-{name}.png: written")


async def main() -> int:
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        print("screenshots: needs chromium-headless-shell; 'make setup' installs it as root", file=sys.stderr)
        return 2
    with TemporaryDirectory() as home:
        site = Site(Path(home))
        site.stage = site.model = Paced()
        site.tools = (search_notes, browser_look, exec_mail)
        await site.start()
        await converse(site)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            await take(browser, site, "light", "s/heat-pumps", "light", (1440, 900))
            await take(browser, site, "dark", "s/heat-pumps", "dark", (1440, 900))
            await take(browser, site, "phone", "s/heat-pumps", "dark", (390, 844))
            sessions = (await site.get("/api/sessions"))["sessions"]
            await take(browser, site, "trace", f"t/{sessions[0]['turn']}", "light", (1440, 900))
            await browser.close()
        await site.stop()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
