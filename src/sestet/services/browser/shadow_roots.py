"""Finds closed shadow roots by the DevTools protocol, since no script can, for Sestet's script."""

import asyncio
from typing import cast

from sestet.services.browser.connection import Message, ProtocolError
from sestet.services.browser.frames import Frame
from sestet.services.browser.page_script import hold_result

#: The most elements of a page that are looked into at one reading.
_MOST_HOSTS = 300
_ADOPT = "function (root) { globalThis.sestet.adopt(this, root); }"


async def adopt_closed_roots(frame: Frame) -> bool:
    """Look into the elements that may have a closed root; True if one was found."""
    held = await hold_result(frame, "hostsOf", _MOST_HOSTS)
    if not held:
        return False
    listed = await frame.send("Runtime.getProperties", {"objectId": held, "ownProperties": True})
    values = cast(
        "list[Message]", [each.get("value", {}) for each in listed["result"] if each["name"].isdecimal()]
    )
    found = await asyncio.gather(*(_adopt(frame, cast("str", value.get("objectId", ""))) for value in values))
    return any(found)


async def _adopt(frame: Frame, host: str) -> bool:
    try:
        described = await frame.send("DOM.describeNode", {"objectId": host, "depth": 1, "pierce": True})
        roots = cast("list[Message]", described["node"].get("shadowRoots", []))
        closed = next((root for root in roots if root.get("shadowRootType") == "closed"), None)
        if closed is None:
            return False
        root = await frame.hold_node(cast("int", closed["backendNodeId"]))
        params = {"functionDeclaration": _ADOPT, "objectId": host, "arguments": [{"objectId": root}]}
        await frame.send("Runtime.callFunctionOn", params)
    except ProtocolError:
        return False  # it is gone from the page already
    return True
