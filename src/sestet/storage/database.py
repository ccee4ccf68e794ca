"""The SQLite file: open it, migrate it, run statements, turn SQLite errors into errors for the person."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

from sestet.config.links import resolved
from sestet.core.errors import BusyError, ForgottenError, StorageError
from sestet.core.label import Label
from sestet.storage.file_check import APPLICATION_ID, make_private, newer, require_own
from sestet.storage.migrations import MIGRATIONS

FILE_NAME = "sestet.db"
VERSION = len(MIGRATIONS)
#: The schema after all migrations, for a new database.
SCHEMA = Path(__file__).with_name("schema.sql")
#: How long a lock of another process is waited for: when a file is opened, and outside of an event loop.
_BUSY_SECONDS = 10.0
#: The same inside an event loop, which stands still meanwhile; then a ``BusyError`` tells the caller.
_BUSY_MILLISECONDS = 100
#: The same for a person's decision, which nothing repeats.
_DECISION_MILLISECONDS = 1000
#: Bytes of a file that is rewritten in less time than a writer may wait.
_REWRITTEN_AT_ONCE = 10_000_000
#: Pages of a full-text index that are merged in one transaction.
_MERGED_AT_ONCE = 200
FULL_TEXT_INDEXES = ("passages_index", "exchanges_index", "remembered_index")

#: SQLite errors, and Python errors for a lone surrogate or a number that no column can hold. In a damaged
#: file, even SQLite's message may be no UTF-8.
_COMPLAINTS = (sqlite3.Error, UnicodeError, OverflowError)

#: The types that a column can hold.
Value: TypeAlias = str | int | float | bytes | None


class Rows(list[tuple[Any, ...]]):  # Any: the store that reads a column knows its type
    """All rows of a statement. No cursor stays open, since an open cursor blocks other writers."""

    #: The number of rows that were written.
    rowcount = 0

    def fetchone(self) -> tuple[Any, ...] | None:
        return self[0] if self else None

    def only(self) -> tuple[Any, ...]:
        """The first row, for a statement that always returns one."""
        if not self:
            raise damaged("a stored row is missing")
        return self[0]


class Database:
    """One connection in autocommit mode; ``transaction`` groups writes.

    Writes happen on the caller's thread. In WAL mode a commit is a memory copy of a few microseconds,
    which costs far less than handing it to another thread.
    """

    def __init__(self, path: Path, *, power: bool = False, patience: float | None = None) -> None:
        """``power``: every commit survives a power cut, not only a killed process.

        ``patience``: wait fewer seconds than usual for a lock of another process.
        """
        # Resolved, so that every link to the database leads to the same lock file beside it.
        self.path = path = _resolved(path)
        self._power = power
        self._waits_long = False
        #: Whether this process has forgotten something, or found that the file still holds traces.
        self.may_have_traces = False
        self._patience = _BUSY_SECONDS if patience is None else min(patience, _BUSY_SECONDS)
        with storage_errors(path):
            make_private(path)
            require_own(path)
            self.connection = sqlite3.connect(path, timeout=self._patience, isolation_level=None)
            try:
                path.chmod(0o600)
                self._use_write_ahead_log()
                self.connection.execute(f"PRAGMA synchronous = {'FULL' if power else 'NORMAL'}")
                self.connection.execute("PRAGMA foreign_keys = ON")
                self._migrate()
                self._set_busy_timeout(_BUSY_MILLISECONDS)
            except BaseException:
                self.connection.close()
                raise

    def execute(self, statement: str, values: Sequence[Value] | Mapping[str, Value] = ()) -> Rows:
        """Run one statement; SQLite errors become a StorageError for the person."""
        try:
            cursor = self.connection.execute(statement, values)
            rows = Rows(cursor.fetchall())
            rows.rowcount = cursor.rowcount
            return rows
        except _COMPLAINTS as error:
            if self._may_wait(error):
                with self._waiting():
                    return self.execute(statement, values)
            raise self._refused(error) from error

    def execute_many(self, statement: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement for each row."""
        try:
            self.connection.executemany(statement, rows)
        except _COMPLAINTS as error:
            raise self._refused(error) from error

    def _run(self, statement: str) -> None:
        """Run a statement without values and without rows."""
        try:
            self.connection.execute(statement)
        except _COMPLAINTS as error:
            if self._may_wait(error):
                with self._waiting():
                    return self._run(statement)
            raise self._refused(error) from error

    def _may_wait(self, error: Exception) -> bool:
        """Whether the statement failed on a lock, and nothing else stands still while it waits for it."""
        return _is_busy(error) and not self._waits_long and not _in_event_loop()

    @contextmanager
    def _waiting(self) -> Generator[None]:
        """Statements inside wait longer for a lock: long where nothing else stands still meanwhile."""
        self._set_busy_timeout(_DECISION_MILLISECONDS if _in_event_loop() else int(self._patience * 1000))
        self._waits_long = True
        try:
            yield
        finally:
            self._waits_long = False
            self._set_busy_timeout(_BUSY_MILLISECONDS)

    def _set_busy_timeout(self, milliseconds: int) -> None:
        self._run(f"PRAGMA busy_timeout = {milliseconds}")

    def _refused(self, error: Exception) -> StorageError:
        if _is_busy(error):
            return _busy(self.path)
        if "created in a thread" in str(error):
            return StorageError(
                f"{self.path}: was opened in another thread; open an assistant in each thread"
            )
        if "closed database" in str(error):
            return StorageError(f"{self.path}: the assistant is closed")
        if isinstance(error, UnicodeDecodeError) or "Could not decode" in str(error):
            # The message would repeat the damaged text.
            return damaged(f"{self.path}: a stored text is no UTF-8")
        if isinstance(error, sqlite3.Error):
            # The only triggers that refuse a row are those of turns that forgetting has ended.
            if _code(error) == sqlite3.SQLITE_CONSTRAINT_TRIGGER:
                return ForgottenError()
            return StorageError(f"{self.path}: {error}; see 'sestet doctor'")
        return StorageError(f"{self.path}: this text or number can be neither stored nor searched: {error}")

    def _use_write_ahead_log(self) -> None:
        """Retry while the file is locked: SQLite does not wait by itself for this statement."""
        give_up = time.monotonic() + self._patience
        while True:
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > give_up:
                    raise
                time.sleep(0.02)
            else:
                return

    def _migrate(self) -> None:
        if self._version_and_mark() == (VERSION, APPLICATION_ID):
            # Nothing to write, so a process that writes at this moment is not waited for.
            return
        with self.transaction():
            version, mark = self._version_and_mark()
            if complaint := newer(version):
                raise StorageError(f"{self.path}: {complaint}")
            if mark != APPLICATION_ID:
                self.connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            if version == VERSION:
                return
            is_new = self.connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
            scripts = (SCHEMA.read_text(encoding="utf-8"),) if is_new else MIGRATIONS[version:]
            for statement in chain.from_iterable(map(_statements, scripts)):
                self.connection.execute(statement)
            self.connection.execute(f"PRAGMA user_version = {VERSION}")

    def _version_and_mark(self) -> tuple[int, int]:
        (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        (mark,) = self.connection.execute("PRAGMA application_id").fetchone()
        return version, mark

    @contextmanager
    def transaction(self, *, sync: bool = False, patient: bool = False) -> Generator[None]:
        """Commit all writes inside, or none. With ``sync`` they are on the disk when this returns.

        In an event loop, a lock of another process is a ``BusyError`` soon; with ``patient``, a little later.
        """
        if sync and not self._power:
            self._run("PRAGMA synchronous = FULL")
        try:
            if patient:
                with self._waiting():
                    self._run("BEGIN IMMEDIATE")
            else:
                self._run("BEGIN IMMEDIATE")
            yield
            self._run("COMMIT")
        except BaseException:
            # When the disk is full, SQLite has often rolled back already.
            if self._is_in_transaction:
                self._run("ROLLBACK")
            raise
        finally:
            if sync and not self._power:
                self._run("PRAGMA synchronous = NORMAL")

    def join_transaction(self) -> AbstractContextManager[None]:
        """The caller's transaction if it has one, else a new one."""
        return nullcontext() if self.connection.in_transaction else self.transaction()

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """All reads inside see one state of the file, whatever other processes write meanwhile."""
        if self.connection.in_transaction:
            yield
            return
        self._run("BEGIN")
        try:
            yield
        finally:
            self._run("ROLLBACK")

    def wipe_deleted(self) -> bool:
        """Rewrite the file so that its free space holds no deleted text; False while another process uses it.

        Writers would wait while a large file is rewritten, so that is done only if nobody else has it open.
        """
        for index in FULL_TEXT_INDEXES:
            self._merge(index)
        # Most of the log is copied while others write; the rest is little.
        self.execute("PRAGMA wal_checkpoint(PASSIVE)")
        if self.path.stat().st_size > _REWRITTEN_AT_ONCE and not self._is_alone():
            self.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return False
        self.execute("VACUUM")
        (busy, *_) = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").only()
        return not busy

    def _merge(self, index: str) -> None:
        """Merge a full-text index in short steps: until then it keeps the words of deleted rows."""
        merge = f"INSERT INTO {index} ({index}, rank) VALUES ('merge', ?)"  # noqa: S608 - names above
        pages = -_MERGED_AT_ONCE
        while True:
            before = self.connection.total_changes
            self.execute(merge, (pages,))
            # SQLite's documentation: a step that has changed fewer than two rows had nothing to merge.
            if self.connection.total_changes - before < 2:
                return
            pages = _MERGED_AT_ONCE

    def _is_alone(self) -> bool:
        """Whether no other connection has the file open: only then SQLite lets it leave the log."""
        self._set_busy_timeout(0)
        try:
            self.connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise self._refused(error) from error
            return False
        finally:
            self._use_write_ahead_log()
            self._set_busy_timeout(_BUSY_MILLISECONDS)
        return True

    @property
    def _is_in_transaction(self) -> bool:
        try:
            return self.connection.in_transaction
        except sqlite3.ProgrammingError:
            return False  # the connection is closed

    def close(self) -> None:
        self.connection.close()


def _code(error: sqlite3.Error) -> int:
    """SQLite's number of an error; 0 for an error of Python's module."""
    return getattr(error, "sqlite_errorcode", 0)


def _is_busy(error: Exception) -> bool:
    # The lowest byte is the error; the others say more about it.
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF == sqlite3.SQLITE_BUSY


def _busy(path: Path) -> BusyError:
    return BusyError(f"{path}: another process has locked the database")


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def storage_errors(path: Path) -> Generator[None]:
    """Turn SQLite and file system errors into a StorageError for the person."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise damaged(f"{path}: its schema is no UTF-8") from error
    except (sqlite3.Error, OSError) as error:
        if _is_busy(error):
            raise _busy(path) from error
        raise StorageError(
            f"{path}: {_why(error)}; see 'sestet doctor', or choose another directory with SESTET_HOME"
        ) from error


def _why(error: Exception) -> str:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return f"'{error.filename}' is not a directory"
    return (isinstance(error, OSError) and error.strerror) or str(error)


def damaged(what: str) -> StorageError:
    """The error for stored data that no version of Sestet has written."""
    return StorageError(f"{what}, so the data is damaged; keep a copy of the file, and see 'sestet doctor'")


def stored_time(value: object) -> float:
    """The value of a column with a time; in a damaged file it may be anything."""
    if not isinstance(value, int | float):
        raise damaged("the time of a stored row is no number")
    return value


def from_json(text: object, what: str) -> Any:  # Any: the store that reads a column knows its type
    """The value of a column that holds JSON; ``what`` names the column if it is damaged."""
    try:
        return json.loads(cast("str", text))
    except (ValueError, TypeError, RecursionError) as error:
        raise damaged(f"{what} cannot be read") from error


def _resolved(path: Path) -> Path:
    try:
        return resolved(path)
    except OSError as error:  # a link that leads to itself
        raise StorageError(f"{path}: {error.strerror}; choose another directory with SESTET_HOME") from error


def _statements(script: str) -> Iterator[str]:
    """Split a script into its statements; ``executescript`` would commit before it runs."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


class LabelColumns(NamedTuple):
    """A label as stored with a row: three columns, in this order."""

    untrusted: int
    private: int
    #: A JSON array of texts.
    sources: str


def label_columns(label: Label) -> LabelColumns:
    return LabelColumns(label.untrusted, label.private, json.dumps(label.sources))


# Cached: many rows are read at once, and rows from one source share one label.
@lru_cache(maxsize=1024)
def label_from(untrusted: int, private: int, sources: str) -> Label:
    read = from_json(sources, "the label of a stored row")
    if not isinstance(read, list):
        raise damaged("the label of a stored row has no list of sources")
    return Label(bool(untrusted), bool(private), tuple(map(str, cast("list[object]", read))))
