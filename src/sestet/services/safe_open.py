"""Opens a path below a directory, one component at a time, so that no link and no '..' leads out of it.

Every directory on the path is held open, and the next name is looked up in it without following links, so
changes to the tree meanwhile cannot redirect the walk. A link is read, and its target is walked in turn.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

from sestet.core.errors import ToolError
from sestet.core.record import Record
from sestet.services.own_files import Inode, Unwritable
from sestet.services.same_name import same_name

MAX_DEPTH = 100
_MAX_LINKS = 40
_MOST_NAMES = 2_000
_MOST_SHOWN = 200

#: Lists a directory that is already open.
LIST_FLAGS = os.O_RDONLY | os.O_DIRECTORY
#: Opens a file without following links and without waiting for the other end of a pipe.
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
# With O_PATH, a directory can be passed through without the right to list it.
_PASS_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW

#: Which links a walk follows: every one, all but one at the end of the path, or none.
Links: TypeAlias = Literal["all", "above", "none"]

KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class MissingError(ToolError):
    """A directory on the way to a path does not exist, so nothing is at the path."""


class LinkError(ToolError):
    """A link is on the way to a path that leads through none."""


class OpenedPath(Record):
    """A file or directory, open for reading."""

    descriptor: int
    #: Below the root, after all links, as it is shown.
    path: str
    state: os.stat_result
    #: The files that are not opened, as in ``open_below``.
    refused: frozenset[Inode]

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.state.st_mode)


class Place(Record):
    """A name in an open directory, where something is or could be."""

    directory: int
    name: str
    #: Below the root, after all links that were followed.
    path: str
    #: Of the name itself, without following a link; None: nothing is there.
    state: os.stat_result | None


@contextmanager
def open_place(root: Path, path: str, guard: Unwritable, links: Links) -> Generator[Place, None, None]:
    """Open the directory that holds a path, to change what is there. Errors become a ToolError.

    ``links``: follow every link, none at the end of the path, or none at all.
    """
    walk = _Walk(root, path, guard.inodes)
    try:
        yield walk.find_place(guard, links)
    except OSError as error:
        raise ToolError(_explain(path, error, "changed")) from error
    except UnicodeEncodeError as error:
        raise ToolError(f"{quoted(path)} is not a path") from error
    finally:
        walk.close()


@contextmanager
def open_below(
    root: Path, path: str, refused: frozenset[Inode] = frozenset(), show: Callable[[str], str] = str
) -> Generator[OpenedPath, None, None]:
    """Open a path that a model gave. Errors, also those inside the block, become a ToolError.

    The files in ``refused`` are not opened, nor anything below such a directory. ``show`` makes the path to
    show of a path below the root.
    """
    walk = _Walk(root, path, refused, show)
    try:
        yield walk.open()
    except OSError as error:
        raise ToolError(_explain(path, error)) from error
    except UnicodeEncodeError as error:
        raise ToolError(f"{quoted(path)} is not a path") from error
    finally:
        walk.close()


def quoted(path: str) -> str:
    """A path for an error text: on one line, and shortened."""
    shown = repr(path)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}…'"


def missing_text(path: str, meant: Sequence[str] = ()) -> str:
    """Says that a path does not exist, and which one may have been meant."""
    asked = f"; did you mean {' or '.join(map(quoted, meant))}?" if meant else ""
    return f"{quoted(path)} does not exist{asked}"


class _Walk:
    """The open directories from the root to the present one, and the names still ahead."""

    def __init__(
        self, root: Path, path: str, refused: frozenset[Inode], show: Callable[[str], str] = str
    ) -> None:
        self._root = root
        self._refused = refused
        self._show = show
        self._path = path
        self._names: list[str] = []
        self._directories: list[int] = []
        self._ahead: deque[str] = deque()
        self._links = 0
        self._opened: int | None = None

    def _start(self) -> None:
        if "\0" in self._path:
            raise ToolError(f"{quoted(self._path)} is not a path")
        try:
            # The owner chose the root, so it may be a link itself.
            self._directories.append(os.open(self._root, _PASS_FLAGS & ~os.O_NOFOLLOW))
        except FileNotFoundError as error:
            raise ToolError("the working directory does not exist any more") from error
        self._turn_to(self._path)

    def open(self) -> OpenedPath:
        self._start()
        while self._ahead:
            name = self._ahead.popleft()
            if name == "..":
                self._leave()
                continue
            state = self._look_at(name)
            if stat.S_ISLNK(state.st_mode):
                self._follow(name)
            elif stat.S_ISDIR(state.st_mode):
                self._enter(name)
            else:
                return self._open_file(name, state)
        self._opened = os.open(".", LIST_FLAGS, dir_fd=self._here)
        path = self._show("/".join(self._names) or ".")
        return OpenedPath(self._opened, path, os.fstat(self._opened), self._refused)

    def find_place(self, guard: Unwritable, links: Links) -> Place:
        """Walk to the directory that holds the path; the path itself need not exist."""
        self._start()
        self._require_allowed(os.fstat(self._here))
        while self._ahead:
            name = self._ahead.popleft()
            if name == "..":
                self._leave()
                continue
            state = self._look_at(name) if self._ahead else self._glance_at(name)
            if state is None or (stat.S_ISLNK(state.st_mode) and not self._ahead and links != "all"):
                return self._place(self._here, name, state, guard)
            if stat.S_ISLNK(state.st_mode):
                if links == "none":
                    raise LinkError(f"{quoted(self._path)} leads through a link that was not there before")
                self._follow(name)
            elif stat.S_ISDIR(state.st_mode):
                self._enter(name)
            elif self._ahead:
                raise MissingError(f"{quoted('/'.join((*self._names, name)))} is a file, not a directory")
            else:
                return self._place(self._here, name, state, guard)
        if not self._names:
            raise ToolError(f"{quoted(self._path)} is the workspace itself")
        return self._place(
            self._directories[-2], self._names[-1], os.fstat(self._here), guard, self._names[:-1]
        )

    def _place(
        self,
        directory: int,
        name: str,
        state: os.stat_result | None,
        guard: Unwritable,
        above: list[str] | None = None,
    ) -> Place:
        here = os.fstat(directory)
        if state is not None:
            self._require_allowed(state)
        elif guard.holds_name((here.st_dev, here.st_ino), name):
            raise self._own()
        return Place(directory, name, "/".join((*(self._names if above is None else above), name)), state)

    def _glance_at(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self._here, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def close(self) -> None:
        for descriptor in self._directories:
            os.close(descriptor)
        if self._opened is not None:
            os.close(self._opened)

    @property
    def _here(self) -> int:
        return self._directories[-1]

    def _turn_to(self, path: str) -> None:
        """Put the components of a path or of a link's target before the names still ahead."""
        components = _components(path)
        if path.startswith("/"):
            components = self._below_root(components)
            while self._names:
                self._leave()
        self._ahead.extendleft(reversed(components))

    def _below_root(self, components: list[str]) -> list[str]:
        """The components after the root in an absolute path; the walk checks them like any others."""
        for spelling in (self._root.absolute(), self._root.resolve()):
            above = _components(str(spelling))
            if components[: len(above)] == above:
                return components[len(above) :]
        raise self._outside()

    def _look_at(self, name: str) -> os.stat_result:
        try:
            return os.stat(name, dir_fd=self._here, follow_symlinks=False)
        except FileNotFoundError as error:
            meant = same_name(self._root, self._path, self._refused) or self._nearest(name)
            raise MissingError(missing_text(self._path, meant)) from error

    def _enter(self, name: str) -> None:
        if len(self._names) == MAX_DEPTH:
            raise ToolError(f"{quoted(self._path)} lies more than {MAX_DEPTH} directories deep")
        self._directories.append(os.open(name, _PASS_FLAGS, dir_fd=self._here))
        self._names.append(name)
        self._require_allowed(os.fstat(self._here))

    def _leave(self) -> None:
        if not self._names:
            raise self._outside()
        self._names.pop()
        os.close(self._directories.pop())

    def _follow(self, name: str) -> None:
        self._links += 1
        if self._links > _MAX_LINKS:
            raise ToolError(f"{quoted(self._path)} leads through more than {_MAX_LINKS} links")
        self._turn_to(os.readlink(name, dir_fd=self._here))

    def _open_file(self, name: str, state: os.stat_result) -> OpenedPath:
        # Checked before opening, since opening a device may have an effect, and again afterwards, since the
        # file may have been replaced in between.
        self._require_file(state)
        if self._ahead:
            raise ToolError(f"{quoted('/'.join((*self._names, name)))} is a file, not a directory")
        self._opened = os.open(name, READ_FLAGS, dir_fd=self._here)
        state = os.fstat(self._opened)
        self._require_file(state)
        self._require_allowed(state)
        path = self._show("/".join((*self._names, name)))
        return OpenedPath(self._opened, path, state, self._refused)

    def _require_file(self, state: os.stat_result) -> None:
        if not stat.S_ISREG(state.st_mode):
            kind = KINDS.get(stat.S_IFMT(state.st_mode), "something else")
            raise ToolError(f"{quoted(self._path)} is {kind}, not a file")

    def _require_allowed(self, state: os.stat_result) -> None:
        if (state.st_dev, state.st_ino) in self._refused:
            raise self._own()

    def _own(self) -> ToolError:
        kept = "its settings and data are neither shown nor changed"
        return ToolError(f"{quoted(self._path)} belongs to Sestet itself: {kept}")

    def _outside(self) -> ToolError:
        return ToolError(f"{quoted(self._path)} is outside the working directory")

    def _nearest(self, name: str) -> tuple[str, ...]:
        """A path with a similar name in the present directory."""
        try:
            listed = os.open(".", LIST_FLAGS, dir_fd=self._here)
        except PermissionError:
            return ()
        try:
            with os.scandir(listed) as entries:
                names = {entry.name.casefold(): entry.name for entry in islice(entries, _MOST_NAMES)}
        finally:
            os.close(listed)
        from difflib import get_close_matches

        near = get_close_matches(name.casefold(), names, n=1)
        above = [str(self._root)] if self._path.startswith("/") else []
        return tuple("/".join((*above, *self._names, names[found])) for found in near)


def _components(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _explain(path: str, error: OSError, verb: str = "read") -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        # The walk resolves links itself, so a link here was created after the check.
        return f"{quoted(path)} changed while it was being opened; try again"
    if isinstance(error, PermissionError):
        return f"{quoted(path)} may not be {verb}: permission denied"
    return f"{quoted(path)} cannot be {verb}: {error.strerror}"
