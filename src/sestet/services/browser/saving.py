"""One call of the navigator that makes a file: a download, a picture of a page, a PDF."""

import asyncio
import base64
from typing import NamedTuple
from urllib.parse import urlsplit

from sestet.config.browser_settings import BrowserSettings
from sestet.core.label import Label
from sestet.core.tool import CallInfo
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.downloads import downloading, safe_name
from sestet.services.browser.file_text import text_of_file
from sestet.services.browser.hands import Hands
from sestet.services.browser.pages import find_target
from sestet.services.browser.permission import page_label, require_place
from sestet.services.browser.tab import Tab
from sestet.services.browser.window import Window

#: A page that is higher is cut off in a picture of all of it, in CSS pixels.
_HIGHEST = 16_000


class Made(NamedTuple):
    """A file that is to be saved, and the label of what it holds."""

    name: str
    content: bytes
    label: Label
    url: str

    async def text(self) -> str:
        """Its text, of a PDF at least the first part; '' if it is no text."""
        return (await asyncio.to_thread(text_of_file, self.content)).strip()


class Saving:
    def __init__(self, window: Window, call: CallInfo, settings: BrowserSettings) -> None:
        self._window = window
        self._call = call
        self._most = settings.download_mb * 1_000_000

    async def download(self, target: str) -> Made:
        tab = await self._window.ready()
        require_place(self._call, tab.url)
        kept = tab.wire.response
        if not target and kept and kept.content and not kept.too_long:
            return self._made(safe_name(kept.file_name, kept.url), kept.content, kept.url)
        if not target:
            return await self._download_page(tab)
        element = await find_target(self._window, target, by_words=True)
        async with downloading(self._window, self._most) as download:
            await Hands(self._window, self._call).click_for_file(element, target)
            found = await download.result()
        if found is None:
            raise BrowserError(f"'{element.name}' gave no file; browser_read shows what happened")
        return self._made(found.name, found.content, found.url)

    async def _download_page(self, tab: Tab) -> Made:
        """The document of the tab, asked for once more."""
        await self._shown()
        async with downloading(self._window, self._most) as download:
            await tab.send("Page.navigate", {"url": tab.url})
            found = await download.result()
        if found is None:
            raise BrowserError("the page gave no file; say which link or button has one")
        return self._made(found.name, found.content, found.url)

    async def screenshot(self, *, full: bool) -> Made:
        tab = await self._shown()
        params: dict[str, object] = {"format": "png"}
        if full:
            size = (await tab.send("Page.getLayoutMetrics"))["cssContentSize"]
            clip = {
                "x": 0,
                "y": 0,
                "width": size["width"],
                "height": min(size["height"], _HIGHEST),
                "scale": 1,
            }
            params |= {"captureBeyondViewport": True, "clip": clip}
        taken = await tab.send("Page.captureScreenshot", params)
        return self._made(self._name("png"), base64.b64decode(taken["data"]), tab.url)

    async def pdf(self) -> Made:
        tab = await self._shown()
        require_place(self._call, tab.url)  # a page is told when it is printed
        printed = await tab.send("Page.printToPDF", {"printBackground": True, "preferCSSPageSize": True})
        return self._made(self._name("pdf"), base64.b64decode(printed["data"]), tab.url)

    async def _shown(self) -> Tab:
        tab = await self._window.ready()
        if not tab.url.startswith("http"):
            raise BrowserError("no page is open yet; browser_navigate opens one")
        return tab

    def _name(self, ending: str) -> str:
        parts = urlsplit(self._window.tab.url)
        words = f"{(parts.hostname or 'page').removeprefix('www.')}{parts.path.rstrip('/').replace('/', '-')}"
        return safe_name(f"{words[:80]}.{ending}")

    def _made(self, name: str, content: bytes, url: str) -> Made:
        return Made(name, content, page_label(self._window, url), url)
