"""The state of a file, a directory or a link: what undo compares and brings back."""

import os
import stat
from collections.abc import Iterator
from typing import Literal, NamedTuple

from sestet.core.errors import ToolError
from sestet.core.record import Record
from sestet.services.safe_open import KINDS, LIST_FLAGS, MAX_DEPTH, READ_FLAGS, Place, quoted
from sestet.storage.kept_files import digest_of

#: The content of a larger file is not kept, so such a file can only be moved.
LARGEST = 50_000_000
#: Of one call: files and directories, and bytes of their contents.
MOST_ENTRIES = 1_000
MOST_BYTES = 200_000_000
#: The system chooses the mode and the owner.
AS_USUAL = -1


class FileState(Record):
    """Of a link, the content is its target."""

    kind: Literal["none", "file", "directory", "link"]
    mode: int = AS_USUAL
    uid: int = AS_USUAL
    gid: int = AS_USUAL
    #: The SHA-256 of the content. A file that is too large to keep has the number of its inode instead.
    digest: str = ""
    size: int = 0

    def is_like(self, other: "FileState") -> bool:
        """Whether the same thing is there. Mode and owner do not count: undo loses none of them."""
        return self.kind == other.kind and self.digest == other.digest

    @property
    def is_kept(self) -> bool:
        """Whether it has a content that can be kept."""
        return self.kind in ("file", "link") and self.size <= LARGEST


NOTHING = FileState("none")


class Found(NamedTuple):
    state: FileState
    content: bytes = b""


def look(place: Place) -> Found:
    """What is at a place, with its content unless that is too large to keep."""
    return _found(place.directory, place.name, place.path)


def _found(directory: int, name: str, path: str) -> Found:
    try:
        state = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return Found(NOTHING)
    mode, owner = stat.S_IMODE(state.st_mode), (state.st_uid, state.st_gid)
    if stat.S_ISDIR(state.st_mode):
        return Found(FileState("directory", mode, *owner))
    if stat.S_ISLNK(state.st_mode):
        target = os.fsencode(os.readlink(name, dir_fd=directory))
        return Found(FileState("link", mode, *owner, digest_of(target), len(target)), target)
    _require_file(path, state)
    if state.st_size > LARGEST:
        return Found(_large(state))
    descriptor = os.open(name, READ_FLAGS, dir_fd=directory)
    with open(descriptor, "rb") as stream:
        # Opened without following links: it may have been replaced since it was looked at.
        state = os.fstat(descriptor)
        _require_file(path, state)
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        return Found(_large(state))
    return Found(FileState("file", mode, *owner, digest_of(content), len(content)), content)


def _large(state: os.stat_result) -> FileState:
    digest = f"inode {state.st_dev}:{state.st_ino}:{state.st_mtime_ns}"
    size = max(state.st_size, LARGEST + 1)
    return FileState("file", stat.S_IMODE(state.st_mode), state.st_uid, state.st_gid, digest, size)


def _require_file(path: str, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        kind = KINDS.get(stat.S_IFMT(state.st_mode), "something else")
        raise ToolError(f"{quoted(path)} is {kind}, not a file")


class TreeEntry(NamedTuple):
    #: Below the place that was looked at; empty for the place itself.
    path: str
    state: FileState
    inode: tuple[int, int]


def look_below(place: Place) -> Iterator[TreeEntry]:
    """What is at a place and below it, a directory before what it holds; refused if that is too much."""
    size = 0
    for count, entry in enumerate(_entries(place.directory, place.name, "", place.path), 1):
        size += entry.state.size
        if count > MOST_ENTRIES:
            raise ToolError(f"{quoted(place.path)} holds more than {MOST_ENTRIES:,} files and directories")
        if not entry.state.is_kept and entry.state.kind == "file":
            path = f"{place.path}/{entry.path}".rstrip("/")
            raise ToolError(f"{quoted(path)} is larger than {LARGEST // 1_000_000} MB")
        if size > MOST_BYTES:
            raise ToolError(f"{quoted(place.path)} holds more than {MOST_BYTES // 1_000_000} MB")
        yield entry


def _entries(directory: int, name: str, below: str, shown: str) -> Iterator[TreeEntry]:
    state = os.stat(name, dir_fd=directory, follow_symlinks=False)
    found = _found(directory, name, shown).state
    yield TreeEntry(below, found, (state.st_dev, state.st_ino))
    if found.kind != "directory":
        return
    if below.count("/") > MAX_DEPTH:
        raise ToolError(f"{quoted(shown)} lies more than {MAX_DEPTH} directories deep")
    opened = os.open(name, LIST_FLAGS | os.O_NOFOLLOW, dir_fd=directory)
    try:
        for each in sorted(os.listdir(opened)):
            yield from _entries(opened, each, f"{below}/{each}".lstrip("/"), f"{shown}/{each}")
    finally:
        os.close(opened)
