"""Finds files that have the name of a path that does not exist, to suggest the one that was meant."""

import os
import stat
from collections import deque
from pathlib import Path

from sestet.services.own_files import Inode

_LIST_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
#: Few enough to look at in the event loop.
_MOST_NAMES = 2_000
_MOST_DIRECTORIES = 100
_MOST_FOUND = 3


def same_name(root: Path, path: str, refused: frozenset[Inode]) -> tuple[str, ...]:
    """The paths below a root that end with the same name, the highest first; empty if there is none.

    Hidden directories, links and what is in ``refused`` are left out, and so is the rest of a large tree.
    """
    name = path.rstrip("/").rpartition("/")[2].casefold()
    if name in ("", ".", ".."):
        return ()
    try:
        search = _Search(os.open(root, _LIST_FLAGS & ~os.O_NOFOLLOW), name, refused)
    except OSError:
        return ()
    found = search.run()
    # A relative path would be one below the first root.
    return tuple(f"{root}/{below}" for below in found) if path.startswith("/") else tuple(found)


class _Search:
    """Goes down a tree level by level, and opens each directory from the open one above it."""

    def __init__(self, root: int, name: str, refused: frozenset[Inode]) -> None:
        self._waiting = deque([(root, "")])
        self._name = name
        self._refused = refused
        self._names_left = _MOST_NAMES
        self._directories_left = _MOST_DIRECTORIES
        self._found: list[str] = []

    def run(self) -> list[str]:
        try:
            while self._waiting and self._names_left and len(self._found) < _MOST_FOUND:
                directory, above = self._waiting[0]
                self._look_into(directory, above)
                self._waiting.popleft()
                os.close(directory)
        finally:
            for directory, _ in self._waiting:
                os.close(directory)
        return self._found[:_MOST_FOUND]

    def _look_into(self, directory: int, above: str) -> None:
        with os.scandir(directory) as entries:
            for entry in entries:
                if not self._names_left:
                    return
                self._names_left -= 1
                if entry.is_dir(follow_symlinks=False):
                    self._add(directory, entry.name, f"{above}{entry.name}/")
                if entry.name.casefold() == self._name and self._is_shown(directory, entry.name):
                    self._found.append(f"{above}{entry.name}")

    def _add(self, directory: int, name: str, path: str) -> None:
        if name.startswith(".") or not self._directories_left or not self._is_shown(directory, name):
            return
        self._directories_left -= 1
        try:
            self._waiting.append((os.open(name, _LIST_FLAGS, dir_fd=directory), path))
        except OSError:  # not readable, or replaced meanwhile
            return

    def _is_shown(self, directory: int, name: str) -> bool:
        try:
            state = os.stat(name, dir_fd=directory, follow_symlinks=False)
        except OSError:
            return False
        return not stat.S_ISLNK(state.st_mode) and (state.st_dev, state.st_ino) not in self._refused
