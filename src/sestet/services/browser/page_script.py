"""Sestet's own script in a page: joins its files, loads them into a frame, and calls their functions."""

from functools import cache
from pathlib import Path
from typing import cast

from sestet.core.schema import JsonValue
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.frames import Frame

#: In the order in which one uses the other.
_FILES = ("dom", "clip", "paint", "controls", "refs", "walk", "lines", "hands", "reader")
_OFFERED = (
    *("read", "locate", "elementOf", "frameOf", "hostsOf", "adopt", "guard", "guarded"),
    *("fillField", "formValues", "formContent", "isEmptyForm", "scrollPage"),
)
# A page can name an element "sestet", so only a property of our own world's window counts.
_CALL = """(name, ...values) =>
    Object.hasOwn(globalThis, "sestet") ? { value: globalThis.sestet[name](...values) } : null"""
_HOLD = """(name, ...values) =>
    Object.hasOwn(globalThis, "sestet") ? globalThis.sestet[name](...values) : null"""


@cache
def _source() -> str:
    folder = Path(__file__).parent
    files = "\n".join((folder / f"page_{name}.js").read_text(encoding="utf-8") for name in _FILES)
    offered = ", ".join(_OFFERED)
    return f"""() => {{
        if (!Object.hasOwn(globalThis, "sestet"))
            Object.defineProperty(globalThis, "sestet", {{ value: (() => {{
                "use strict";
                {files}
                return {{ {offered} }};
            }})() }});
    }}"""


async def call_script(frame: Frame, name: str, *values: JsonValue) -> dict[str, JsonValue]:
    """Call one function of the script in a frame, which gets the script first if it has none."""
    answer = await frame.call(_CALL, name, *values)
    if answer is None:
        await frame.call(_source())
        answer = await frame.call(_CALL, name, *values)
    if answer is None:
        raise BrowserError("the page moved on while it was read; try again")
    return cast("dict[str, JsonValue]", cast("dict[str, JsonValue]", answer)["value"])


async def hold_result(frame: Frame, name: str, *values: JsonValue) -> str:
    """The same for a function that returns an element: its object id, or '' for none."""
    return await frame.hold(_HOLD, name, *values)
