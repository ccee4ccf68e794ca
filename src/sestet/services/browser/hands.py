"""One call of the navigator that acts on a page: clicking, filling in, sending."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import cast

from sestet.core.errors import VaultError
from sestet.core.label import Labelled
from sestet.core.preview import Changes, DiffLine
from sestet.core.schema import JsonValue
from sestet.core.tool import CallInfo, Preview
from sestet.services.browser.actions import KEYS, click, fill, press
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.downloads import lend_file
from sestet.services.browser.elements import Element
from sestet.services.browser.frames import Frame
from sestet.services.browser.page_script import call_script
from sestet.services.browser.pages import acting, find_target, show_changes, told_stopped
from sestet.services.browser.permission import (
    page_label,
    reading_guard,
    require_place,
    require_site,
    sending_guard,
)
from sestet.services.browser.tab import Tab
from sestet.services.browser.typed import Typed
from sestet.services.browser.window import Window
from sestet.services.browser.wire import Watch, host_of, site_of
from sestet.services.vault.entries import REFERENCE
from sestet.services.vault.page_field import PageField
from sestet.services.vault.vault import Vault

#: Keys that send a form or press a button.
_SENDING_KEYS = ("Enter", "Space")
_LONGEST_SHOWN = 200
#: Seconds that a frame may take to answer.
_FRAME_SECONDS = 2.0
_SENT = "use browser_submit(site='{site}', target='{target}'), which asks the person"

_NO_VALUES = "no field is filled in"
_EMPTY = (
    "nothing was sent: the form of {name} is empty, because no field of it was filled in. Fill it in first "
    "with browser_fill; a form that is meant to go empty gets an empty text in one field"
)


class Hands:
    """What one call may do to a page."""

    def __init__(self, window: Window, call: CallInfo) -> None:
        self._window = window
        self._call = call

    async def click(self, target: str) -> Labelled:
        """A click that only reads: it opens a link, a menu, a tab of the page."""
        tab, element = await self._found(target)
        host = host_of(tab.url)
        require_place(self._call, tab.url)
        if why := self._why_sending(tab, element, host):
            raise BrowserError(f"{why}: {_SENT.format(site=site_of(tab.url), target=target)}")
        async with acting(self._window, reading_guard(self._call)) as watch:
            await self._click(tab, element)
        self._require_nothing_stopped(watch, target)
        return await self._result(tab, f"Clicked {_named(element)}.")

    def _require_nothing_stopped(self, watch: Watch, target: str) -> None:
        documents = [why for request, why in watch.stopped if request.is_document]
        if documents:
            way_out = _SENT.format(site=site_of(self._window.tab.url), target=target)
            raise BrowserError(f"nothing was sent, because {documents[0]}: {way_out}")

    async def click_for_file(self, element: Element, target: str) -> None:
        """Click something that gives a file. It asks nobody, so it sends nothing."""
        tab = await self._window.ready()
        if why := self._why_sending(tab, element, host_of(tab.url)):
            raise BrowserError(f"{why}; only a link or a plain button downloads")
        async with acting(self._window, reading_guard(self._call)) as watch:
            await self._click(tab, element)
        self._require_nothing_stopped(watch, target)

    def _why_sending(self, tab: Tab, element: Element, host: str) -> str:
        if tab.has_typed or (host in self._window.typed and not element.is_link):
            return "something was filled in on this page, which a click could send"
        if self._window.is_signed_in(host) and not element.is_link:
            return f"you are signed in at {host}, where a click acts in the person's name"
        if element.submits and element.posts:
            return f"'{element.name}' sends a form"
        return ""

    async def _click(self, tab: Tab, element: Element) -> None:
        """Click; a page that moves something else under the click, such as a frame, gets no click."""
        others = [frame for frame in await tab.frames() if frame.id != element.frame.id]
        await call_script(element.frame, "guard", element.ref)
        await _in_all(others, "guard", element.ref)
        await click(tab, element)
        states = await _in_all([element.frame, *others], "guarded")
        if any(state["strays"] for state in states) and not any(state["hits"] for state in states):
            raise BrowserError(
                f"the page moved while '{element.name}' was clicked, so nothing was; read it again"
            )

    async def press(self, key: str) -> Labelled:
        tab = await self._window.ready()
        require_place(self._call, tab.url)
        if key not in KEYS:
            raise BrowserError(f"'{key}' is not a key that can be pressed; known: {', '.join(KEYS)}")
        host = host_of(tab.url)
        if key in _SENDING_KEYS and (host in self._window.typed or self._window.is_signed_in(host)):
            way_out = _SENT.format(site=site_of(tab.url), target="the button")
            raise BrowserError(f"{key} could send what was filled in: {way_out}")
        async with acting(self._window, reading_guard(self._call)) as watch:
            await press(tab, key)
        self._require_nothing_stopped(watch, "the button")
        return await self._result(tab, f"Pressed {key}.")

    async def fill(self, site: str, fields: Mapping[str, str], vault: Vault) -> Labelled:
        """Fill in fields, each checked to belong to the site. Nothing is sent on purpose."""
        if not fields:
            raise BrowserError("there is nothing to fill in: give the fields with their values")
        tab = await self._window.ready()
        async with acting(self._window, sending_guard(site_of(site))) as watch:
            for target, value in fields.items():
                _, element = await self._found(target)
                require_site(site, await element.frame.origin(), f"'{element.name}'")
                await self._note_typing(tab, site, value)
                if value.startswith(REFERENCE):
                    await self._fill_secret(element, value, vault)
                elif element.is_secret and element.type == "password":
                    raise BrowserError(
                        f"'{element.name}' is a password: give a reference of the vault, such as vault:NAME; "
                        "the person can make one with 'sestet secrets set NAME --to HOST'"
                    )
                else:
                    await fill(element, value)
        filled = f"Filled in {', '.join(fields)}. The form is not sent yet."
        result = await self._result(tab, filled, watch)
        return result._replace(no_effect=not watch.has_let_go)

    async def _fill_secret(self, element: Element, reference: str, vault: Vault) -> None:
        """The broker itself types the value: it never enters this process."""
        if element.type != "password":
            raise BrowserError(f"a secret goes into a password field alone, and '{element.name}' is none")
        origin, field, frame = await element.frame.origin(), await element.hold(), element.frame
        connection = self._window.chromium.connection

        async def write(pipe: int, number: int) -> None:
            place = PageField(number, frame.session, field, pipe)
            try:
                await asyncio.to_thread(vault.type_into_page, reference, origin, place)
            except VaultError as error:
                raise BrowserError(str(error)) from error

        answer = await connection.send_through(write)
        if answer.get("result", {}).get("value") is not True:
            raise BrowserError(f"'{element.name}' is no longer a password field; nothing was typed")
        self._window.signed_in.add(host_of(origin))
        if self._window.tab.typed is not None:
            self._window.tab.typed.has_secret = True

    async def preview_submit(self, site: str, target: str) -> Preview:
        """What the person is shown before something is sent."""
        tab, element = await self._found(target)
        receiver, own = await self._receiver(tab, element, site), site_of(await element.frame.origin())
        await self._require_filled(tab, element)
        found = await call_script(element.frame, "formValues", element.ref)
        values = cast("list[tuple[str, str]]", found)
        lines = [DiffLine("@", f"{_named(element)} on {tab.url[:_LONGEST_SHOWN]}")]
        lines += [DiffLine("+", f"{name}: {value}") for name, value in values] or [DiffLine(" ", _NO_VALUES)]
        caution = f"it sends this to {receiver} in your name"
        if receiver != own:
            caution = f"a page of {own} sends this to another site, {receiver}, in your name"
        return Preview("guarded", caution, Changes(tuple(lines), basis=await _mark(element, receiver)))

    async def _require_filled(self, tab: Tab, element: Element) -> None:
        """Refuse to send an empty form that nobody has touched: no site is meant to get that."""
        if (
            element.submits
            and not tab.has_typed
            and await call_script(element.frame, "isEmptyForm", element.ref)
        ):
            raise BrowserError(_EMPTY.format(name=_named(element)))

    async def _receiver(self, tab: Tab, element: Element, site: str) -> str:
        """The site that gets what the element sends; raises if it is not the one of the call."""
        goes_to, own = await _goes_to(element), site_of(await element.frame.origin())
        if site_of(site) in tab.refused_receivers:
            # The form says nothing of it, but the page went there when the form was sent before.
            goes_to = f"https://{site_of(site)}"
        receiver = require_site(site, goes_to, f"'{element.name}'")
        has_secret = tab.typed is not None and tab.typed.has_secret
        if receiver != own and (has_secret or await _has_password(element)):
            raise BrowserError(
                f"'{element.name}' is on a page of '{own}' and would send a password to '{receiver}': "
                "a password goes to its own site alone"
            )
        return receiver

    async def submit(self, site: str, target: str, answer: str | None) -> Labelled:
        """Send a form or press a button that changes something; requests to any other site are stopped."""
        tab, element = await self._found(target)
        receiver, before = await self._receiver(tab, element, site), host_of(tab.url)
        await self._require_filled(tab, element)
        if self._call.basis and self._call.basis != await _mark(element, receiver):
            raise BrowserError(
                "the form has changed since it was looked at; nothing was sent, look at it again"
            )
        with tab.typed.sending_to(receiver) if tab.typed else nullcontext():
            async with acting(self._window, sending_guard(receiver), answer) as watch:
                await self._click(tab, element)
        if watch.stopped and not watch.has_sent:
            request, why = watch.stopped[0]
            elsewhere = site_of(request.url)
            tab.refused_receivers |= {elsewhere}
            raise BrowserError(
                f"the page tried to send it elsewhere: {why}; that was stopped. If '{elsewhere}' is meant to "
                f"get it, use browser_submit(site='{elsewhere}', target='{target}'), which asks the person"
            )
        if watch.has_sent:
            await self._window.values_are_sent()
        tab.has_typed = False
        self._window.typed.discard(before)
        return await self._result(tab, f"Pressed {_named(element)}.", watch)

    async def upload(self, site: str, target: str, name: str, content: bytes) -> Labelled:
        """Choose a file in a file field; the form is sent by ``submit``."""
        tab, element = await self._found(target)
        require_site(site, await element.frame.origin(), f"'{element.name}'")
        if element.type != "file":
            raise BrowserError(f"'{element.name}' takes no file; it is a {element.role}")
        path = await asyncio.to_thread(lend_file, self._window, name, content)
        await self._note_typing(tab, site, "")
        async with acting(self._window, sending_guard(site_of(site))) as watch:
            await element.frame.send(
                "DOM.setFileInputFiles", {"files": [path], "objectId": await element.hold()}
            )
        return await self._result(tab, f"Chose {name} ({len(content):,} bytes) in '{element.name}'.", watch)

    async def _note_typing(self, tab: Tab, site: str, value: str) -> None:
        if tab.typed is None:
            tab.typed = Typed(site_of(site), site_of(tab.url))
            await tab.wire.keep(tab.typed.judge)
        tab.typed.add(value)
        tab.has_typed = True
        self._window.typed.add(host_of(tab.url))

    async def _found(self, target: str) -> tuple[Tab, Element]:
        tab = await self._window.ready()
        return tab, await find_target(self._window, target)

    async def _result(self, tab: Tab, first: str, watch: Watch | None = None) -> Labelled:
        text = await show_changes(self._window, tab, first)
        if watch and (stopped := told_stopped(watch)):
            text = f"{text}\n{stopped}"
        url = self._window.tab.url
        return Labelled(
            text, page_label(self._window, url), citations=(url,) if url.startswith("http") else ()
        )


async def _goes_to(element: Element) -> str:
    """The address or the origin that gets what the element sends."""
    return element.action if element.submits and element.action else await element.frame.origin()


async def _mark(element: Element, receiver: str) -> str:
    """Differs if anything differs that would be sent, or where it goes."""
    content = await call_script(element.frame, "formContent", element.ref)
    facts = [element.name, await _goes_to(element), receiver, content]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


async def _has_password(element: Element) -> bool:
    """Whether the form around the element has a password that is filled in."""
    content = await call_script(element.frame, "formContent", element.ref)
    fields = cast("list[tuple[str, str, str]]", content)
    return any(kind == "password" and value for _, kind, value in fields)


async def _in_all(frames: Sequence[Frame], function: str, *values: JsonValue) -> list[dict[str, JsonValue]]:
    """Call a function of Sestet's script in many frames; a frame that is gone or busy gives no answer."""
    calls = (asyncio.wait_for(call_script(frame, function, *values), _FRAME_SECONDS) for frame in frames)
    answers = await asyncio.gather(*calls, return_exceptions=True)
    return [each for each in answers if not isinstance(each, BaseException)]


def _named(element: Element) -> str:
    return f"'{element.name}' ({element.role})" if element.name else f"the {element.role}"
