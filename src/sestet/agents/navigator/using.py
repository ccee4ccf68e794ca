"""Tools to act on web pages: click, fill in, send."""

import asyncio
from typing import Annotated, Literal

from sestet.core.errors import InDoubtError, ToolError
from sestet.core.label import Labelled
from sestet.core.tool import CallInfo, Preview, tool
from sestet.services.browser.browser import Browser
from sestet.services.browser.connection import BrowserGoneError
from sestet.services.files import Files
from sestet.services.vault.vault import Vault

_SECONDS = 90.0
_MOST_UPLOADED = 50_000_000

Site = Annotated[str, "The page's host, such as example.com", {"format": "site"}]
Target = Annotated[str, "Its ref, or its text on the page"]
Key = Literal[
    "Enter", "Escape", "Tab", "Space", "Backspace", "Delete", "ArrowUp", "ArrowDown", "ArrowLeft",
    "ArrowRight", "PageUp", "PageDown", "Home", "End",
]  # fmt: skip


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="none",
    recovery="pure",
    timeout=_SECONDS,
    calls_per_turn=25,
    examples=(
        "click {target}",
        "click on {target}",
        "click the link {target}",
        "click the button {target}",
        "press the button {target}",
        "follow the link {target}",
        "open the link {target}",
    ),
)
async def browser_click(call: CallInfo, browser: Browser, /, target: Target) -> Labelled:
    """Click a link, a menu or a tab of the page. What sends something needs browser_submit."""
    async with browser.visit(call) as visitor:
        return await visitor.hands.click(target)


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="none",
    recovery="pure",
    timeout=_SECONDS,
    calls_per_turn=25,
    examples=(
        "press the key {key}",
        "press the {key} key",
        "press {key} on the page",
        "press {key} in the browser",
        "hit the {key} key",
        "hit {key} on the page",
    ),
)
async def browser_press(call: CallInfo, browser: Browser, /, key: Key) -> Labelled:
    """Press a key."""
    async with browser.visit(call) as visitor:
        return await visitor.hands.press(key)


@tool(
    risk="safe",
    reads=("untrusted",),
    effect="external",
    targets=("site",),
    recovery="keyed",
    timeout=_SECONDS,
    standing="fill in ANY form on {site}",
    examples=(
        "fill in {fields} on {site}",
        "fill in {fields} on the page of {site}",
        "fill in the form on {site} with {fields}",
        "fill out the form on {site} with {fields}",
        "enter {fields} on {site}",
        "type {fields} into the form on {site}",
    ),
)
async def browser_fill(
    call: CallInfo,
    browser: Browser,
    vault: Vault,
    /,
    site: Site,
    fields: Annotated[dict[str, str], "Ref or label of each field, and its value; vault:NAME for a password"],
) -> Labelled:
    """Fill in fields: text, a choice of a list, yes or no for a box. It sends nothing."""
    async with browser.visit(call) as visitor:
        return await visitor.hands.fill(site, fields, vault)


async def _preview_submit(
    call: CallInfo, browser: Browser, /, site: str, target: str, answer: str = ""
) -> Preview:
    async with browser.visit(call) as visitor:
        return await visitor.hands.preview_submit(site, target)


@tool(
    risk="guarded",
    caution="it sends something to the site in your name",
    standing="press ANY button and send ANY form on {site}",
    reads=("untrusted",),
    effect="external",
    targets=("site",),
    recovery="unsafe",
    timeout=_SECONDS,
    calls_per_turn=5,
    preview=_preview_submit,
    examples=(
        "submit the form on {site} with {target}",
        "submit the form on {site} with the button {target}",
        "send the form on {site} with {target}",
        "send the form on {site} with the button {target}",
        "press the button {target} on {site}",
        "press the button {target} of the form on {site}",
    ),
)
async def browser_submit(
    call: CallInfo,
    browser: Browser,
    /,
    site: Annotated[str, "The host that gets it", {"format": "site"}],
    target: Target,
    answer: Annotated[str, "Say yes, or this text, to a question box of the page; empty: no"] = "",
) -> Labelled:
    """Press a button that sends a form or changes something."""
    async with browser.visit(call) as visitor:
        try:
            return await visitor.hands.submit(site, target, answer or None)
        except BrowserGoneError as error:
            raise InDoubtError(f"{error}; whether it was sent is not known") from error


@tool(
    risk="guarded",
    caution="the site gets the file",
    standing="give the file {path} to {site}",
    reads=("untrusted",),
    effect="external",
    targets=("site", "path"),
    recovery="unsafe",
    timeout=_SECONDS,
    calls_per_turn=5,
    examples=(
        "upload {path} to {site} in the field {target}",
        "upload {path} on {site} in {target}",
        "upload the file {path} to {site} in the field {target}",
        "choose the file {path} for {target} on {site}",
        "attach {path} to the field {target} on {site}",
        "attach the file {path} to {target} on {site}",
    ),
)
async def browser_upload(
    call: CallInfo,
    browser: Browser,
    files: Files,
    /,
    site: Site,
    target: Target,
    path: Annotated[str, "A file of the workspace", {"format": "path"}],
) -> Labelled:
    """Choose a file in a file field; browser_submit sends it."""
    content = bytearray()

    def take(piece: bytes) -> None:
        content.extend(piece)
        if len(content) > _MOST_UPLOADED:
            raise ToolError(f"'{path}' is larger than {_MOST_UPLOADED // 1_000_000} MB")

    await asyncio.to_thread(files.feed, path, take)
    async with browser.visit(call) as visitor:
        return await visitor.hands.upload(site, target, path.rpartition("/")[2], bytes(content))
