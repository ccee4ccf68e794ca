"""What hands do in a browser: click, fill in, press a key, scroll."""

import asyncio
from typing import Final, cast

from sestet.services.browser.connection import BrowserError
from sestet.services.browser.elements import Element
from sestet.services.browser.frames import Frame
from sestet.services.browser.page_script import call_script
from sestet.services.browser.tab import Tab

#: The keys that may be pressed, with what Chromium wants to know of each. Letters go into fields instead.
KEYS: Final[dict[str, tuple[str, int, str]]] = {
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    "Tab": ("Tab", 9, ""),
    "Space": ("Space", 32, " "),
    "Backspace": ("Backspace", 8, ""),
    "Delete": ("Delete", 46, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "PageUp": ("PageUp", 33, ""),
    "PageDown": ("PageDown", 34, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
}
#: Where an iframe's content begins, and whether the iframe is what is hit at that point of its page.
_INSIDE = """function (x, y) {
    const box = this.getBoundingClientRect(), style = getComputedStyle(this);
    const left = box.left + this.clientLeft + parseFloat(style.paddingLeft);
    const top = box.top + this.clientTop + parseFloat(style.paddingTop);
    let hit = document.elementFromPoint(left + x, top + y);
    while (hit && hit !== this && hit.shadowRoot) {
        const inner = hit.shadowRoot.elementFromPoint(left + x, top + y);
        if (!inner || inner === hit) break;
        hit = inner;
    }
    return [left + x, top + y, hit === this];
}"""


async def click(tab: Tab, element: Element) -> None:
    """Press and release the mouse on the element; nothing is clicked through what covers its frame."""
    x, y = await _in_page(element.frame, element.x, element.y)
    for kind, buttons in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)):
        event = {"type": kind, "x": x, "y": y, "button": "left" if kind != "mouseMoved" else "none"}
        await tab.send("Input.dispatchMouseEvent", {**event, "buttons": buttons, "clickCount": 1})


async def _in_page(frame: Frame, x: float, y: float) -> tuple[float, float]:
    while frame.parent is not None:
        found = await frame.parent.call_on(frame.element, _INSIDE, x, y)
        x, y, is_hit = cast("tuple[float, float, bool]", found)
        if not is_hit:
            raise BrowserError("something covers the frame at this place; nothing was clicked")
        frame = frame.parent
    return x, y


async def fill(element: Element, value: str) -> None:
    """Put a value into a field; raises if the field does not take it."""
    answer = await call_script(element.frame, "fillField", element.ref, value)
    if options := answer.get("options"):
        known = ", ".join(map(str, cast("list[object]", options)))
        raise BrowserError(f"'{element.name}' has no choice '{value}'; it has: {known}")
    if answer.get("readOnly"):
        raise BrowserError(f"'{element.name}' cannot be changed: the page has made it read-only")
    if answer.get("notAField"):
        raise BrowserError(f"'{element.name}' is no field that takes text, but a {element.role}")
    if answer.get("refused"):
        kept = f"it holds '{answer['value']}' now" if answer["value"] else "it is empty now"
        raise BrowserError(f"'{element.name}' did not take '{value}': {kept}")


async def press(tab: Tab, key: str) -> None:
    code, number, text = KEYS[key]
    event = {"key": " " if key == "Space" else key, "code": code, "windowsVirtualKeyCode": number}
    down = {**event, "type": "keyDown" if text else "rawKeyDown", **({"text": text} if text else {})}
    await tab.send("Input.dispatchKeyEvent", down)
    await tab.send("Input.dispatchKeyEvent", {**event, "type": "keyUp"})


async def scroll(tab: Tab, direction: str) -> bool:
    """Move the page; False if it was at its end already. A page may load more then."""
    moved = await call_script(tab.main_frame(), "scrollPage", direction)
    await asyncio.sleep(0.1)
    return bool(moved)
