"""A value on its way into one field of a web page: the broker itself tells the browser, over its pipe."""

import json
import os
import time
from typing import NamedTuple

from sestet.core.errors import VaultError

#: Seconds until a pipe that takes nothing has failed.
_PATIENCE = 5.0
#: Sets exactly this field, wherever the focus is, and tells the page that somebody has typed.
_FUNCTION = """function (value) {
    const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
    if (!(this instanceof HTMLInputElement) || this.type !== "password") return false;
    this.focus();
    own.set.call(this, value);
    const tell = (name) => this.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
    ["input", "change"].forEach(tell);
    return true;
}"""


class PageField(NamedTuple):
    """A field of a page in the browser, and the number of the command that fills it in."""

    number: int
    session: str
    field: str
    #: The pipe on which the browser reads commands.
    pipe: int


def type_into_field(descriptor: int, number: int, session: str, field: str, value: str) -> None:
    """Write one command of the DevTools protocol; its answer is a flag, which Sestet reads."""
    params = {
        "functionDeclaration": _FUNCTION,
        "objectId": field,
        "arguments": [{"value": value}],
        "returnByValue": True,
    }
    message = {"id": number, "method": "Runtime.callFunctionOn", "sessionId": session, "params": params}
    rest = json.dumps(message).encode() + b"\0"
    until = time.monotonic() + _PATIENCE
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            if time.monotonic() > until:
                raise VaultError("the browser does not take the secret") from None
            time.sleep(0.005)
