"""Lists, reads and searches files of the working directory, and never leaves it."""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, TypeAlias

from sestet.core.errors import ToolError
from sestet.core.record import Record
from sestet.core.words import duration
from sestet.services.own_files import Inode, OwnFiles
from sestet.services.safe_open import LIST_FLAGS, MAX_DEPTH, READ_FLAGS, OpenedPath, open_below, quoted
from sestet.services.text_encoding import decode_text, encoding_by_mark, is_binary

#: Directories with generated files. A search enters them only if its path names them.
SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__"})

_MOST_SCANNED = 50_000
_HEAD_BYTES = 8_192
_PIECE_BYTES = 65_536
_SEARCHED_BYTES = 2_000_000
_MATCH_LENGTH = 120
#: Encodings in which the byte of a line end is also a part of other characters.
_WIDE = ("utf-16", "utf-32")
_COPIED_BYTES = 50_000_000

EntryKind: TypeAlias = Literal["directory", "file", "link", "special"]


class FileLimits(Record):
    """Limits on the work and on the returned text of one request."""

    entries: int = 200
    read_bytes: int = 15_000
    skipped_bytes: int = 200_000_000
    matches: int = 100
    files: int = 20_000
    seconds: float = 10.0


class DirectoryEntry(Record):
    """One name in a directory. A file without permission to look at has no size."""

    name: str
    kind: EntryKind
    size: int | None = None
    target: str = ""


class Listing(Record):
    """The first entries of a directory, and counts of all entries."""

    path: str
    entries: tuple[DirectoryEntry, ...]
    directories: int
    others: int
    hidden: int
    #: False if the directory has more entries than were counted.
    complete: bool

    @property
    def left_out(self) -> int:
        return self.directories + self.others - len(self.entries)


class Excerpt(Record):
    """Some lines of a text file, and the number of bytes after them."""

    path: str
    text: str
    first: int
    last: int
    left: int
    #: The only line is longer than the text that is shown.
    cut: bool


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


class Files:
    """Blocking: call it from a thread. Every path is opened below the root with ``safe_open``."""

    def __init__(
        self,
        root: Path,
        limits: FileLimits = FileLimits(),  # noqa: B008 - immutable
        own: OwnFiles = OwnFiles(),  # noqa: B008 - it hides nothing, and keeps nothing
    ) -> None:
        """``own``: Sestet's own files, which are neither listed nor read nor searched."""
        self._root = root.absolute()
        self._limits = limits
        self._own = own

    def list(self, path: str = ".") -> Listing:
        """The entries of a directory, directories first."""
        refused = self._own.inodes(self._root)
        with open_below(self._root, path, refused) as opened:
            if not opened.is_directory:
                raise ToolError(f"{quoted(path)} is a file, not a directory")
            return self._listing(opened, refused)

    def read(self, path: str, start: int = 1, lines: int = 400) -> Excerpt | Listing:
        """Lines of a text file, counted from 1; for a directory its listing."""
        refused = self._own.inodes(self._root)
        with open_below(self._root, path, refused) as opened:
            if opened.is_directory:
                return self._listing(opened, refused)
            with open(opened.descriptor, "rb", closefd=False) as stream:
                text = _in_utf8(path, stream, opened.state.st_size)
                self._skip_lines(opened.path, text.stream, start - 1)
                return self._excerpt(opened.path, text, start, lines)

    def search(self, text: str, path: str = ".", glob: str = "*") -> Matches:
        """Find a text in file names and contents, in any case. Links are not followed."""
        if not text.strip() or "\n" in text:
            raise ToolError("the text to search for must be one line that is not empty")
        refused = self._own.inodes(self._root)
        with open_below(self._root, path, refused) as opened:
            return _Search(text, glob, self._limits, refused).run(opened)

    def _listing(self, opened: OpenedPath, refused: frozenset[Inode]) -> Listing:
        with os.scandir(opened.descriptor) as scan:
            entries = sorted(_allowed(islice(scan, _MOST_SCANNED), refused), key=_directories_first)
            complete = next(scan, None) is None
        directories = sum(entry.is_dir(follow_symlinks=False) for entry in entries)
        return Listing(
            opened.path,
            tuple(_entry(opened.descriptor, entry) for entry in entries[: self._limits.entries]),
            directories,
            len(entries) - directories,
            sum(entry.name.startswith(".") for entry in entries),
            complete,
        )

    def _skip_lines(self, path: str, stream: BinaryIO, count: int) -> None:
        skipped, piece = 0, b""
        while skipped < count and (piece := stream.readline(_PIECE_BYTES)):
            skipped += piece.endswith(b"\n")
            if stream.tell() > self._limits.skipped_bytes:
                most = human_size(self._limits.skipped_bytes)
                raise ToolError(f"line {count + 1} of {quoted(path)} lies beyond the first {most}")
        if count and not stream.read(1):
            lines = _count_lines(stream)
            raise ToolError(f"{quoted(path)} ends at line {lines}")
        if count:
            stream.seek(-1, os.SEEK_CUR)

    def _excerpt(self, path: str, text: "_Text", start: int, lines: int) -> Excerpt:
        stream, size = text
        taken: list[bytes] = []
        room, cut = self._limits.read_bytes, False
        while len(taken) < lines and room and (line := stream.readline(room)):
            fits = line.endswith(b"\n") or stream.tell() >= size
            if not fits and taken:
                # The next excerpt begins with this line.
                stream.seek(-len(line), os.SEEK_CUR)
                break
            taken.append(line)
            room -= len(line)
            cut = not fits and self._drop_rest_of_line(stream)
        left = max(0, size - stream.tell())
        shown = decode_text(b"".join(taken))
        return Excerpt(path, shown, start, start + max(0, len(taken) - 1), left, cut)

    def _drop_rest_of_line(self, stream: BinaryIO) -> bool:
        """Skip to the next line; False if only the line end was left."""
        dropped = 0
        while dropped < self._limits.skipped_bytes and (piece := stream.readline(_PIECE_BYTES)):
            dropped += len(piece.rstrip(b"\r\n"))
            if piece.endswith(b"\n"):
                break
        return dropped > 0


class _LimitHitError(Exception):
    """The search reached a limit; the text names it."""


class _Search:
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
            entries = sorted(_allowed(islice(scan, self._limits.files + 1), self._refused), key=_by_name)
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
        if is_binary(data[:_HEAD_BYTES]):
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


class _Text(NamedTuple):
    """A text file in which a line ends with the byte of a line end."""

    stream: BinaryIO
    size: int


def _in_utf8(path: str, stream: BinaryIO, size: int) -> _Text:
    """The file itself, or a copy of it in UTF-8 if its characters have several bytes each."""
    head = stream.read(_HEAD_BYTES)
    stream.seek(0)
    if is_binary(head):
        raise ToolError(f"{quoted(path)} is not a text file: it holds {human_size(size)} of binary data")
    if encoding_by_mark(head) not in _WIDE:
        return _Text(stream, size)
    if size > _COPIED_BYTES:
        most = human_size(_COPIED_BYTES)
        raise ToolError(f"{quoted(path)} is in {encoding_by_mark(head)} and larger than {most}")
    copy = decode_text(stream.read(_COPIED_BYTES)).encode("utf-8", "replace")
    return _Text(BytesIO(copy), len(copy))


def human_size(size: int) -> str:
    """A number of bytes for people: 999 B, 1.2 kB, 35 MB."""
    if size < 1_000:
        return f"{size} B"
    amount, units = size / 1_000, ["kB", "MB", "GB", "TB"]
    # Compared as rounded, so that 999,999 B becomes 1 MB and not 1000 kB.
    while amount >= 999.5 and len(units) > 1:
        amount /= 1_000
        units.pop(0)
    return f"{amount:.1f} {units[0]}" if amount < 9.95 else f"{amount:.0f} {units[0]}"


def _directories_first(entry: "os.DirEntry[str]") -> tuple[bool, str, str]:
    return not entry.is_dir(follow_symlinks=False), entry.name.casefold(), entry.name


def _allowed(
    entries: "Iterable[os.DirEntry[str]]", refused: frozenset[Inode]
) -> "Iterator[os.DirEntry[str]]":
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


def _entry(directory: int, entry: "os.DirEntry[str]") -> DirectoryEntry:
    if entry.is_dir(follow_symlinks=False):
        return DirectoryEntry(entry.name, "directory")
    try:
        if entry.is_symlink():
            return DirectoryEntry(entry.name, "link", target=os.readlink(entry.name, dir_fd=directory))
        state = entry.stat(follow_symlinks=False)
    except OSError:
        return DirectoryEntry(entry.name, "file")
    return DirectoryEntry(entry.name, "file" if stat.S_ISREG(state.st_mode) else "special", state.st_size)


def _count_lines(stream: BinaryIO) -> int:
    stream.seek(0)
    lines, piece = 0, b"\n"
    while following := stream.read(_PIECE_BYTES):
        piece = following
        lines += piece.count(b"\n")
    return lines + (not piece.endswith(b"\n"))


def _around(line: str, position: int) -> str:
    """The line, or the part of a long line around the match."""
    first = max(0, position - _MATCH_LENGTH // 3) if len(line) > _MATCH_LENGTH else 0
    shown = line[first : first + _MATCH_LENGTH].strip()
    return f"{'…' if first else ''}{shown}{'…' if first + _MATCH_LENGTH < len(line) else ''}"
