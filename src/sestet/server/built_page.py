"""The web page as it was built: its files, read once at the start of the server.

Only a file that is in the table is ever sent, so no path of a request reaches the disk.
"""

import gzip
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sestet.server import paths

#: Where ``make web`` builds the page. The wheel has it.
DIRECTORY = Path(__file__).with_name("page")
_INDEX = "index.html"
_ASSETS = "assets"
#: The types of files that are sent; a file with another ending is left out.
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
#: Files that are small already.
_PACKED = (".png", ".woff2")
#: The name of an asset has a hash of its content.
_FOR_EVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Sestet</title>
<p>Sestet is running, and its page was not built: <code>make web</code> builds it, then start the server
again. <code>sestet docs server</code> shows how programs talk with the server.</p></html>"""


class PageFile:
    """One file of the page."""

    def __init__(self, content: bytes, suffix: str, cache: str) -> None:
        self._content = content
        self._suffix = suffix
        self._cache = cache

    @cached_property
    def _zipped(self) -> bytes:
        """Empty if zipping does not pay."""
        zipped = b"" if self._suffix in _PACKED else gzip.compress(self._content, mtime=0)
        return zipped if len(zipped) < len(self._content) else b""

    async def answer(self, request: Request) -> Response:
        headers = {"content-type": _TYPES[self._suffix], "cache-control": self._cache}
        content = self._content
        if self._zipped:
            headers["vary"] = "accept-encoding"
            if "gzip" in request.headers.get("accept-encoding", ""):
                headers["content-encoding"] = "gzip"
                content = self._zipped
        return Response(content, headers=headers)


def page_paths(directory: Path) -> list[paths.Path]:
    """A path for each file of the built page. If it was not built, the only one says so."""
    files = {
        "/" if path == f"/{_INDEX}" else path: PageFile(
            file.read_bytes(), file.suffix, _FOR_EVER if path.startswith(f"/{_ASSETS}/") else _ASK_AGAIN
        )
        for path, file in _files(directory)
    }
    files.setdefault("/", PageFile(_NOT_BUILT, ".html", "no-store"))
    return [paths.Path("GET", path, file.answer) for path, file in files.items()]


def _files(directory: Path) -> Iterator[tuple[str, Path]]:
    """The files with their paths in an address: those in the directory itself, and its assets."""
    for folder, prefix in ((directory, "/"), (directory / _ASSETS, f"/{_ASSETS}/")):
        for file in sorted(folder.iterdir()) if folder.is_dir() else ():
            if file.suffix in _TYPES and file.is_file() and not file.is_symlink():
                yield f"{prefix}{file.name}", file
