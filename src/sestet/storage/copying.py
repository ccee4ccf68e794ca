"""Copies a whole database with SQLite's backup API: out of a file in use, and into one."""

import fcntl
import os
import sqlite3
import struct
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

from sestet.core.errors import BusyError
from sestet.storage.database import Database
from sestet.storage.file_check import read_mode
from sestet.storage.forgettings import Forgettings
from sestet.storage.locks import SET_LOCK

#: Called with the bytes that are copied, of how many.
CopyWatch: TypeAlias = Callable[[int, int], None]

#: Copies beside the database, as patterns: of what a restore replaced, and those that were never finished.
COPY_NAMES = ("sestet-before-restore-*", ".sestet*.part*")
_PAGES_AT_ONCE = 2_000
#: Seconds that a copy waits for another process that writes, and those between two tries.
_PATIENCE, _WAIT = 60.0, 0.25
#: Opens a file that others may use at the same time, and makes none.
IN_USE = "mode=rw"
#: The bytes of the file that SQLite locks for each reader.
_SHARED_LOCKS, _SHARED_SIZE = 0x40000002, 510


@contextmanager
def connect(path: Path, mode: str) -> Generator[sqlite3.Connection]:
    """A connection of its own, which changes no setting of the file."""
    uri = f"file:{quote(str(path))}?{mode}"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        yield connection


def copy_out(source: Path, mode: str, target: Path, watch: CopyWatch | None = None) -> None:
    """Copy a database into an empty file, as it is at this moment, while others go on writing.

    The copy needs no file beside it.
    """
    with connect(source, mode) as present, connect(target, IN_USE) as copy:
        # Inside a read transaction, a writer neither changes the copy nor makes it start again.
        present.execute("BEGIN")
        present.execute("SELECT 1 FROM sqlite_master").fetchall()
        # Nobody uses the copy before it is whole and on the disk.
        copy.execute("PRAGMA synchronous = OFF")
        _copy(present, copy, _PAGES_AT_ONCE, watch or _look_away)
        present.execute("ROLLBACK")
        copy.execute("PRAGMA journal_mode = DELETE")
    sync(target)


def copy_in(source: Path, live: Path, before: Callable[[], None], watch: CopyWatch | None = None) -> None:
    """Replace what a database in use contains, in one transaction: killed at any moment, it is old or new.

    ``before`` is called when nobody else can write any more; if it raises, nothing has changed.
    """
    with connect(source, IN_USE) as new, connect(live, IN_USE) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        (pages,) = new.execute("PRAGMA page_count").fetchone()
        called = False

        def look(done: int, total: int) -> None:
            nonlocal called
            if not called:
                called = True
                before()
            (watch or _look_away)(done, total)

        # At least two steps: the first locks the database, the last commits.
        _copy(new, database, max(1, min(_PAGES_AT_ONCE, pages // 2)), look)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _copy(
    source: sqlite3.Connection, target: sqlite3.Connection, pages_at_once: int, watch: CopyWatch
) -> None:
    (page_size,) = source.execute("PRAGMA page_size").fetchone()
    give_up = time.monotonic() + _PATIENCE

    def look(status: int, remaining: int, total: int) -> None:
        nonlocal give_up
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            if time.monotonic() > give_up:
                raise BusyError(
                    f"another process has locked the database for {_PATIENCE:g} seconds; try again"
                )
            return
        give_up = time.monotonic() + _PATIENCE
        watch((total - remaining) * page_size, total * page_size)

    source.backup(target, pages=pages_at_once, progress=look, sleep=_WAIT)


def _look_away(done: int, total: int) -> None:
    """No reader wants to know how far it is."""


def make_successor(staged: Database, live: Path) -> None:
    """Let processes that have the live database open take the staged one for its continuation.

    No number that they know is given to another row, and texts that they have read count as outdated.
    """
    numbers: dict[str, int] = {}
    # A file that is new or damaged has no numbers.
    with suppress(sqlite3.DatabaseError), connect(live, read_mode(live)) as present:
        numbers = dict(present.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    with staged.transaction(sync=True):
        for table, last in staged.execute(
            """SELECT name, coalesce(seq, 0) FROM sqlite_master LEFT JOIN sqlite_sequence USING (name)
               WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"""
        ):
            staged.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            highest = max(last, numbers.get(table, 0))
            staged.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, highest))
        Forgettings(staged).outdate()


def is_open_elsewhere(path: Path) -> bool:
    """Whether another process has the database open: in WAL mode, each connection keeps a lock on it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        wanted = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, _SHARED_LOCKS, _SHARED_SIZE, 0)
        fcntl.fcntl(descriptor, SET_LOCK, wanted)
    except (BlockingIOError, PermissionError):
        return True
    finally:
        os.close(descriptor)
    return False


def sync(path: Path) -> None:
    """Wait until a file or a directory is on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
