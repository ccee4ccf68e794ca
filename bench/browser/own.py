"""Sestet's browser, measured in a process of its own: ``python -m bench.browser.own PORT MODE HOST...``.

It prints one line of JSON, and ends when it is told to. So its memory can be read from outside.
"""

import asyncio
import json
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast

from sestet.config.browser_settings import BrowserSettings
from sestet.core.label import Label
from sestet.core.tool import CallInfo
from sestet.services.browser import engine
from sestet.services.browser.address_rules import Address
from sestet.services.browser.cookies import CookieStore
from sestet.services.browser.egress import Egress
from sestet.services.browser.pages import take_reading
from sestet.services.browser.reading import find, show
from sestet.services.browser.visitor import Visitor

#: An address of the internet: the proxy lets no page of a private one through.
_PUBLIC = "93.184.215.14"
#: What Chromium itself takes for the text of the page, and the options of lists in it.
_INNER_TEXT = """() => [document.body.innerText,
    [...document.querySelectorAll("select")].map((list) => list.innerText).join(" ")]"""


async def _resolve(_: str) -> Sequence[str]:
    return (_PUBLIC,)


async def _connect(_: Address, __: int, *, port: int) -> socket.socket:
    opened = socket.create_connection(("127.0.0.1", port))
    opened.setblocking(False)
    return opened


async def _read(visitor: Visitor, host: str) -> dict[str, object]:
    visitor.window.next_ref = 1
    first = (await visitor.navigate(f"http://{host}/")).value
    began = time.perf_counter()
    reading = await take_reading(visitor.window)
    seconds = time.perf_counter() - began
    inner, options = cast("list[str]", await visitor.window.tab.main_frame().call(_INNER_TEXT))
    return {
        "text": "\n".join((reading.title, reading.url, *reading.lines)),
        "first": str(first),
        "longest": max(len(show(reading)), len(find(reading, "some"))),
        "seconds": seconds,
        "inner": inner,
        "options": options,
        "omitted": reading.omitted,
    }


async def _measure(port: int, mode: str, hosts: Sequence[str], home: Path) -> None:
    engine.Egress = partial(Egress, resolve=_resolve, connect=partial(_connect, port=port))
    browser = engine.Engine(BrowserSettings(), CookieStore(home / "cookies", {}))
    call = CallInfo("bench", "t", "navigator", "c", Label())
    try:
        found: dict[str, object] = {}
        async with browser.visit(call) as visitor:
            for host in hosts:
                found[host] = await _read(visitor, host) if mode == "read" else None
                if mode == "start":
                    await visitor.navigate(f"http://{host}/")
        print(json.dumps({"at": time.time(), "pages": found}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
    finally:
        await browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(_measure(int(sys.argv[1]), sys.argv[2], sys.argv[3:], Path(home)))


if __name__ == "__main__":
    main()
