"""One call of the navigator on the pages of its conversation: opening and reading them."""

import asyncio
import time
from typing import Literal

from sestet.config.browser_settings import BrowserSettings
from sestet.core.label import Labelled
from sestet.core.message import Found
from sestet.core.tool import CallInfo
from sestet.services.browser.actions import scroll
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.hands import Hands
from sestet.services.browser.pages import (
    find_in_current,
    open_address,
    read_current,
    show_changes,
    take_reading,
)
from sestet.services.browser.permission import (
    address_on,
    page_label,
    require_address,
    require_place,
    sending_guard,
    whole_address,
)
from sestet.services.browser.reading import Reading, plain_lines, plain_passages
from sestet.services.browser.saving import Saving
from sestet.services.browser.window import Window
from sestet.services.browser.wire import site_of

#: How many lines and controls of a page are told one by one beside its text.
_MOST_FOUND = 60
_MOST_CONTROLS = 100
#: Seconds that a reading waits for a text, and between two looks.
_PATIENCE, _PAUSE = 10.0, 0.25

Direction = Literal["down", "up", "top", "bottom"]


class Visitor:
    """What one call may do. Results are untrusted text of the page's host."""

    def __init__(self, window: Window, call: CallInfo, settings: BrowserSettings) -> None:
        self.window = window
        self.call = call
        self.hands = Hands(window, call)
        self.saving = Saving(window, call, settings)

    async def navigate(self, url: str) -> Labelled:
        address = whole_address(url)
        require_address(self.call, self.window, address)
        return self._result(await open_address(self.window, address))

    async def look_up(self, url: str) -> Reading:
        """Open an address that the owner's settings name, and read it."""
        await open_address(self.window, whole_address(url))
        return await take_reading(self.window)

    async def visit(self, site: str, path: str) -> Labelled:
        """Open an address that was composed; the gate has judged the site."""
        address = address_on(site, path)
        guard = sending_guard(site_of(address))
        return self._result(await open_address(self.window, address, guard))

    async def read(self, from_line: int, wait_for: str) -> Labelled:
        if wait_for:
            await self._wait_for(wait_for)
        return self._result(await read_current(self.window, from_line))

    async def _wait_for(self, text: str) -> None:
        until = time.monotonic() + _PATIENCE
        wanted = " ".join(text.split()).casefold()
        while not any(wanted in line.casefold() for line in (await take_reading(self.window)).lines):
            if time.monotonic() > until:
                raise BrowserError(f"'{text[:100]}' did not appear within {_PATIENCE:.0f} seconds")
            await asyncio.sleep(_PAUSE)

    async def find(self, text: str) -> Labelled:
        result, reading = self._result(await find_in_current(self.window, text)), self.window.tab.reading
        lines = plain_passages(reading, text, _MOST_FOUND) if reading else []
        return result._replace(found=tuple(Found(self.window.tab.url, line) for line in lines))

    async def back(self) -> Labelled:
        tab = await self.window.ready()
        require_place(self.call, tab.url)
        if not await tab.back():
            raise BrowserError("there is no page before this one")
        return self._result(await read_current(self.window))

    async def scroll(self, direction: Direction) -> Labelled:
        tab = await self.window.ready()
        require_place(self.call, tab.url)
        moved = await scroll(tab, direction)
        await tab.settle()
        first = f"Scrolled {direction}." if moved else "The page does not scroll any further."
        return self._result(await show_changes(self.window, tab, first))

    async def choose_tab(self, name: str, *, close: bool) -> Labelled:
        if close:
            await self.window.close_tab(name)
        else:
            await self.window.choose(name)
        return self._result(await read_current(self.window))

    def _result(self, text: str) -> Labelled:
        tab = self.window.tab
        cited = (tab.url,) if tab.url.startswith("http") else ()
        lines = plain_lines(tab.reading, _MOST_FOUND) if tab.reading and cited else []
        found = tuple(Found(tab.url, line) for line in lines)
        controls = tab.reading.controls[:_MOST_CONTROLS] if tab.reading and cited else ()
        found += tuple(Found(item.ref, item.name, item.role) for item in controls)
        return Labelled(text, page_label(self.window, tab.url), cited, found)
