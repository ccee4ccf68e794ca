"""Searches the names and the contents of files below an open directory."""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from itertools import islice

from sestet.core.record import Record
from sestet.core.words import duration
from sestet.services.own_files import Inode
from sestet.services.safe_open import LIST_FLAGS, MAX_DEPTH, READ_FLAGS, OpenedPath
from sestet.services.text_encoding import decode_text, is_binary

#: Directories with generated files. A search enters them only if its path names them.
SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__"})

#: The part of a file that shows whether it is text.
HEAD_BYTES = 8_192

_SEARCHED_BYTES = 2_000_000
_MATCH_LENGTH = 120


class FileLimits(Record):
    """Limits on the work and on the returned text of one request."""

    entries: int = 200
    read_bytes: int = 15_000
    skipped_bytes: int = 200_000_000
    matches: int = 100
    files: int = 20_000
    seconds: float = 10.0


class Match(Record):
    """A place where the text was found; line 0 means the file name."""

    path: str
    line: int
    text: str


class Matches(Record):
    path: str
    found: tuple[Match, ...]
    #: The limit that ended the search early; empty if the search was complete.
    limit: str
    too_large: int
    unreadable: int


class _LimitHitError(Exception):
    """The search reached a limit; the text names it."""


class FileSearch:
    """The state of one search."""

    def __init__(self, text: str, glob: str, limits: FileLimits, refused: frozenset[Inode]) -> None:
        self._refused = refused
        self._needle = text.casefold()
        self._glob = glob.casefold()
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds
        self._found: list[Match] = []
        self._seen = self._too_large = self._unreadable = 0

    def run(self, opened: OpenedPath) -> Matches:
        limit = ""
        try:
            if opened.is_directory:
                prefix = "" if opened.path == "." else f"{opened.path}/"
                self._search_directory(opened.descriptor, prefix)
            else:
                self._search_contents(opened.descriptor, opened.path)
        except _LimitHitError as hit:
            limit = str(hit)
        return Matches(opened.path, tuple(self._found), limit, self._too_large, self._unreadable)

    def _search_directory(self, directory: int, prefix: str) -> None:
        with os.scandir(directory) as scan:
            entries = sorted(allowed(islice(scan, self._limits.files + 1), self._refused), key=_by_name)
        for entry in entries:
            self._count_one()
            is_directory = entry.is_dir(follow_symlinks=False)
            if is_directory and entry.name in SKIPPED:
                continue
            path = prefix + entry.name
            wanted = fnmatch(entry.name.casefold(), self._glob) or fnmatch(path.casefold(), self._glob)
            if wanted and self._needle in entry.name.casefold():
                self._add(Match(path, 0, ""))
            if is_directory or (wanted and entry.is_file(follow_symlinks=False)):
                self._open_entry(directory, entry.name, path, is_directory)

    def _open_entry(self, directory: int, name: str, path: str, is_directory: bool) -> None:
        try:
            flags = LIST_FLAGS | os.O_NOFOLLOW if is_directory else READ_FLAGS
            descriptor = os.open(name, flags, dir_fd=directory)
        except OSError:
            self._unreadable += 1
            return
        try:
            state = os.fstat(descriptor)
            if (state.st_dev, state.st_ino) in self._refused:
                return
            if not is_directory:
                self._search_contents(descriptor, path)
            elif path.count("/") < MAX_DEPTH:
                self._search_directory(descriptor, f"{path}/")
            else:
                self._unreadable += 1
        finally:
            os.close(descriptor)

    def _search_contents(self, descriptor: int, path: str) -> None:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            return
        if state.st_size > _SEARCHED_BYTES:
            self._too_large += 1
            return
        with open(descriptor, "rb", closefd=False) as stream:
            data = stream.read(_SEARCHED_BYTES)
        if is_binary(data[:HEAD_BYTES]):
            return
        text = decode_text(data)
        # Most files have no match: one check of the whole text is far cheaper than one for each line.
        if self._needle not in text.casefold():
            return
        for number, line in enumerate(text.split("\n"), 1):
            if (position := line.casefold().find(self._needle)) >= 0:
                self._add(Match(path, number, _around(line, position)))

    def _add(self, match: Match) -> None:
        if len(self._found) == self._limits.matches:
            raise _LimitHitError(f"{self._limits.matches} matches")
        self._found.append(match)

    def _count_one(self) -> None:
        self._seen += 1
        if self._seen > self._limits.files:
            raise _LimitHitError(f"{self._limits.files:,} files")
        if time.monotonic() >= self._deadline:
            raise _LimitHitError(duration(self._limits.seconds))


def allowed(entries: "Iterable[os.DirEntry[str]]", refused: frozenset[Inode]) -> "Iterator[os.DirEntry[str]]":
    """The entries that are not refused. A link is resolved and checked when it is opened."""
    numbers = {number for _, number in refused}
    for entry in entries:
        # Most numbers differ, and only a look at the file tells its device.
        if entry.inode() in numbers:
            state = entry.stat(follow_symlinks=False)
            if (state.st_dev, state.st_ino) in refused:
                continue
        yield entry


def _by_name(entry: "os.DirEntry[str]") -> str:
    return entry.name


def _around(line: str, position: int) -> str:
    """The line, or the part of a long line around the match."""
    first = max(0, position - _MATCH_LENGTH // 3) if len(line) > _MATCH_LENGTH else 0
    shown = line[first : first + _MATCH_LENGTH].strip()
    return f"{'…' if first else ''}{shown}{'…' if first + _MATCH_LENGTH < len(line) else ''}"
