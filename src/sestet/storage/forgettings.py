"""When something was forgotten, and whether the file still holds traces of it. The words are kept nowhere."""

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from sestet.core.errors import StorageError
from sestet.storage.database import Database

#: What became of a wipe: done, another process reads the file, the disk is full, or another error.
Wipe: TypeAlias = Literal["wiped", "in_use", "no_room", "failed"]

#: With fewer free bytes than a page has, an I/O error means that the disk is full.
_ROOM = 4096
#: Bytes of a file that is rewritten in about half a second; a larger one is left to commands.
_SOON_REWRITTEN = 100_000_000
#: The low byte of SQLite's error codes, without details.
_PRIMARY = 0xFF
_OUTCOMES: dict[int, Wipe] = {
    sqlite3.SQLITE_BUSY: "in_use",
    sqlite3.SQLITE_LOCKED: "in_use",
    sqlite3.SQLITE_FULL: "no_room",
}


class Forgettings:
    """One row for each forgetting. Code that writes what it read earlier compares ``last()`` with then."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self) -> None:
        """Inside the transaction that removes the words: their traces are to be wiped from the file."""
        self._database.execute("INSERT INTO forgettings (at) VALUES (?)", (time.time(),))
        self._database.may_have_traces = True

    def outdate(self) -> None:
        """Let texts that were read before count as forgotten, though there is nothing to wipe."""
        self._database.execute("INSERT INTO forgettings (at, wiped) VALUES (?, 1)", (time.time(),))

    def last(self) -> int:
        """A number that grows each time: a text that was read at a lower one may hold forgotten words."""
        (number,) = self._database.execute("SELECT coalesce(max(id), 0) FROM forgettings").only()
        return number

    def has_traces(self) -> bool:
        """Whether the file may still hold words that were forgotten."""
        found = bool(self._database.execute("SELECT 1 FROM forgettings WHERE NOT wiped LIMIT 1"))
        self._database.may_have_traces = found
        return found

    def wipe(self) -> Wipe:
        """Wipe the traces now. After a failure, the next process that opens the file tries again."""
        upto = self.last()
        try:
            if not self._database.wipe_deleted():
                return "in_use"
            self._database.execute("UPDATE forgettings SET wiped = 1 WHERE NOT wiped AND id <= ?", (upto,))
        except StorageError as error:
            code = getattr(error.__cause__, "sqlite_errorcode", 0) & _PRIMARY
            if code == sqlite3.SQLITE_IOERR and _free_bytes(self._database.path.parent) < _ROOM:
                return "no_room"
            return _OUTCOMES.get(code, "failed")
        return "wiped"


def close_wiped(database: Database) -> None:
    """Close a database at the end of its process, and wipe it before if that is soon done."""
    try:
        with suppress(StorageError, OSError):
            is_small = database.path.stat().st_size <= _SOON_REWRITTEN
            if database.may_have_traces and is_small and Forgettings(database).has_traces():
                Forgettings(database).wipe()
    finally:
        database.close()


def _free_bytes(directory: Path) -> int:
    disk = os.statvfs(directory)
    return disk.f_bavail * disk.f_frsize
