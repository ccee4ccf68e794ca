"""Backups: one file with everything that the database holds, made while Sestet runs."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sestet.core.errors import PersonError
from sestet.services.files import human_size
from sestet.storage.copying import IN_USE, CopyWatch, connect, copy_out, sync
from sestet.storage.database import FILE_NAME
from sestet.storage.file_check import read_header

__all__ = ["Contents", "CopyWatch", "back_up", "new_file", "read_contents", "unnamed_file", "with_logs"]

_USUAL_NAME = "sestet-backup.db"
#: What is counted, and its table. Older files lack some of them.
_COUNTED = {
    "sessions": "sessions",
    "turns": "turns",
    "memories": "memories",
    "entries": "knowledge",
    "lessons": "learnings",
    "documents": "documents",
    "facts": "triples",
}


class Contents(NamedTuple):
    """What a database file holds, in numbers."""

    size: int
    schema: int
    #: When a conversation was last used; 0 if there is none.
    last_used: float
    sessions: int = 0
    turns: int = 0
    memories: int = 0
    entries: int = 0
    lessons: int = 0
    documents: int = 0
    #: In the graph.
    facts: int = 0


def back_up(
    directory: Path, file: Path, *, replace: bool = False, watch: CopyWatch | None = None
) -> Contents:
    """Copy the database of a data directory into a file, which is whole or not there at all.

    The database is not migrated, so that an older Sestet can use the copy.
    """
    database = _require_database(directory)
    file = _target(file, directory, replace=replace)
    need = database.stat().st_size
    if (free := shutil.disk_usage(file.parent).free) < need:
        room = f"{human_size(need)} are needed, and {human_size(free)} are free"
        raise PersonError(f"there is no room for '{file}': {room}")
    with new_file(file, replace=replace) as copy:
        copy_out(database, IN_USE, copy, watch)
        if damage := _damage(copy):
            way_out = "'sestet doctor' says more, and no backup was written"
            raise PersonError(f"'{database}' is damaged: {damage}; {way_out}")
        return read_contents(copy, IN_USE)


def _require_database(directory: Path) -> Path:
    """The database of a data directory; raise if there is none, or if it is another program's."""
    database = directory / FILE_NAME
    if not database.exists():
        raise PersonError(f"there is nothing to back up yet: '{database}' does not exist")
    try:
        header = read_header(database, IN_USE)
    except sqlite3.Error as error:
        raise PersonError(f"'{database}' cannot be read: {error}; see 'sestet doctor'") from error
    if not header.is_own:
        raise PersonError(f"'{database}' holds no data of Sestet, so there is nothing to back up")
    return database.resolve()


@contextmanager
def unnamed_file(file: Path) -> Generator[Path]:
    """An empty private file beside another one, to be filled; it is removed afterwards.

    The errors of those who fill it are about the other one.
    """
    try:
        descriptor, name = tempfile.mkstemp(".part", f".{file.name[:100]}.", file.parent)
    except OSError as error:
        raise PersonError(f"'{file}' cannot be written: {error.strerror}") from error
    os.close(descriptor)
    try:
        yield Path(name)
    except (sqlite3.Error, OSError) as error:
        raise PersonError(f"'{file}' cannot be written: {error}") from error
    finally:
        for left in with_logs(Path(name)):
            left.unlink(missing_ok=True)


@contextmanager
def new_file(file: Path, *, replace: bool) -> Generator[Path]:
    """An empty private file that gets its name when it is filled; after an error there is none."""
    with unnamed_file(file) as written:
        yield written
        _give_name(written, file, replace=replace)


def with_logs(path: Path) -> Iterator[Path]:
    """A database, and the files that SQLite may make beside it."""
    return (path.with_name(path.name + ending) for ending in ("", "-journal", "-wal", "-shm"))


def _give_name(written: Path, file: Path, *, replace: bool) -> None:
    if replace:
        written.replace(file)
    else:
        try:
            # Unlike a rename, a link never replaces a file that was made meanwhile.
            os.link(written, file)
        except FileExistsError:
            raise _exists(file) from None
        except OSError:  # a file system without links, such as that of a memory stick
            if file.exists():
                raise _exists(file) from None
            written.rename(file)
    sync(file.parent)


def _target(file: Path, directory: Path, *, replace: bool) -> Path:
    """The file to write, with links resolved; raise if it may not be written."""
    try:
        resolved = file.resolve()
    except (OSError, RuntimeError) as error:
        raise PersonError(f"'{file}' cannot be written: {error}") from error
    if not resolved.parent.is_dir():
        raise PersonError(f"'{file}' cannot be written: there is no directory '{resolved.parent}'")
    if resolved.is_dir():
        raise PersonError(f"'{file}' is a directory; name a file in it, such as '{file / _USUAL_NAME}'")
    if resolved.exists() and not resolved.is_file():
        raise PersonError(f"'{file}' is no regular file; name another one")
    database = (directory / FILE_NAME).resolve()
    if resolved in (*with_logs(database), database.with_suffix(".lock")):
        raise PersonError(f"'{file}' belongs to the present database; name another file")
    if resolved.exists() and not replace:
        raise _exists(file)
    return resolved


def _exists(file: Path) -> PersonError:
    return PersonError(f"'{file}' is there already; name another file, or pass --force to replace it")


def _damage(copy: Path) -> str:
    """Why a copy cannot be relied on; empty if it is sound."""
    try:
        with connect(copy, IN_USE) as connection:
            (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                return " ".join(str(verdict).split())
            if connection.execute("PRAGMA foreign_key_check").fetchone():
                return "a row belongs to a row that is missing"
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return str(error)
    return ""


def read_contents(file: Path, mode: str) -> Contents:
    """What a database of any version holds."""
    schema = read_header(file, mode).version
    with connect(file, mode) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        counts = {name: _count(connection, table) for name, table in _COUNTED.items() if table in tables}
        (last_used,) = connection.execute("SELECT coalesce(max(updated_at), 0) FROM sessions").fetchone()
    return Contents(file.stat().st_size, schema, last_used, **counts)


def _count(connection: sqlite3.Connection, table: str) -> int:
    (number,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - names above
    return number
