"""Sestet's own files: its settings and its data. No tool shows them to a model, and no tool changes them.

Files are compared by device and inode, so another name, a hard link or a symbolic link changes nothing.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

from sestet.config.load import config_directory, data_directory
from sestet.config.trust import SETTINGS_FILE, STORE
from sestet.core.errors import ConfigError
from sestet.core.record import Record
from sestet.storage.copying import COPY_NAMES
from sestet.storage.database import FILE_NAME
from sestet.storage.kept_files import DIRECTORY as KEPT_FILES

#: Device and number of a file.
Inode: TypeAlias = tuple[int, int]

#: The names of our files in the data directory, for a person who works in that directory.
_DATA_NAMES = (
    "sestet.*",
    STORE,
    "plugins.json",
    "history",
    "setup-offered",
    "models",
    "skills",
    "skills.json",
    "skill-runs",
    KEPT_FILES,
    *COPY_NAMES,
)
#: Nanoseconds after which the file system gives a change another time.
_SETTLED = 100_000_000
_NOT_LOOKED_UP: tuple[list[int], frozenset[Inode]] = ([], frozenset())
_DATABASE_PARTS = ("", "-wal", "-shm", "-journal")


class Unwritable(Record):
    """What no tool may change below a root, as it is now."""

    #: Files, and directories with all that is below them.
    inodes: frozenset[Inode]
    #: Directories with such a file somewhere below them: they are neither moved nor deleted.
    above: frozenset[Inode]
    #: Names in a directory that are free now, and at which Sestet would look.
    names: frozenset[tuple[Inode, str]]
    #: Directories in which the person works too: names like those of our files are not free.
    shared: frozenset[Inode]

    def holds_name(self, directory: Inode, name: str) -> bool:
        return (directory, name) in self.names or (directory in self.shared and _is_ours(name))


class OwnFiles:
    """Directories that hold nothing but Sestet's data, and single files."""

    def __init__(
        self,
        directories: Sequence[Path] = (),
        files: Sequence[Path] = (),
        read_only: Sequence[Path] = (),
    ) -> None:
        """``read_only``: directories that may be read, and in which nothing is changed."""
        self._directories = directories
        self._read_only = read_only
        self._files = [str(file) for file in files]
        #: A file that is replaced by a new one changes the time of its directory.
        self._watched = sorted({str(place) for place in (*directories, *(file.parent for file in files))})
        #: What was found below a root, and the state of the directories then.
        self._found: dict[Path, tuple[list[int], frozenset[Inode]]] = {}

    def inodes(self, root: Path) -> frozenset[Inode]:
        """The files to hide from an agent that works below ``root``, as they are now."""
        changed = [_time_of_change(place) for place in self._watched]
        known, found = self._found.get(root, _NOT_LOOKED_UP)
        if known == changed:
            return found
        found = self._look_up(root)
        # A directory that was changed just now may change again without a new time.
        if time.time_ns() - max(changed, default=0) > _SETTLED:
            self._found[root] = (changed, found)
        return found

    def unwritable(self, root: Path) -> Unwritable:
        """What an agent that works below ``root`` must not change."""
        places = (*self._directories, *self._read_only, *map(Path, self._files))
        inodes, here = set(self.inodes(root)), root.resolve()
        for directory in self._read_only:
            inodes.update(_inode(str(directory)))
            if here.is_relative_to(directory.resolve()):
                inodes.update(_inode(str(root)))
        shared = (place for place in self._directories if here.is_relative_to(place.resolve()))
        spellings = {path for place in places for path in (place.absolute(), place.resolve())}
        return Unwritable(
            frozenset(inodes),
            frozenset(inode for path in spellings for above in path.parents for inode in _inode(str(above))),
            frozenset(name for path in spellings for name in _free_name(path)),
            frozenset(inode for place in shared for inode in _inode(str(place))),
        )

    def _look_up(self, root: Path) -> frozenset[Inode]:
        found = {inode for file in self._files for inode in _inode(file)}
        for directory in self._directories:
            is_shared = root.resolve().is_relative_to(directory.resolve())
            with suppress(OSError):
                found |= _inodes_of(str(directory), is_shared=is_shared)
        return frozenset(found)


def own_files(database: Path, settings_file: Path | None = None) -> OwnFiles:
    """The files of the assistant that keeps its data in this database and read these settings."""
    directories = [database.parent] if database.name == FILE_NAME else []
    plug_ins: list[Path] = []
    settings = [Path.cwd() / SETTINGS_FILE, *([settings_file.absolute()] if settings_file else [])]
    with suppress(ConfigError):  # without a home directory there are no files in it
        directories.append(data_directory().absolute())
        settings.append(config_directory() / SETTINGS_FILE)
        plug_ins.append(config_directory().absolute())
    data = [database.with_name(database.name + part) for part in _DATABASE_PARTS]
    kept = [] if directories[:1] == [database.parent] else [database.parent / KEPT_FILES]
    files = (*settings, *data, database.with_suffix(".lock"))
    return OwnFiles((*directories, *kept), files, tuple(plug_ins))


def _inode(path: str) -> Iterator[Inode]:
    with suppress(OSError):
        state = os.stat(path)
        yield state.st_dev, state.st_ino


def _free_name(path: Path) -> Iterator[tuple[Inode, str]]:
    """The first name on the way to a path that does not exist yet, in its directory; else its own name."""
    for place in (path, *path.parents):
        for inode in _inode(str(place.parent)):
            yield inode, place.name
            return


def _time_of_change(directory: str) -> int:
    try:
        return os.stat(directory).st_mtime_ns
    except OSError:
        return 0


def _inodes_of(directory: str, *, is_shared: bool) -> set[Inode]:
    """The directory and the files in it; of a directory in which the person works too, only our files.

    A hidden directory hides everything below it, so its subdirectories are not read.
    """
    device, number = next(_inode(directory), (0, 0))
    with os.scandir(directory) as entries:
        names = {(device, entry.inode()) for entry in entries if not is_shared or _is_ours(entry.name)}
    return names if is_shared else {(device, number), *names}


def _is_ours(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _DATA_NAMES)
