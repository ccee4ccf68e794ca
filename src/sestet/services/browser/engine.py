"""Runs the browser: one Chromium, and for each conversation a window of its own in it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

from sestet.config.browser_settings import BrowserSettings
from sestet.core.errors import ToolError
from sestet.core.tool import CallInfo
from sestet.services.browser.address_rules import AddressRules
from sestet.services.browser.chromium import BrowserPlan, Chromium
from sestet.services.browser.connection import BrowserError, BrowserGoneError, Message
from sestet.services.browser.cookies import CookieStore
from sestet.services.browser.egress import Egress
from sestet.services.browser.leftovers import remove_leftovers
from sestet.services.browser.program import find_chromium
from sestet.services.browser.tab import AUTO_ATTACH
from sestet.services.browser.visitor import Visitor
from sestet.services.browser.window import Window

_CRASHED = "Inspector.targetCrashed"
_EVENTS = (
    "Fetch.requestPaused",
    _CRASHED,
    "Page.domContentEventFired",
    "Page.frameNavigated",
    "Page.frameStartedLoading",
    "Page.frameStoppedLoading",
    "Page.javascriptDialogOpening",
    "Page.navigatedWithinDocument",
)
_GO_ON: tuple[str, Message] = ("Runtime.runIfWaitingForDebugger", {})
#: Seconds between two looks at the memory and at windows that nobody uses.
_LOOK = 5.0


class Engine:
    """Starts Chromium on first use, and ends it when no conversation has used it for a while."""

    def __init__(self, settings: BrowserSettings, cookies: CookieStore) -> None:
        self.settings = settings
        self._cookies = cookies
        self._chromium: Chromium | None = None
        self._windows: dict[str, Window] = {}
        self._starting = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self._has_cleaned = False
        #: Why the last Chromium was ended; told once to each conversation that had a window in it.
        self._ended: dict[str, str] = {}
        #: Why a page was ended whose crash Chromium has not told yet.
        self._page_ended = ""

    async def warm_up(self) -> None:
        """Start Chromium before it is needed."""
        with suppress(ToolError):  # the first call reports it
            await self._running()

    @asynccontextmanager
    async def visit(self, call: CallInfo) -> AsyncGenerator[Visitor]:
        """The pages of the call's conversation, for one call at a time."""
        window = await self._window(call.session_id)
        async with window.lock:
            if window.is_closed:
                raise BrowserError("the browser was closed meanwhile; open the page again")
            try:
                yield Visitor(window, call, self.settings)
            except BrowserGoneError:
                window.is_told = not window.chromium.is_alive
                raise
            finally:
                window.used = time.monotonic()

    async def _window(self, session_id: str) -> Window:
        chromium = await self._running()
        if reason := self._ended.pop(session_id, ""):
            raise BrowserError(f"{reason}; its pages are closed: open what you need again")
        window = self._windows.get(session_id)
        if window is None:
            window = self._windows[session_id] = Window(chromium, self._cookies)
        await window.open()
        return window

    async def close(self) -> None:
        """Keep the cookies that the settings name, and end Chromium."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait((self._watching,))
        async with self._starting:
            await self._stop("")

    async def _running(self) -> Chromium:
        async with self._starting:
            if self._chromium is not None and not self._chromium.is_alive:
                await self._stop("the browser has crashed")
            if self._chromium is not None:
                return self._chromium
            started = await self._start()
            self._watching = asyncio.create_task(self._watch(started))
            return started

    async def _start(self) -> Chromium:
        if not self._has_cleaned:
            await asyncio.to_thread(remove_leftovers)
            self._has_cleaned = True
        settings = self.settings
        plan = BrowserPlan(
            find_chromium(visible=settings.visible),
            settings.visible,
            settings.sandbox == "on",
            settings.memory_mb,
        )
        chromium = self._chromium = await Chromium.start(plan, Egress(AddressRules(settings.allow)))
        connection = chromium.connection
        connection.listen("Target.attachedToTarget", self._attached)
        connection.listen("Target.detachedFromTarget", self._detached)
        for event in _EVENTS:
            connection.listen(event, self._handler(event))
        await connection.send("Target.setAutoAttach", AUTO_ATTACH)
        return chromium

    def _handler(self, event: str) -> Callable[[str, Message], None]:
        def handle(session: str, params: Message) -> None:
            for window in self._windows.values():
                if tab := window.tab_of(session):
                    if event == _CRASHED:
                        tab.why_gone, self._page_ended = self._page_ended or tab.why_gone, ""
                    tab.handle(event, session, params)

        return handle

    def _attached(self, session: str, params: Message) -> None:
        target, own = params["targetInfo"], params["sessionId"]
        for window in self._windows.values():
            if session and (tab := window.tab_of(session)):
                tab.attach(own, target)
                return
            if not session and target["type"] == "page" and window.owns(target):
                window.adopt(own, target)
                return
        if self._chromium is None:
            return
        # Not of a conversation: Chromium's own first page, which takes memory for nothing.
        is_page = target["type"] == "page"
        method, params = ("Target.closeTarget", {"targetId": target["targetId"]}) if is_page else _GO_ON
        self._chromium.connection.tell(method, params, "" if is_page else own)

    def _detached(self, _: str, params: Message) -> None:
        for window in self._windows.values():
            window.lose(params["sessionId"])

    async def _watch(self, chromium: Chromium) -> None:
        """End windows that nobody uses, a page that uses too much memory, or else all of Chromium."""
        while chromium.is_alive:
            await asyncio.sleep(_LOOK)
            limit = self.settings.memory_mb
            if await asyncio.to_thread(chromium.memory_mb) > limit:
                used = f"pages used more than {limit:,} MB (browser.memoryMb)"
                self._page_ended = f"the page was ended: {used}, and it was the largest"
                if await asyncio.to_thread(chromium.end_largest_page, limit):
                    continue
                async with self._starting:
                    await self._stop(f"the browser was ended: its {used}")
                return
            await self._close_idle_windows()
            if not self._windows:
                async with self._starting:
                    if not self._windows:
                        await self._stop("")
                return

    async def _close_idle_windows(self) -> None:
        since = time.monotonic() - self.settings.idle_minutes * 60
        for session_id, window in tuple(self._windows.items()):
            if window.used < since and not window.lock.locked():
                del self._windows[session_id]
                await window.close()

    async def _stop(self, reason: str) -> None:
        chromium, self._chromium = self._chromium, None
        windows, self._windows = self._windows, {}
        if chromium is None:
            return
        for session_id, window in windows.items():
            if reason and not window.is_told:
                self._ended[session_id] = reason
            await window.close()
        await chromium.stop()
