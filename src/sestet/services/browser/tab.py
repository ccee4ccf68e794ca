"""One tab: where it is, whether it still loads, and the dialogs that it opens."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import cast

from sestet.core.record import Record
from sestet.core.schema import JsonValue
from sestet.services.browser.connection import (
    BrowserError,
    BrowserGoneError,
    Connection,
    Message,
    ProtocolError,
)
from sestet.services.browser.frames import Frame
from sestet.services.browser.reading import Reading
from sestet.services.browser.typed import Typed
from sestet.services.browser.wire import Wire

#: Seconds that a page may take to load before it is read as it is.
LOAD_SECONDS = 20.0
#: Seconds that its pictures and scripts may take once its text is there.
_REST_SECONDS = 4.0
#: Seconds between two looks at whether it still loads.
_LOOK = 0.2
#: Seconds without a change after which a page counts as still, and how long that is waited for.
_QUIET, _RESTLESS = 0.12, 2.0
#: Seconds in which a page must answer that has not become still.
_LAST_WORD = 3.0
#: A page with fewer characters may still be filling itself.
_NEARLY_EMPTY = 80
#: A page that opens more dialogs than this in one call is closed.
_MOST_DIALOGS = 10
_STILL = """(quiet, most) => new Promise((done) => {
    let timer;
    const end = () => { watcher.disconnect(); done((document.body?.innerText ?? "").length); };
    const wait = () => { clearTimeout(timer); timer = setTimeout(end, quiet); };
    const watcher = new MutationObserver(wait);
    watcher.observe(document, { subtree: true, childList: true, characterData: true });
    setTimeout(end, most);
    wait();
})"""
_ON_ATTACH: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("Page.enable", {}),
    # Nothing answers in the name of a site but the site.
    ("Network.setBypassServiceWorker", {"bypass": True}),
    ("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
    ("Page.setInterceptFileChooserDialog", {"enabled": True}),
)
#: What ``go`` says if the page before came again in the place of the wanted one: it may reload without end.
OVERTAKEN = "overtaken"
AUTO_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}


class Dialog(Record):
    """A question that a page has put in a box of the browser, and how it was answered."""

    kind: str
    text: str
    accepted: bool = False


class Tab:
    """A page in a window. Every event of its processes arrives at ``handle``."""

    def __init__(self, connection: Connection, target_id: str, session: str, name: str) -> None:
        self.name = name
        self.target_id = target_id
        self.session = session
        self.wire = Wire(connection, target_id)
        #: What was typed here stays here until another document takes its place.
        self.has_typed = False
        self.typed: Typed | None = None
        #: Other sites to which a form of the page went when it was sent; it was stopped.
        self.refused_receivers: frozenset[str] = frozenset()
        self.is_gone = False
        self.why_gone = "the page has crashed or was closed"
        #: It is gone since the page has closed itself, as windows for one choice do.
        self.was_closed = False
        #: The page as the model has read it last.
        self.reading: Reading | None = None
        self.dialogs: list[Dialog] = []
        self.url = ""
        self._connection = connection
        #: Frames in processes of their own, with the session of each.
        self._sessions: dict[str, str] = {}
        self._is_loading = False
        self._stopped_loading = asyncio.Event()
        #: When the text of the page was there; None: it still comes.
        self._has_text: float | None = None
        self._answer: str | None = None
        #: The addresses of the documents that came since one was asked for, and the document that is wanted.
        self._came: dict[str, str] = {}
        self._wanted = ""

    async def prepare(self) -> None:
        """Set up the page before its first script runs."""
        await self._prepare(self.session)
        with suppress(ProtocolError):
            await self._connection.send("Emulation.setFocusEmulationEnabled", {"enabled": True}, self.session)

    async def _prepare(self, session: str) -> None:
        async def send(method: str, params: Mapping[str, object]) -> None:
            await self._connection.send(method, params, session)

        # All at once, in this order: a window that a page has opened answers nothing before it may run.
        await asyncio.gather(
            *(send(method, params) for method, params in _ON_ATTACH),
            self.wire.watch(session),
            send("Target.setAutoAttach", AUTO_ATTACH),
            send("Runtime.runIfWaitingForDebugger", {}),
            return_exceptions=True,
        )

    def main_frame(self) -> Frame:
        return self._frame(self.session, self.target_id)

    async def frames(self) -> list[Frame]:
        """Every frame of the page, also those that nobody can see."""
        found: list[Frame] = []
        for session in (self.session, *self._sessions.values()):
            with suppress(ProtocolError):
                tree = await self._connection.send("Page.getFrameTree", {}, session)
                found += [self._frame(session, each) for each in _ids(tree["frameTree"])]
        return found

    def _frame(self, session: str, frame_id: str) -> Frame:
        return Frame(self._connection, session, frame_id, lambda frame: self._sessions.get(frame, ""))

    def owns(self, session: str) -> bool:
        return session == self.session or session in self._sessions.values()

    def attach(self, session: str, target: Message) -> "asyncio.Task[None] | None":
        """A frame of this tab got a process of its own."""
        if target["type"] != "iframe":
            # Workers have no document; the proxy is their only way out too.
            self._connection.tell("Runtime.runIfWaitingForDebugger", {}, session)
            return None
        self._sessions[target["targetId"]] = session
        return asyncio.create_task(self._prepare_frame(session))

    async def _prepare_frame(self, session: str) -> None:
        with suppress(BrowserError):
            await self._prepare(session)

    def detach(self, session: str) -> None:
        self.wire.forget(session)
        self._sessions = {frame: own for frame, own in self._sessions.items() if own != session}

    def handle(self, event: str, session: str, params: Message) -> None:
        """Take in one event of a process of this tab."""
        match event:
            case "Fetch.requestPaused":
                self.wire.paused(session, params)
            case "Page.javascriptDialogOpening":
                self._dialog(session, params)
            case "Page.frameStartedLoading" if params["frameId"] == self.target_id:
                self._is_loading = True
                self._has_text = None
                self._stopped_loading.clear()
            case "Page.domContentEventFired" if session == self.session:
                self._has_text = time.monotonic()
            case "Page.frameStoppedLoading" if params["frameId"] == self.target_id:
                self._is_loading = self.wire.awaits_page = False
                self._stopped_loading.set()
            case "Page.frameNavigated" if params["frame"]["id"] == self.target_id:
                frame = params["frame"]
                # A new tab may have begun to load before its events came.
                self._is_loading |= self.wire.awaits_page
                self.wire.awaits_page = False
                self.url = frame["url"] + frame.get("urlFragment", "")
                self._came[frame["loaderId"]] = self.url
                self.has_typed = False
                self._is_replaced()
            case "Page.navigatedWithinDocument" if params["frameId"] == self.target_id:
                self.url = params["url"]
            case "Inspector.targetCrashed":
                self._connection.give_up(session, f"{self.why_gone}; open it again")
                self._end()
            case _:
                pass

    def _is_replaced(self) -> None:
        """Another document is here. A page may have kept typed values, until a call leaves it."""
        self.refused_receivers = frozenset()
        if self.wire.expected:
            self.wire.keeper, self.wire.expected, self.typed = None, "", None
        elif self.typed is not None:
            self.typed.is_same_page = False

    def answer_dialogs(self, answer: str | None) -> None:
        """How the dialogs of the present call are answered: '' accepts, a text is typed in, None says no."""
        self._answer = answer
        self.dialogs.clear()

    def end_answers(self) -> None:
        """The call is over: a later dialog was not meant by its answer."""
        self._answer = None

    def _dialog(self, session: str, params: Message) -> None:
        # Leaving a page is always allowed: a page must not hold the browser.
        leaves = params["type"] == "beforeunload"
        accepts = leaves or (self._answer is not None and params["type"] != "alert")
        if not leaves:
            self.dialogs.append(Dialog(params["type"], str(params["message"])[:500], accepts))
        if len(self.dialogs) > _MOST_DIALOGS:
            self._close()
            return
        answer = {"accept": accepts, "promptText": self._answer or ""}
        self._connection.tell("Page.handleJavaScriptDialog", answer, session)

    def _close(self) -> None:
        self._connection.tell("Target.closeTarget", {"targetId": self.target_id})
        self._end()

    def _end(self) -> None:
        self.is_gone = True
        self._stopped_loading.set()

    async def send(self, method: str, params: Mapping[str, object] | None = None) -> Message:
        """Send a command to the process of the page itself."""
        if self.is_gone:
            raise BrowserGoneError(f"{self.why_gone}; open it again")
        return await self._connection.send(method, params, self.session)

    async def go(self, url: str) -> str:
        """Open an address and wait until the page is still. Returns the word for a failure, or ''."""
        self.wire.response = self.wire.unshown = None
        self._came.clear()
        self._wanted = ""
        before = self.url
        self.wire.expected = url
        self._stopped_loading.clear()
        try:
            failed = await self._navigate(url)
            if failed:
                await asyncio.sleep(0)  # an answer that is kept may be recorded just now
                return failed
            await self.settle()
            is_another = self._wanted and self._came.get(self._wanted, "") != self.url
            return OVERTAKEN if is_another and self.url == before and not self.is_gone else ""
        finally:
            self.wire.expected = ""

    async def _navigate(self, url: str) -> str:
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                answer = await self.send("Page.navigate", {"url": url})
        except TimeoutError:
            self._connection.tell("Page.stopLoading", {}, self.session)
            return "net::ERR_TIMED_OUT"
        self._wanted = cast("str", answer.get("loaderId", ""))
        return cast("str", answer.get("errorText", ""))

    async def back(self) -> bool:
        """Go back one page; False if there is none."""
        history = await self.send("Page.getNavigationHistory")
        index = cast("int", history["currentIndex"])
        if index == 0:
            return False
        entry = history["entries"][index - 1]
        if entry["url"] == "about:blank":
            return False
        self.wire.expected = entry["url"]
        try:
            await self.send("Page.navigateToHistoryEntry", {"entryId": entry["id"]})
            await asyncio.sleep(0.05)
            await self.settle()
        finally:
            self.wire.expected = ""
        return True

    async def settle(self, seconds: float = LOAD_SECONDS) -> bool:
        """Wait until the page has loaded and changes no more; False if it still loads after that time."""
        until = time.monotonic() + seconds
        was_empty = False
        while not self.is_gone and (left := until - time.monotonic()) > 0:
            if self._loads():
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(left, _LOOK)):
                        await self._stopped_loading.wait()
                self._stopped_loading.clear()
                continue
            try:
                async with asyncio.timeout(min(left, _RESTLESS + 3)):
                    found = await self.main_frame().call(_STILL, _QUIET * 1000, _RESTLESS * 1000)
            except (ProtocolError, TimeoutError):
                await asyncio.sleep(0.05)  # the page moves on, or a script keeps it busy
                continue
            if self._loads():
                continue
            if isinstance(found, int | float) and found < _NEARLY_EMPTY and not was_empty:
                was_empty = True
                await asyncio.sleep(0.3)
                continue
            return True
        await self._require_answer()
        return False

    async def _require_answer(self) -> None:
        """Close a page that a script keeps busy without end: nothing could be done with it any more."""
        try:
            async with asyncio.timeout(_LAST_WORD):
                await self.main_frame().call("() => true")
        except TimeoutError:
            if self.is_gone:
                raise BrowserGoneError(f"{self.why_gone}; open it again") from None
            self._close()
            raise BrowserError("a script keeps the page busy without end; the page was closed") from None
        except ProtocolError:
            return  # it moves on just now, so it is not stuck

    def _loads(self) -> bool:
        """The page is on its way; not if its text is there, and something else does not come for a while."""
        if self._has_text is not None and time.monotonic() > self._has_text + _REST_SECONDS:
            return self.wire.awaits_page
        return self._is_loading or self.wire.awaits_page

    async def evaluate(self, function: str, *arguments: JsonValue) -> JsonValue:
        return await self.main_frame().call(function, *arguments)


def _ids(tree: Message) -> Iterator[str]:
    yield tree["frame"]["id"]
    for child in tree.get("childFrames", ()):
        yield from _ids(child)
