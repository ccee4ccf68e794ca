"""What one conversation has open: its tabs, in a context that shares nothing with other conversations."""

import asyncio
import time
from contextlib import suppress
from functools import partial
from typing import cast

from sestet.services.browser.chromium import Chromium
from sestet.services.browser.connection import BrowserError, Message
from sestet.services.browser.cookies import CookieStore
from sestet.services.browser.tab import Tab
from sestet.services.browser.wire import Request, Watch, site_of

_MOST_TABS = 8
_MOST_LINKS = 20_000


class Window:
    """The tabs of one conversation. Cookies and storage end with it, but those that the settings keep."""

    def __init__(self, chromium: Chromium, cookies: CookieStore) -> None:
        self.chromium = chromium
        self.lock = asyncio.Lock()
        self.tabs: dict[str, Tab] = {}
        self.is_closed = False
        #: A call has said already that Chromium is gone.
        self.is_told = False
        self.used = time.monotonic()
        #: The number of the next ref; a ref is never given twice in a window.
        self.next_ref = 1
        #: Hosts at which a password was typed: acting there is acting as the person.
        self.signed_in: set[str] = set()
        #: Hosts on whose pages something was filled in that is not sent yet; going back can bring it back.
        self.typed: set[str] = set()
        #: Whether a tab that a page opens becomes the current one: only during a call that acts.
        self.follows_pages = False
        #: Tabs that a page tried to open beyond the limit.
        self.refused_tabs = 0
        self._cookies = cookies
        self._context = ""
        self._current = ""
        self._number = 0
        self._links: dict[str, None] = {}
        self._preparing: dict[str, asyncio.Task[None]] = {}
        self._watch: Watch | None = None

    async def open(self) -> None:
        """Make the context, with one empty tab. Does nothing the second time."""
        async with self.lock:
            if self._context:
                return
            send = self.chromium.connection.send
            made = await send("Target.createBrowserContext", {"disposeOnDetach": True})
            self._context = cast("str", made["browserContextId"])
            denied = {"behavior": "deny", "browserContextId": self._context, "eventsEnabled": False}
            await send("Browser.setDownloadBehavior", denied)
            if kept := self._cookies.load():
                with suppress(BrowserError):
                    await send("Storage.setCookies", {"cookies": kept, "browserContextId": self._context})
            await self.new_tab()

    @property
    def context(self) -> str:
        return self._context

    @property
    def tab(self) -> Tab:
        """The tab that the tools work in."""
        tab = self.tabs.get(self._current)
        if tab is None or tab.is_gone:
            why = tab.why_gone if tab else "the page has crashed or was closed"
            raise BrowserError(f"{why}; open it again")
        return tab

    def owns(self, target: Message) -> bool:
        return bool(self._context) and target.get("browserContextId") == self._context

    def tab_of(self, session: str) -> Tab | None:
        return next((tab for tab in self.tabs.values() if tab.owns(session)), None)

    async def new_tab(self) -> Tab:
        made = await self.chromium.connection.send(
            "Target.createTarget", {"url": "about:blank", "browserContextId": self._context}
        )
        name = next(name for name, tab in self.tabs.items() if tab.target_id == made["targetId"])
        await self._preparing[name]
        self._current = name
        await self.tabs[name].wire.keep(None)
        return self.tabs[name]

    async def values_are_sent(self) -> None:
        """What was typed is where it belongs: pages may speak to other sites again."""
        for tab in tuple(self.tabs.values()):
            tab.typed = None
            await tab.wire.keep(None)

    def adopt(self, session: str, target: Message) -> None:
        """A page of this window came to be: one that was asked for, or one that a page has opened."""
        connection, target_id = self.chromium.connection, cast("str", target["targetId"])
        if len(self.tabs) >= _MOST_TABS:
            self.refused_tabs += 1
            # The page that opens it waits until it runs. Its requests are held, and nobody lets them go.
            connection.tell("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}, session)
            connection.tell("Runtime.runIfWaitingForDebugger", {}, session)
            connection.tell("Target.closeTarget", {"targetId": target_id})
            return
        self._number += 1
        name = f"t{self._number}"
        opener = self.tabs.get(self._current)
        tab = self.tabs[name] = Tab(connection, target_id, session, name)
        tab.wire.inherit(self._watch, opener.wire.keeper if opener else None)
        self._preparing[name] = asyncio.create_task(_prepare(tab))
        if self.follows_pages:
            self._current = name

    async def guard(self, watch: Watch | None) -> None:
        """Let the watch judge the requests of the current tab, and what pages send by way of other tabs."""
        self._watch = watch
        for name, tab in tuple(self.tabs.items()):
            aside = watch and Watch(partial(_judge_aside, watch, tab))
            await tab.wire.guard(watch if name == self._current else aside)

    async def ready(self) -> Tab:
        """The current tab, when it is set up: a page may have opened it just now."""
        tab = self.tab
        await asyncio.shield(self._preparing[tab.name])
        return tab

    async def living_tab(self) -> Tab:
        """The current tab, or a new one in the place of a page that has crashed or was closed."""
        tab = self.tabs.get(self._current)
        if tab is None or tab.is_gone:
            self.tabs.pop(self._current, None)
            await self.new_tab()
        return await self.ready()

    async def choose(self, name: str) -> Tab:
        if name not in self.tabs:
            raise BrowserError(f"there is no tab '{name}'; open are {', '.join(self.tabs)}")
        self._current = name
        await self.tab.send("Page.bringToFront")
        return self.tab

    async def close_tab(self, name: str) -> None:
        """Close one tab; the last one is replaced by an empty one."""
        if name not in self.tabs:
            raise BrowserError(f"there is no tab '{name}'; open are {', '.join(self.tabs)}")
        if len(self.tabs) == 1:
            await self.new_tab()
        tab = self.tabs.pop(name)
        self.chromium.connection.tell("Target.closeTarget", {"targetId": tab.target_id})
        if self._current == name:
            self._current = next(reversed(self.tabs))

    async def replace_tab(self) -> Tab:
        """A new tab in the place of the current one, whose page does not let itself be left."""
        was_alone = len(self.tabs) == 1
        await self.close_tab(self._current)
        return await self.ready() if was_alone else await self.new_tab()

    def lose(self, session: str) -> None:
        """A page or a frame is gone."""
        for name, tab in tuple(self.tabs.items()):
            if tab.session == session:
                tab.was_closed = not tab.is_gone
                tab.is_gone = True
                if len(self.tabs) > 1:
                    del self.tabs[name]
                    if self._current == name:
                        self._current = next(reversed(self.tabs))
            elif tab.owns(session):
                tab.detach(session)

    def note_links(self, links: list[str]) -> None:
        """Remember addresses of links that stood on pages: following one of them was the page's own offer."""
        self._links.update(dict.fromkeys(links))
        while len(self._links) > _MOST_LINKS:
            del self._links[next(iter(self._links))]

    def has_seen_link(self, url: str) -> bool:
        return url in self._links

    def is_signed_in(self, host: str) -> bool:
        return host in self.signed_in or self._cookies.keeps_host(host)

    async def close(self) -> None:
        """Keep the cookies that the settings name, and give up everything else."""
        if self.is_closed:
            return
        self.is_closed = True
        send = self.chromium.connection.send
        with suppress(BrowserError, OSError):
            found = await send("Storage.getCookies", {"browserContextId": self._context}, wait=2.0)
            self._cookies.save(found["cookies"])
        with suppress(BrowserError):
            await send("Target.disposeBrowserContext", {"browserContextId": self._context}, wait=2.0)


def _judge_aside(watch: Watch, tab: Tab, request: Request) -> str:
    """A tab in the background goes on with its own site; another document may be a form of the page."""
    is_own = not request.is_document or site_of(request.url) == site_of(tab.url)
    why = "" if is_own else watch.judge(request)
    if why:
        watch.note(request, why)
    return why


async def _prepare(tab: Tab) -> None:
    with suppress(BrowserError):
        await tab.prepare()
