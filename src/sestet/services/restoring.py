"""Puts a backup in the place of the present database, while Sestet may be running."""

import shutil
import sqlite3
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from sestet.core.errors import PersonError, StorageError
from sestet.services.backup import Contents, CopyWatch, new_file, read_contents, unnamed_file, with_logs
from sestet.storage.approvals import ApprovalStore
from sestet.storage.copying import IN_USE, connect, copy_in, copy_out, is_open_elsewhere, make_successor, sync
from sestet.storage.damage import find_damage
from sestet.storage.database import FILE_NAME, VERSION, Database
from sestet.storage.file_check import Header, make_private, read_header, read_mode
from sestet.storage.journal import Journal
from sestet.storage.locks import SessionLocks
from sestet.storage.payments import PaymentRow, PaymentStore, read_payments

__all__ = ["Restore", "Restored", "open_restore"]

#: How long turns and background work of other processes are waited for.
_PATIENCE = 5.0
#: The first bytes of every SQLite file.
_MAGIC = b"SQLite format 3\0"


class Restored(NamedTuple):
    #: The copy of the database that was there before; None if there was none.
    safety_copy: Path | None
    #: The standing approvals of the backup, which were left out.
    grants_left_out: int


class Restore:
    """A backup that was checked and made ready beside the present database, which is still untouched."""

    def __init__(self, live: Path, staged: Path, contents: Contents) -> None:
        self._live = live
        self._staged = staged
        #: Of the backup.
        self.contents = contents

    @property
    def is_first(self) -> bool:
        """Whether there is no database yet."""
        return not self._live.exists()

    def present(self) -> Contents | None:
        """What the present database holds; None if it cannot be read."""
        try:
            return read_contents(self._live, read_mode(self._live))
        except sqlite3.Error:
            return None

    def install(self, watch: CopyWatch | None = None) -> Restored:
        """Replace the present database, and keep a copy of it. Killed at any moment, it is old or new."""
        make_private(self._live)
        with closing(SessionLocks.beside(self._live)) as locks:
            self._wait_for_turns(locks)
            header = _header(self._live)
            if header is not None and not (header.is_own or header.is_new):
                raise PersonError(f"'{self._live}' is the database of another program; nothing was changed")
            grants = self._adapt()
            if header is None:
                return Restored(self._replace_unreadable(), grants)
            safety = None if header.is_empty else _free_name(self._live)
            copy_in(self._staged, self._live, lambda: self._keep(safety), watch)
            return Restored(safety, grants)

    def _wait_for_turns(self, locks: SessionLocks) -> None:
        give_up = time.monotonic() + _PATIENCE
        while not locks.take_all():
            if time.monotonic() > give_up:
                raise PersonError(
                    f"{_running(self._live, locks)}, so nothing was changed; "
                    "wait for its end or stop it, then restore again"
                )
            time.sleep(0.05)

    def _adapt(self) -> int:
        """Leave the standing approvals out, which may have been taken back; returns their number.

        What was paid since the backup goes on counting: a restore gives no new limits.
        """
        paid: list[PaymentRow] = []
        # A file that is new or damaged tells of no payments.
        with suppress(sqlite3.DatabaseError), connect(self._live, read_mode(self._live)) as present:
            paid = read_payments(present)
        with closing(Database(self._staged)) as staged:
            approvals = ApprovalStore(staged, Journal(staged))
            grants = approvals.grants()
            for grant in grants:
                approvals.revoke(grant.id)
            PaymentStore(staged).adopt(paid)
            make_successor(staged, self._live)
        return len(grants)

    def _keep(self, safety: Path | None) -> None:
        if safety is not None:
            with new_file(safety, replace=False) as copy:
                copy_out(self._live, IN_USE, copy)

    def _replace_unreadable(self) -> Path:
        """Keep a file that is too damaged for SQLite as it is, and put the backup in its place."""
        if is_open_elsewhere(self._live):
            raise PersonError(
                f"'{self._live}' is damaged, and another Sestet has it open: close it, then restore again"
            )
        safety = _free_name(self._live)
        for old, kept in zip(with_logs(self._live), with_logs(safety), strict=True):
            if old.exists():
                with new_file(kept, replace=False) as copy:
                    shutil.copyfile(old, copy)
                    sync(copy)
        # SQLite would take the log of the old file for one of the new file.
        for log in list(with_logs(self._live))[1:]:
            log.unlink(missing_ok=True)
        self._staged.replace(self._live)
        sync(self._live.parent)
        return safety


@contextmanager
def open_restore(directory: Path, file: Path, watch: CopyWatch | None = None) -> Generator[Restore]:
    """Check a backup and make it ready; raise if it cannot be used. Nothing changes before ``install``."""
    live = (directory / FILE_NAME).resolve()
    mode = _require_backup(file, live)
    live.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with unnamed_file(live) as staged:
        yield Restore(live, staged, _stage(file, mode, staged, watch))


def _stage(file: Path, mode: str, staged: Path, watch: CopyWatch | None) -> Contents:
    """Copy a backup, migrate the copy, and look for damage in all of it."""
    try:
        contents = read_contents(file, mode)
        copy_out(file, mode, staged, watch)
        with closing(Database(staged)) as database:
            damage = find_damage(database)
    except (sqlite3.DatabaseError, StorageError, UnicodeDecodeError) as error:
        if _is_full(error):
            raise
        raise _damaged(file, error.__cause__ or error) from error
    if damage:
        raise _damaged(file, damage)
    return contents


def _damaged(file: Path, why: object) -> PersonError:
    return PersonError(f"'{file}' is damaged: {' '.join(str(why).split())}; nothing was changed")


def _require_backup(file: Path, live: Path) -> str:
    """How to open a backup; raise if it is not one that this version can use."""
    try:
        if not file.is_file():
            what = "is a directory" if file.is_dir() else "is no file" if file.exists() else "does not exist"
            raise PersonError(f"'{file}' {what}; name a file that 'sestet backup' has written")
        if live.exists() and file.samefile(live):
            raise PersonError(f"'{file}' is the present database itself; nothing was changed")
        with file.open("rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                raise PersonError(f"'{file}' is no backup of Sestet: it is no SQLite file")
        mode = read_mode(file)
        header = read_header(file, mode)
    except OSError as error:
        raise PersonError(f"'{file}' cannot be read: {error.strerror}") from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _damaged(file, error) from error
    if not header.is_own or header.is_empty:
        raise PersonError(f"'{file}' is no backup of Sestet: it is a database of another program")
    if header.version > VERSION:
        known = f"schema {header.version}, and this one knows {VERSION}"
        raise PersonError(f"'{file}' was written by a newer Sestet ({known}); update Sestet first")
    return mode


def _is_full(error: Exception) -> bool:
    cause = error.__cause__ or error
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL


def _header(live: Path) -> Header | None:
    """The header of the present database; None if it is so damaged that SQLite cannot read it."""
    try:
        # Opened for writing, SQLite might throw the log of a damaged file away.
        return read_header(live, read_mode(live))
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return None
        raise PersonError(f"'{live}' cannot be read: {error}; nothing was changed") from error


def _free_name(live: Path) -> Path:
    """A name for the copy of the present database, with the time."""
    stem = f"sestet-before-restore-{time.strftime('%Y%m%d-%H%M%S')}"
    names = chain((stem,), (f"{stem}-{number}" for number in count(2)))
    return next(path for name in names if not (path := live.with_name(f"{name}.db")).exists())


def _running(live: Path, locks: SessionLocks) -> str:
    """Which turn of another process runs, as far as the database tells."""
    try:
        with connect(live, IN_USE) as connection:
            rows = connection.execute("SELECT DISTINCT session_id FROM turns WHERE state = 'running'")
            sessions = [name for (name,) in rows if not locks.is_free(name)]
    except sqlite3.Error:
        sessions = []
    if not sessions:
        return "another Sestet is at work in the background"
    return f"a turn is running in the session '{sessions[0]}'"
