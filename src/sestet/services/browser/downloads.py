"""Files that go from a page to the workspace, and from the workspace to a page."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sestet.core.record import Record
from sestet.services.browser.chromium import DEDICATED_ID
from sestet.services.browser.connection import BrowserError, Message
from sestet.services.browser.window import Window

#: Seconds until a download must have begun, and until it must be whole.
_BEGINS, _ENDS = 10.0, 90.0
_MOST_BYTES, _LONGEST_ENDING = 120, 10
#: Names that mean devices on Windows, with any ending.
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10)))
)
_ODD = re.compile(r"[^\w.()+ -]")
#: Endings that a desktop opens as programs: a text with such an ending gets another one behind it.
_RUNS = frozenset(
    """
    apk app appimage bash bat cmd com command cpl csh deb desktop dll dmg exe fish flatpakref hta jar js jse
    ksh lnk msi msp pif pkg pl ps1 py pyc pyw pyz reg rpm run scf scr service sh so url vb vbe vbs wsf wsh
    zsh
    """.split()  # noqa: SIM905 - one text is easier to read and to keep
)


class Downloaded(Record):
    """A file that came from a page."""

    name: str
    content: bytes
    url: str


def safe_name(suggested: str, url: str = "") -> str:
    """A plain file name: no directory, no hidden file, no option of a command, no ending that runs."""
    name = os.path.basename(suggested.replace("\\", "/")) or unquote(urlsplit(url).path.rpartition("/")[2])
    name = _ODD.sub("_", name).lstrip(" .-").rstrip(" .") or "download"
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > _LONGEST_ENDING:
        stem, dot, ending = name, "", ""
    stem = _cut(stem, _MOST_BYTES)
    if stem.partition(".")[0].strip().casefold() in _DEVICES:
        stem = f"_{stem}"
    return f"{stem}{dot}{ending}{'.txt' if ending.strip().casefold() in _RUNS else ''}"


def _cut(text: str, most_bytes: int) -> str:
    """A file system counts bytes, and a letter has up to four."""
    return text.encode()[:most_bytes].decode(errors="ignore").rstrip(" .")


class Download:
    """One download of a window, from the moment that something was clicked."""

    def __init__(self, window: Window, directory: Path, most_bytes: int) -> None:
        self._window = window
        self._directory = directory
        self._most = most_bytes
        self._begun = asyncio.Event()
        self._ended = asyncio.Event()
        self._facts: Message = {}
        self._state = ""

    def begins(self, _: str, params: Message) -> None:
        if not self._facts:
            self._facts = params
            self._begun.set()
        else:
            self._window.chromium.connection.tell("Browser.cancelDownload", {"guid": params["guid"]})

    def goes_on(self, _: str, params: Message) -> None:
        if params.get("guid") != self._facts.get("guid"):
            return
        if max(params.get("receivedBytes", 0), params.get("totalBytes", 0)) > self._most:
            self._state = "too large"
            self._window.chromium.connection.tell("Browser.cancelDownload", {"guid": params["guid"]})
            self._ended.set()
        elif params["state"] != "inProgress":
            self._state = self._state or params["state"]
            self._ended.set()

    async def result(self) -> Downloaded | None:
        """The file; None if nothing was downloaded."""
        try:
            async with asyncio.timeout(_BEGINS):
                await self._begun.wait()
        except TimeoutError:
            return None
        try:
            async with asyncio.timeout(_ENDS):
                await self._ended.wait()
        except TimeoutError:
            raise BrowserError("the download took too long and was stopped; nothing was saved") from None
        if self._state == "too large":
            raise BrowserError(
                f"the file is larger than {self._most // 1_000_000} MB (browser.downloadMb); it was not saved"
            )
        if self._state != "completed":
            raise BrowserError("the server broke the download off; nothing was saved")
        url = str(self._facts.get("url", ""))
        content = await asyncio.to_thread((self._directory / self._facts["guid"]).read_bytes)
        return Downloaded(safe_name(str(self._facts.get("suggestedFilename", "")), url), content, url)


@asynccontextmanager
async def downloading(window: Window, most_bytes: int) -> AsyncGenerator[Download]:
    """While this is open, the window may save one file into a directory of the browser's own."""
    directory = _own_directory(window, "downloads")
    connection = window.chromium.connection
    download = Download(window, directory, most_bytes)
    connection.listen("Browser.downloadWillBegin", download.begins)
    connection.listen("Browser.downloadProgress", download.goes_on)
    allowed = {"behavior": "allowAndName", "downloadPath": str(directory), "eventsEnabled": True}
    await connection.send("Browser.setDownloadBehavior", {**allowed, "browserContextId": window.context})
    window.tab.wire.saves = True
    try:
        yield download
    finally:
        window.tab.wire.saves = False
        connection.forget("Browser.downloadWillBegin", download.begins)
        connection.forget("Browser.downloadProgress", download.goes_on)
        denied = {"behavior": "deny", "browserContextId": window.context, "eventsEnabled": False}
        with suppress(BrowserError):
            await connection.send("Browser.setDownloadBehavior", denied)
        await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)


def lend_file(window: Window, name: str, content: bytes) -> str:
    """Put a copy of a file where Chromium can read it; it ends with the browser."""
    path = _own_directory(window, "uploads") / safe_name(name)
    path.write_bytes(content)
    _give(path)
    return str(path)


def _own_directory(window: Window, name: str) -> Path:
    directory = window.chromium.profile / name / os.urandom(8).hex()
    for each in (directory.parent, directory):
        each.mkdir(mode=0o700, exist_ok=True)
        _give(each)
    return directory


def _give(path: Path) -> None:
    if os.geteuid() == 0:
        os.chown(path, DEDICATED_ID, DEDICATED_ID)
