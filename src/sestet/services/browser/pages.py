"""Opens and reads pages for the tools, and shows what an action has changed."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from sestet.core.errors import InDoubtError
from sestet.core.words import duration
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.egress import PROXY_STATUSES
from sestet.services.browser.elements import Element, find_element
from sestet.services.browser.file_text import first_part, pdf_text
from sestet.services.browser.reading import Reading, changes, find, read_page, show
from sestet.services.browser.tab import LOAD_SECONDS, OVERTAKEN, Dialog, Tab
from sestet.services.browser.window import Window
from sestet.services.browser.wire import Guard, Response, Watch, site_of, without_unseen

#: Chromium's words for failures, and what they mean to a person.
_MEANINGS = {
    "ERR_ABORTED": "the server sent nothing to show",
    "ERR_BLOCKED_BY_CLIENT": "it was stopped before it left",
    "ERR_CERT": "its certificate is not valid, so it may not be the site that it claims to be",
    "ERR_CONNECTION": "the connection broke",
    "ERR_EMPTY_RESPONSE": "the server answered with nothing",
    "ERR_HTTP2": "the server broke the rules of HTTP/2",
    "ERR_INVALID": "the server answered with something that is not HTTP",
    "ERR_SSL": "a secure connection could not be made",
    "ERR_TIMED_OUT": "the server did not answer in time",
    "ERR_TOO_MANY_REDIRECTS": "it redirects in a circle",
    "ERR_TUNNEL": "the connection was refused",
    OVERTAKEN: "another page came in its place",
    "ERR_UNSAFE_PORT": "browsers do not speak to that port",
}
#: Where the checks that tell people from programs come from.
_CAPTCHAS = ("recaptcha", "hcaptcha", "challenges.cloudflare", "arkoselabs", "geetest")
_FRAME_SOURCES = "() => [...document.querySelectorAll('iframe')].map((frame) => frame.src).join(' ')"
_SIGN_IN = (
    "(This page wants somebody to sign in. Fill in the password as a reference of the vault, vault:NAME. Or "
    "tell the person to sign in, with 'browser.visible: true' and the site under 'browser.profiles'.)"
)
_HUMAN = (
    "(This page checks that a person is there, and nobody here can pass that. Tell the person: with "
    "'browser.visible: true' they can do it in the window.)"
)


async def open_address(window: Window, url: str, guard: Guard | None = None) -> str:
    """Open an address in the current tab and read it."""
    tab = await window.living_tab()
    tab.answer_dialogs(None)
    watch = Watch(guard or (lambda _: ""))
    if guard is not None:
        await window.guard(watch)
    try:
        failed = await tab.go(url)
        if failed == OVERTAKEN:
            tab = await window.replace_tab()
            await window.guard(watch if guard is not None else None)
            failed = await tab.go(url)
    finally:
        if guard is not None:
            await window.guard(None)
    stopped = watch.stopped[0][1] if watch.stopped else ""
    if why := _proxy_said(window, tab, url) or stopped:
        raise BrowserError(f"{url[:300]} was not opened: {why}")
    if text := await _text_of_unshown(tab):
        return text
    if failed:
        raise BrowserError(f"{url[:300]} was not opened: {_meaning(failed)}")
    return await read_current(window)


def _proxy_said(window: Window, tab: Tab, url: str) -> str:
    """Why our own proxy did not open the address, or one that it redirects to; '' if the page came."""
    if tab.wire.response and tab.wire.response.status not in PROXY_STATUSES:
        return ""
    egress = window.chromium.egress
    for parts in map(urlsplit, (url, tab.url)):
        place = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        if why := egress.refusal(*place) or egress.failure(*place):
            return why
    return ""


async def _text_of_unshown(tab: Tab) -> str:
    """The text of a document that came instead of a page; '' if none came."""
    response, tab.wire.unshown = tab.wire.unshown, None
    return await _as_text(response) if response is not None else ""


def _meaning(failed: str) -> str:
    word = failed.removeprefix("net::")
    return next((text for start, text in _MEANINGS.items() if word.startswith(start)), word)


async def _as_text(response: Response) -> str:
    """What Chromium cannot show: the text of a PDF, or a word about the rest."""
    size = f"{len(response.content):,} bytes" + (" and more" if response.too_long else "")
    head = f"{response.url[:500]} (HTTP {response.status}, {response.mime or 'unknown kind'}, {size})"
    if response.is_text:
        return f"{head}\n{first_part(response.text)}"
    if response.mime != "application/pdf" or response.too_long:
        return f"{head}\n(not a page; browser_download saves it)"
    return f"{head}\n{without_unseen(await asyncio.to_thread(pdf_text, response.content))}"


async def read_current(window: Window, from_line: int = 1) -> str:
    """The page of the current tab, from a line on."""
    reading = await take_reading(window)
    tab = window.tab
    status = tab.wire.response.status if tab.wire.response else 0
    return "\n".join((show(reading, status=status, from_line=from_line), *await _notes(window, reading)))


async def find_in_current(window: Window, text: str) -> str:
    return find(await take_reading(window), text)


async def take_reading(window: Window) -> Reading:
    """Read the current tab, and remember its refs and links."""
    tab = await window.ready()
    reading = await read_page(tab.main_frame(), window.next_ref)
    window.next_ref = reading.next_ref
    window.note_links(reading.links)
    tab.reading = reading
    return reading


async def find_target(window: Window, target: str, *, by_words: bool = False) -> Element:
    """The element of a ref or a text, in the page as it was read last."""
    tab = await window.ready()
    return await find_element(tab.reading or await take_reading(window), target, by_words=by_words)


@asynccontextmanager
async def acting(window: Window, guard: Guard, answer: str | None = None) -> AsyncGenerator[Watch]:
    """Around an action: judges its requests and answers its dialogs."""
    tab = await window.ready()
    tab.answer_dialogs(answer)
    watch = Watch(guard)
    await window.guard(watch)
    window.follows_pages = True
    try:
        yield watch
        await tab.settle()
    finally:
        window.follows_pages = False
        tab.end_answers()
        await window.guard(None)


def told_stopped(watch: Watch) -> str:
    """A line about the requests that were stopped, or ''."""
    sites = dict.fromkeys(site_of(request.url) for request, _ in watch.stopped)
    return f"(Stopped: what the page tried to send to {', '.join(sites)}.)" if sites else ""


async def show_changes(window: Window, before: Tab, first: str) -> str:
    """What the last action has changed: lines with + and -, or the new page."""
    if before.was_closed and before.name not in window.tabs:
        after_tab = await window.ready()
        await after_tab.settle()
        closed = f"(The page has closed its tab {before.name}; this is {after_tab.name}.)"
        return "\n".join((first, *map(_told, before.dialogs), closed, await read_current(window)))
    if before.is_gone:
        said = " It opened dialogs without end." if len(before.dialogs) > 5 else ""
        raise InDoubtError(f"the page was closed or crashed.{said} Open it again")
    after_tab = await window.ready()
    old = before.reading
    dialogs = [_told(dialog) for dialog in before.dialogs]
    if after_tab is not before or old is None:
        opened = f"(A new tab {after_tab.name} opened; browser_tab goes back to {before.name}.)"
        loaded = await after_tab.settle()
        new = await _text_of_unshown(after_tab)
        new = new or (await read_current(window) if loaded else _still_loading())
        return "\n".join((first, *dialogs, opened if after_tab is not before else "", new))
    if document := await _text_of_unshown(after_tab):
        return "\n".join((first, *dialogs, document))
    reading = await take_reading(window)
    changed = changes(old, reading)
    moved = (
        f"Now at {reading.url[:500]}"
        if reading.url != old.url and not changed.startswith(reading.title)
        else ""
    )
    lines = (
        first,
        *dialogs,
        moved,
        changed or "(nothing changed on the page)",
    )
    return "\n".join(filter(None, lines))


def _told(dialog: Dialog) -> str:
    if dialog.kind == "alert":
        return f"(The page said: {dialog.text!r})"
    return f"(The page asked: {dialog.text!r}; the answer was {'yes' if dialog.accepted else 'no'}.)"


def _still_loading() -> str:
    return f"(The page still loads after {duration(LOAD_SECONDS)}; browser_read shows it as it is then.)"


async def _notes(window: Window, reading: Reading) -> list[str]:
    notes: list[str] = []
    response = window.tab.wire.response
    if response and response.mime.startswith("image/") and response.url == reading.url:
        notes.append(f"(It is an image, {response.mime}; browser_download saves it.)")
    sources = str(await window.tab.evaluate(_FRAME_SOURCES)).casefold()
    if any(name in sources for name in _CAPTCHAS):
        notes.append(_HUMAN)
    elif any(item.role == "password" for item in reading.items) and len(reading.lines) < 60:
        notes.append(_SIGN_IN)
    if window.refused_tabs:
        notes.append(f"(The page tried to open {window.refused_tabs} more tabs, which were closed.)")
        window.refused_tabs = 0
    if len(window.tabs) > 1:
        others = ", ".join(
            f"{name} {tab.url[:80]}" for name, tab in window.tabs.items() if tab is not window.tab
        )
        notes.append(f"(Other tabs: {others})")
    return notes
