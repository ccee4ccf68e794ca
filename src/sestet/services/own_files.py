"""Sestet's own files: its settings and its data. No tool and no document reader shows them to a model.

Files are compared by device and inode, so another name, a hard link or a symbolic link changes nothing.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from sestet.config.load import config_directory, data_directory
from sestet.config.trust import SETTINGS_FILE, STORE
from sestet.core.errors import ConfigError
from sestet.core.record import Record
from sestet.storage.database import FILE_NAME

#: Device and number of a file.
Inode: TypeAlias = tuple[int, int]

#: The names of our files in the data directory, for a person who works in that directory.
_DATA_NAMES = ("sestet.*", STORE, "plugins.json", "history", "setup-offered", "models")
_DATABASE_PARTS = ("", "-wal", "-shm", "-journal")


class OwnFiles(Record):
    """Directories that hold nothing but Sestet's data, and single files."""

    directories: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()

    def inodes(self, root: Path) -> frozenset[Inode]:
        """The files to hide from an agent that works below ``root``.

        It is looked up for each request: an edited settings file and a full log are replaced by new files.
        """
        found = {inode for file in self.files for inode in _inode(file)}
        for directory in self.directories:
            with suppress(OSError):
                found |= _inodes_of(directory, is_shared=_is_inside(root, directory))
        return frozenset(found)


def own_files(database: Path, settings_file: Path | None = None) -> OwnFiles:
    """The files of the assistant that keeps its data in this database and read these settings."""
    directories = [database.parent] if database.name == FILE_NAME else []
    settings = [Path.cwd() / SETTINGS_FILE, *([settings_file.absolute()] if settings_file else [])]
    with suppress(ConfigError):  # without a home directory there are no files in it
        directories.append(data_directory().absolute())
        settings.append(config_directory() / SETTINGS_FILE)
    data = [database.with_name(database.name + part) for part in _DATABASE_PARTS]
    return OwnFiles(tuple(directories), (*settings, *data, database.with_suffix(".lock")))


def _inode(path: Path) -> Iterator[Inode]:
    with suppress(OSError):
        state = os.stat(path)
        yield state.st_dev, state.st_ino


def _inodes_of(directory: Path, *, is_shared: bool) -> set[Inode]:
    """The directory and the files in it; of a directory in which the person works too, only our files.

    A hidden directory hides everything below it, so its subdirectories are not read.
    """
    device, number = next(_inode(directory), (0, 0))
    with os.scandir(directory) as entries:
        names = {(device, entry.inode()) for entry in entries if not is_shared or _is_ours(entry.name)}
    return names if is_shared else {(device, number), *names}


def _is_ours(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _DATA_NAMES)


@lru_cache(maxsize=8)
def _is_inside(root: Path, directory: Path) -> bool:
    return root.resolve().is_relative_to(directory.resolve())
