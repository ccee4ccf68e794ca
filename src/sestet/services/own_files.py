"""Sestet's own files: its settings and its data. No tool and no document reader shows them to a model.

Files are compared by device and inode, so another name, a hard link or a symbolic link changes nothing.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
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
_MOST_FILES = 5_000


class OwnFiles(Record):
    """Directories that hold nothing but Sestet's data, and single files."""

    directories: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()

    def inodes(self, root: Path) -> frozenset[Inode]:
        """The files to hide from an agent that works below ``root``.

        It is looked up for each request: an edited settings file and a full log are replaced by new files.
        """
        found = [inode for file in self.files for inode in _inode(file)]
        for directory in self.directories:
            if root.resolve().is_relative_to(directory.resolve()):
                # The person works inside the data directory, so it holds files of theirs too.
                names = (file for pattern in _DATA_NAMES for file in directory.glob(pattern))
                found += [inode for file in names for inode in _inode(file)]
            else:
                found += [*_inode(directory), *_inodes_below(directory)]
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
        state = path.stat()
        yield state.st_dev, state.st_ino


def _inodes_below(directory: Path) -> Iterator[Inode]:
    left = _MOST_FILES
    for place, directories, files in os.walk(directory):
        for name in (*directories, *files):
            yield from _inode(Path(place, name))
            left -= 1
            if not left:
                return
