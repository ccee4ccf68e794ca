"""Looks at the requests of a tab before they leave, and at the documents that come back."""

import asyncio
import base64
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias, cast
from urllib.parse import unquote, urlsplit

from sestet.core.record import Record
from sestet.services.browser.connection import BrowserError, Connection, Message

#: What Chromium shows as a page of its own.
_SHOWN = (
    "text/css",
    "text/html",
    "text/javascript",
    "text/markdown",
    "text/plain",
    "text/xml",
    "application/json",
    "application/xml",
    "application/xhtml+xml",
    "image/",
    "application/javascript",
)
_FILE_NAME = re.compile(
    r"filename\*=(?:utf-8)?''(?P<encoded>[^;]+)|filename=\"?(?P<plain>[^\";]+)", re.IGNORECASE
)
#: Endings of the kinds of text that Chromium would save as files.
_TEXTS = ("+json", "+xml", "json-seq", "ndjson", "toml", "yaml")
_CHARSET = re.compile(r"charset=\"?([\w.:-]{1,40})", re.IGNORECASE)
#: Characters that show nothing, such as those between letters of Arabic or in tags, which models read.
_UNSEEN_KINDS = ("Cc", "Cf", "Co", "Cs")
#: A document's own "[e8 " would look like a ref.
_LIKE_A_REF = re.compile(r"\[(?=\s*e\d)")
#: An error, and answers after which the page stays.
_NOTHING_NEW = (0, 204, 205)
#: The most of a document that is kept to be read in another way.
MOST_KEPT = 20_000_000
#: Seconds after which a document that is still on its way is kept as it is.
_KEPT_SECONDS = 15.0


class Request(Record):
    """A request that is about to leave."""

    url: str
    method: str
    kind: str
    has_body: bool
    #: It follows from the answer of a server, which has seen the request before it.
    redirected: bool
    #: It would take the place of the whole page.
    is_main: bool = False

    @property
    def host(self) -> str:
        return host_of(self.url)

    @property
    def is_document(self) -> bool:
        return self.kind == "Document"


class Response(Record):
    """A document that came back."""

    url: str
    status: int
    mime: str
    disposition: str = ""
    #: The content, where Chromium cannot show it.
    content: bytes = b""
    #: It was longer than is kept.
    too_long: bool = False
    charset: str = ""

    @property
    def is_text(self) -> bool:
        return self.mime.startswith("text/") or self.mime.endswith(_TEXTS)

    @property
    def text(self) -> str:
        """The content of a text, without characters that show nothing."""
        try:
            text = self.content.decode(self.charset or "utf-8", "replace")
        except LookupError:
            text = self.content.decode("utf-8", "replace")
        return without_unseen(text)

    @property
    def file_name(self) -> str:
        """The name that the server suggests; '' if it suggests none."""
        found = _FILE_NAME.search(self.disposition)
        return unquote((found["encoded"] or found["plain"] or "").strip()) if found else ""


#: Says why a request must not leave; '' lets it go.
Guard: TypeAlias = Callable[[Request], str]


#: Requests that a page makes to show something, and which carry nothing but what their address says.
READING = ("GET", "HEAD", "OPTIONS")


class Watch:
    """Judges the requests of one call, and remembers what it has stopped and what it has let go."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        #: Requests that were stopped, each with the reason.
        self.stopped: list[tuple[Request, str]] = []
        #: Whether the page itself went on, or something with a body has left.
        self.has_sent = False
        #: Whether any request at all has left.
        self.has_let_go = False

    def judge(self, request: Request) -> str:
        return self._guard(request)

    def note(self, request: Request, why: str) -> None:
        if why:
            self.stopped.append((request, why))
        else:
            self.has_let_go = True
            self.has_sent |= request.is_main or request.has_body


def host_of(url: str) -> str:
    """The host of an address with its port, if it has an unusual one; '' if there is none."""
    with suppress(ValueError):
        parts = urlsplit(url)
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        host = (parts.hostname or "").rstrip(".")
        return host if not parts.port or parts.port == usual else f"{host}:{parts.port}"
    return ""


def site_of(text: str) -> str:
    """A site as code compares it: its host, with the port if that is unusual, without 'www.'."""
    return host_of(text if "://" in text else f"https://{text.strip()}").removeprefix("www.")


def without_unseen(text: str) -> str:
    """A text as a person sees it, which the script of a page does for pages."""
    seen = "".join(sign for sign in text if sign in "\n\t" or unicodedata.category(sign) not in _UNSEEN_KINDS)
    return _LIKE_A_REF.sub("(", seen)


class Wire:
    """The requests of one tab, in all the processes that its frames live in."""

    def __init__(self, connection: Connection, main_frame: str) -> None:
        self._connection = connection
        self._main_frame = main_frame
        self._sessions: set[str] = set()
        self._watch: Watch | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        #: Judges requests between calls too, while something is typed on the page that is not sent.
        self.keeper: Guard | None = None
        #: The address that a call opens: its document may leave whatever the keeper says.
        self.expected = ""
        #: The last document of the page itself.
        self.response: Response | None = None
        #: The page itself was requested, and nothing has taken its place yet.
        self.awaits_page = False
        #: A document that Chromium cannot show, until it is shown in another way.
        self.unshown: Response | None = None
        #: Whether what comes back is to be saved as a file, and not shown.
        self.saves = False

    async def watch(self, session: str) -> None:
        """Look at the requests of one more process."""
        self._sessions.add(session)
        await self._enable(session)

    def forget(self, session: str) -> None:
        self._sessions.discard(session)

    async def guard(self, watch: Watch | None) -> None:
        """From now on let the watch judge every request; None: the call is over."""
        self._watch = watch
        await self._enable_all()

    async def keep(self, keeper: Guard | None) -> None:
        """From now on let the keeper judge every request, also when no call is under way."""
        self.keeper = keeper
        await self._enable_all()

    def inherit(self, watch: Watch | None, keeper: Guard | None) -> None:
        """Before the first request: a page has opened this tab, and what holds for the page holds here."""
        self._watch, self.keeper = watch, keeper

    async def _enable_all(self) -> None:
        for session in tuple(self._sessions):
            with suppress(BrowserError):
                await self._enable(session)

    async def _enable(self, session: str) -> None:
        everything = [{"urlPattern": "*", "requestStage": "Request"}]
        documents = [
            {"urlPattern": "*", "resourceType": "Document", "requestStage": stage}
            for stage in ("Request", "Response")
        ]
        patterns = [*everything, documents[1]] if self._watch or self.keeper else documents
        await self._connection.send("Fetch.enable", {"patterns": patterns}, session)

    def paused(self, session: str, params: Message) -> None:
        """Chromium waits with one request."""
        if "responseStatusCode" in params or "responseErrorReason" in params:
            task = asyncio.create_task(self._answered(session, params))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return
        sent = params["request"]
        request = Request(
            sent["url"] + sent.get("urlFragment", ""),
            sent["method"],
            params.get("resourceType", ""),
            bool(sent.get("hasPostData")),
            bool(params.get("redirectedRequestId")),
            params.get("resourceType") == "Document" and params.get("frameId") == self._main_frame,
        )
        why = self._judge(request)
        if self._watch:
            self._watch.note(request, why)
        if request.is_main:
            self.awaits_page = not why
        if why:
            refused = {"requestId": params["requestId"], "errorReason": "BlockedByClient"}
            self._connection.tell("Fetch.failRequest", refused, session)
        else:
            self._connection.tell("Fetch.continueRequest", {"requestId": params["requestId"]}, session)

    def _judge(self, request: Request) -> str:
        scheme = request.url.partition(":")[0].casefold()
        if request.is_document and scheme not in ("http", "https", "about", "blob"):
            return f"pages of the kind '{scheme}:' are not opened"
        why = self._watch.judge(request) if self._watch else ""
        if why or self.keeper is None or self._is_expected(request):
            return why
        return self.keeper(request)

    def _is_expected(self, request: Request) -> bool:
        return (
            bool(self.expected)
            and request.is_main
            and not request.has_body
            and (request.redirected or request.host == host_of(self.expected))
        )

    async def _answered(self, session: str, params: Message) -> None:
        """A document came back; what Chromium would save as a file is kept to be read."""
        request_id = params["requestId"]
        status = cast("int", params.get("responseStatusCode", 0))
        headers = {each["name"].casefold(): each["value"] for each in params.get("responseHeaders", ())}
        mime = headers.get("content-type", "").partition(";")[0].strip().casefold()
        is_main = params.get("frameId") == self._main_frame
        attached = headers.get("content-disposition", "").casefold().startswith("attachment")
        is_final = status and not 300 <= status < 400
        keep = is_main and is_final and (attached or not (mime or "text/html").startswith(_SHOWN))
        try:
            if is_main and is_final and self.saves:
                saved = [{"name": "Content-Disposition", "value": "attachment"}]
                others = [
                    each
                    for each in params["responseHeaders"]
                    if attached or each["name"].casefold() != "content-disposition"
                ]
                forced = {"requestId": request_id, "responseCode": status}
                forced |= {"responseHeaders": others if attached else [*others, *saved]}
                await self._connection.send("Fetch.continueResponse", forced, session)
                return
            content, too_long = await self._content(session, request_id) if keep else (b"", False)
            if is_main and is_final:
                url = params["request"]["url"]
                named = headers.get("content-disposition", "")
                charset = _CHARSET.search(headers.get("content-type", ""))
                self.response = Response(
                    url, status, mime, named, content, too_long, charset[1] if charset else ""
                )
                self.unshown = self.response if content else None
            if keep:
                blocked = {"requestId": request_id, "errorReason": "Aborted"}
                await self._connection.send("Fetch.failRequest", blocked, session)
            else:
                await self._connection.send("Fetch.continueRequest", {"requestId": request_id}, session)
        except BrowserError:
            return  # the page is gone
        finally:
            if is_main and (keep or self.saves or status in _NOTHING_NEW):
                self.awaits_page = False

    async def _content(self, session: str, request_id: str) -> tuple[bytes, bool]:
        taken = {"requestId": request_id}
        stream = (await self._connection.send("Fetch.takeResponseBodyAsStream", taken, session))["stream"]
        content = bytearray()
        try:
            async with asyncio.timeout(_KEPT_SECONDS):
                while len(content) <= MOST_KEPT:
                    asked = {"handle": stream, "size": 1 << 20}
                    piece = await self._connection.send("IO.read", asked, session)
                    data = cast("str", piece["data"])
                    content += base64.b64decode(data) if piece.get("base64Encoded") else data.encode()
                    if piece["eof"]:
                        return bytes(content), False
            return bytes(content[:MOST_KEPT]), True
        except TimeoutError:
            return bytes(content), True
        finally:
            self._connection.tell("IO.close", {"handle": stream}, session)
