"""Whether a file is a database of Sestet that this version can use, found out without changing it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from sestet.core.errors import StorageError
from sestet.storage.migrations import MIGRATIONS

#: SQLite's mark of a file format, in the header of the file: "Sest".
APPLICATION_ID = 0x53657374
#: Tables and columns of every version, to know a file from before the mark.
_OURS = {
    "sessions": {"id", "title", "created_at", "updated_at"},
    "turns": {"id", "session_id", "number", "state"},
    "events": {"turn_id", "seq", "kind", "author", "delegation_id", "at", "data"},
}


class Header(NamedTuple):
    application_id: int
    version: int
    #: No table, view or index yet.
    is_empty: bool
    has_our_tables: bool

    @property
    def is_own(self) -> bool:
        """Whether some version of Sestet wrote the file."""
        return self.application_id == APPLICATION_ID or self.has_our_tables

    @property
    def is_new(self) -> bool:
        """Whether no program has written anything into the file yet."""
        return self.is_empty and not self.application_id


def make_private(path: Path) -> None:
    """Make the file if it is not there yet: its owner alone can read it, from its first byte on.

    An existing file is not opened here: closing it would release the locks that SQLite holds on it.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return
    try:
        os.fchmod(descriptor, 0o600)  # a strict umask may have taken even the owner's rights
    finally:
        os.close(descriptor)


def require_own(path: Path) -> None:
    """Raise a StorageError for the file of another program or of a newer Sestet; both stay as they are."""
    if not path.stat().st_size:
        return
    try:
        complaint = _complaint(read_header(path, "mode=ro&immutable=1"))
        is_known = bool(complaint) or not _has(path, "-wal")
    except sqlite3.DatabaseError:
        # The file is broken, or another process is writing it at this moment.
        complaint, is_known = "", False
    try:
        # The write-ahead log may hold a newer header. SQLite writes nothing but its index of the log.
        complaint = complaint if is_known else _complaint(read_header(path, "mode=ro"))
    except sqlite3.OperationalError:
        # A process was killed in its first moments. SQLite repairs the file when it is opened for writing.
        if not _has(path, "-journal"):
            raise
    if complaint:
        raise StorageError(f"{path}: {complaint}")


def read_mode(path: Path) -> str:
    """How to open a file that nobody is to change; SQLite may have to read the log beside it too."""
    return "mode=ro" if _has(path, "-wal") else "mode=ro&immutable=1"


def _has(path: Path, ending: str) -> bool:
    beside = path.with_name(path.name + ending)
    return beside.exists() and beside.stat().st_size > 0


def read_header(path: Path, mode: str) -> Header:
    with closing(sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True)) as connection:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        is_empty = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
        has_our_tables = all(
            columns
            <= {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
            for table, columns in _OURS.items()
        )
    return Header(application_id, version, is_empty, has_our_tables)


def _complaint(header: Header) -> str:
    """Why the file cannot be used; empty if it can."""
    if not (header.is_own or header.is_new):
        return (
            "is the database of another program, so Sestet left it as it is; "
            "choose another directory with SESTET_HOME, or move the file away"
        )
    return newer(header.version)


def newer(version: int) -> str:
    """Why a file of this version is too new; empty if it is not."""
    if version <= len(MIGRATIONS):
        return ""
    return (
        f"was written by a newer Sestet (schema {version}, this one knows {len(MIGRATIONS)}); update Sestet, "
        "or choose another directory with SESTET_HOME"
    )
