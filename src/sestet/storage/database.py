"""The one SQLite file: opening it, bringing it up to date, and saying plainly what is wrong with it."""

import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from sestet.core.errors import StorageError
from sestet.storage.migrations import MIGRATIONS

FILE_NAME = "sestet.db"
_BUSY_SECONDS = 10.0

#: What a column can hold.
Value: TypeAlias = str | int | float | bytes | None


class Database:
    """One connection in autocommit mode; ``transaction`` groups writes.

    Writes happen on the caller's thread: in WAL mode a commit is a few microseconds of memory copy,
    far below the price of handing it to another thread.
    """

    def __init__(self, path: Path, *, power: bool = False) -> None:
        """``power``: every commit survives a power cut, not only a killed process."""
        self.path = path
        self._power = power
        with storage_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
            path.chmod(0o600)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute(f"PRAGMA synchronous = {'FULL' if power else 'NORMAL'}")
            self.connection.execute("PRAGMA foreign_keys = ON")
            self._migrate()

    def execute(self, statement: str, values: Sequence[Value] | Mapping[str, Value] = ()) -> sqlite3.Cursor:
        """Run one statement; what SQLite complains about becomes an error for the person."""
        try:
            return self.connection.execute(statement, values)
        except sqlite3.Error as error:
            raise StorageError(f"{self.path}: {error}; see 'sestet doctor'") from error

    def _migrate(self) -> None:
        with self.transaction():
            (version,) = self.connection.execute("PRAGMA user_version").fetchone()
            if version > len(MIGRATIONS):
                raise StorageError(
                    f"{self.path}: was written by a newer Sestet "
                    f"(schema {version}, this one knows {len(MIGRATIONS)}); update Sestet, "
                    "or choose another directory with SESTET_HOME"
                )
            for number, script in enumerate(MIGRATIONS[version:], version + 1):
                for statement in _statements(script):
                    self.connection.execute(statement)
                self.connection.execute(f"PRAGMA user_version = {number}")

    @contextmanager
    def transaction(self, *, sync: bool = False) -> Generator[None]:
        """All of the writes inside, or none; with ``sync``, on the disk itself before it returns."""
        if sync and not self._power:
            self.execute("PRAGMA synchronous = FULL")
        try:
            self.execute("BEGIN IMMEDIATE")
            yield
            self.execute("COMMIT")
        except BaseException:
            # A disk that is full has often rolled back by itself.
            if self.connection.in_transaction:
                self.execute("ROLLBACK")
            raise
        finally:
            if sync and not self._power:
                self.execute("PRAGMA synchronous = NORMAL")

    def close(self) -> None:
        self.connection.close()


@contextmanager
def storage_errors(path: Path) -> Generator[None]:
    """Turn what SQLite and the file system say into an error for the person."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StorageError(
            f"{path}: {error}; see 'sestet doctor', or choose another directory with SESTET_HOME"
        ) from error


def _statements(script: str) -> Iterator[str]:
    """Split a script at its complete statements; ``executescript`` would commit in between."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
