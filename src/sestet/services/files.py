"""Lists, reads and searches files of the working directory, and never leaves it."""

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, TypeAlias

from sestet.core.errors import ToolError
from sestet.core.record import Record
from sestet.services.file_search import HEAD_BYTES, FileLimits, FileSearch, Matches, allowed
from sestet.services.local_disk import is_on_local_disks
from sestet.services.own_files import OwnFiles
from sestet.services.safe_open import OpenedPath, open_below, quoted
from sestet.services.text_encoding import decode_text, encoding_by_mark, is_binary
from sestet.services.workspace import Workspace

_MOST_SCANNED = 50_000
#: What is looked at in the event loop: it takes less time than handing it to a thread and back.
_SMALL_ENTRIES = 100
_SMALL_BYTES = 65_536
_PIECE_BYTES = 65_536
#: Encodings in which the byte of a line end is also a part of other characters.
_WIDE = ("utf-16", "utf-32")
_COPIED_BYTES = 50_000_000

EntryKind: TypeAlias = Literal["directory", "file", "link", "special"]


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


class _NotSmallError(Exception):
    """A look at once would hold other work up."""


class Files:
    """Blocking: call it from a thread, except what ends in ``at_once``.

    Every path is opened below the root with ``safe_open``.
    """

    def __init__(
        self,
        root: Path,
        limits: FileLimits = FileLimits(),  # noqa: B008 - immutable
        own: OwnFiles = OwnFiles(),  # noqa: B008 - it hides nothing, and keeps nothing
        more: Sequence[Path] = (),
    ) -> None:
        """``own``: Sestet's own files, which are neither listed nor read nor searched.

        ``more``: further directories, whose files have absolute paths.
        """
        self._workspace = Workspace((root, *more), own)
        self._limits = limits

    def list(self, path: str = ".") -> Listing:
        """The entries of a directory, directories first."""
        with self._open(path) as opened:
            return self._list(path, opened, _MOST_SCANNED)

    def list_at_once(self, path: str = ".") -> Listing | None:
        """The same for a small directory on a local disk; None: ``list`` it in a thread."""
        if not self._is_near(path):
            return None
        try:
            with self._open(path) as opened:
                return self._list(path, opened, _SMALL_ENTRIES)
        except _NotSmallError:
            return None

    def _list(self, path: str, opened: OpenedPath, most: int) -> Listing:
        if not opened.is_directory:
            raise ToolError(f"{quoted(path)} is a file, not a directory")
        return self._listing(opened, most)

    def read(self, path: str, start: int = 1, lines: int = 400) -> Excerpt | Listing:
        """Lines of a text file, counted from 1; for a directory its listing."""
        with self._open(path) as opened:
            if opened.is_directory:
                return self._listing(opened, _MOST_SCANNED)
            return self._read(path, opened, start, lines)

    def read_at_once(self, path: str, start: int = 1, lines: int = 400) -> Excerpt | Listing | None:
        """The same for a small file on a local disk; None: ``read`` it in a thread."""
        if not self._is_near(path):
            return None
        try:
            with self._open(path) as opened:
                if opened.is_directory:
                    return self._listing(opened, _SMALL_ENTRIES)
                return (
                    self._read(path, opened, start, lines) if opened.state.st_size <= _SMALL_BYTES else None
                )
        except _NotSmallError:
            return None

    def _is_near(self, path: str) -> bool:
        return is_on_local_disks(self._workspace.root_of(path).directory)

    def _read(self, path: str, opened: OpenedPath, start: int, lines: int) -> Excerpt:
        with open(opened.descriptor, "rb", closefd=False) as stream:
            text = _in_utf8(path, stream, opened.state.st_size)
            self._skip_lines(opened.path, text.stream, start - 1)
            return self._excerpt(opened.path, text, start, lines)

    def search(self, text: str, path: str = ".", glob: str = "*") -> Matches:
        """Find a text in file names and contents, in any case. Links are not followed."""
        if not text.strip() or "\n" in text:
            raise ToolError("the text to search for must be one line that is not empty")
        with self._open(path) as opened:
            return FileSearch(text, glob, self._limits, opened.refused).run(opened)

    def feed(self, path: str, take: Callable[[bytes], object]) -> None:
        """Give the content of a file to ``take``, piece by piece."""
        with self._open(path) as opened:
            if opened.is_directory:
                raise ToolError(f"{quoted(path)} is a directory, not a file")
            while piece := os.read(opened.descriptor, _PIECE_BYTES):
                take(piece)

    def _open(self, path: str) -> AbstractContextManager[OpenedPath]:
        root = self._workspace.root_of(path)
        return open_below(root.directory, path, self._workspace.hidden(root), root.shown)

    def _listing(self, opened: OpenedPath, most: int) -> Listing:
        with os.scandir(opened.descriptor) as scan:
            entries = sorted(allowed(islice(scan, most), opened.refused), key=_directories_first)
            complete = next(scan, None) is None
        if not complete and most < _MOST_SCANNED:
            raise _NotSmallError
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


class _Text(NamedTuple):
    """A text file in which a line ends with the byte of a line end."""

    stream: BinaryIO
    size: int


def _in_utf8(path: str, stream: BinaryIO, size: int) -> _Text:
    """The file itself, or a copy of it in UTF-8 if its characters have several bytes each."""
    head = stream.read(HEAD_BYTES)
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
