"""A frame of a page, and Sestet's own world in it, which scripts of the page neither see nor change."""

from collections.abc import Callable, Mapping
from typing import cast

from sestet.core.schema import JsonValue
from sestet.services.browser.connection import BrowserError, Connection, Message, ProtocolError

_WORLD = "sestet"
#: What Chromium says when a page has moved on, so that the world is gone.
_GONE = ("Cannot find context", "Cannot find default execution context", "Execution context was destroyed")

#: What it says of a function that had begun. It is not begun again: it may have acted.
_CUT_OFF = "Inspected target navigated or closed"
_ATTEMPTS = 3
_MOVED = "the page loads anew faster than it can be read; try again, or open another page"


class PageMovedError(ProtocolError):
    """The document that a command was for is gone: its page has moved on."""


class Frame:
    """One document: the page itself, or an iframe in it, in whichever process Chromium keeps it."""

    def __init__(self, connection: Connection, session: str, frame_id: str, find: "FindSession") -> None:
        self.id = frame_id
        self.session = session
        #: The frame that shows this one, and the element in it, held there; None: this is the page itself.
        self.parent: Frame | None = None
        self.element = ""
        self._connection = connection
        self._find = find
        self._world: int | None = None

    async def call(self, function: str, *arguments: JsonValue) -> JsonValue:
        """Call a JavaScript function in Sestet's world, with JSON arguments and a JSON result."""
        answer = await self._run(function, arguments, by_value=True)
        return cast("JsonValue", answer.get("value"))

    async def hold(self, function: str, *arguments: JsonValue) -> str:
        """The same, but the result stays in the page; returns its object id, or '' for null."""
        answer = await self._run(function, arguments, by_value=False)
        return cast("str", answer.get("objectId", ""))

    async def hold_node(self, backend_node_id: int) -> str:
        """The object id of a node in Sestet's world."""
        wanted = {"backendNodeId": backend_node_id, "executionContextId": await self._own_world()}
        return cast("str", (await self.send("DOM.resolveNode", wanted))["object"]["objectId"])

    async def call_on(self, object_id: str, function: str, *arguments: JsonValue) -> JsonValue:
        """Call a function whose ``this`` is a held object."""
        params = {
            "functionDeclaration": function,
            "objectId": object_id,
            "arguments": [{"value": each} for each in arguments],
            "returnByValue": True,
            "awaitPromise": True,
        }
        return cast("JsonValue", _result(await self.send("Runtime.callFunctionOn", params)).get("value"))

    async def send(self, method: str, params: Mapping[str, object]) -> Message:
        """Send a command to the process that has this frame."""
        try:
            return await self._connection.send(method, params, self.session)
        except ProtocolError as error:
            if str(error).startswith(_GONE):
                raise PageMovedError(_MOVED) from error
            if str(error).startswith(_CUT_OFF):
                raise ProtocolError("the page moved on meanwhile; read it again") from error
            raise

    async def origin(self) -> str:
        """Whose document it is, such as 'https://example.com'; 'null': nobody's."""
        return str(await self.call("() => globalThis.origin"))

    async def child(self, object_id: str) -> "Frame | None":
        """The frame that a held <iframe> element shows."""
        described = await self.send("DOM.describeNode", {"objectId": object_id})
        frame_id = cast("str", described["node"].get("frameId", ""))
        if not frame_id:
            return None
        frame = Frame(self._connection, self._find(frame_id) or self.session, frame_id, self._find)
        frame.parent, frame.element = self, object_id
        return frame

    async def _run(self, function: str, arguments: tuple[JsonValue, ...], *, by_value: bool) -> Message:
        for _ in range(_ATTEMPTS):
            params: dict[str, object] = {
                "functionDeclaration": function,
                "executionContextId": await self._own_world(),
                "arguments": [{"value": each} for each in arguments],
                "returnByValue": by_value,
                "awaitPromise": True,
            }
            try:
                return _result(await self.send("Runtime.callFunctionOn", params))
            except PageMovedError:
                # The new document needs a new world.
                self._world = None
        raise PageMovedError(_MOVED)

    async def _own_world(self) -> int:
        if self._world is None:
            made = await self.send(
                "Page.createIsolatedWorld",
                {"frameId": self.id, "worldName": _WORLD, "grantUniveralAccess": False},
            )
            self._world = cast("int", made["executionContextId"])
        return self._world


#: The session of the process that keeps a frame, or '' if its parent's process does.
FindSession = Callable[[str], str]


def _result(answer: Message) -> Message:
    if "exceptionDetails" in answer:
        details = answer["exceptionDetails"]
        said = details.get("exception", {}).get("description") or details.get("text", "")
        raise BrowserError(f"the page could not be read: {str(said)[:300]}")
    return cast("Message", answer.get("result", {}))
