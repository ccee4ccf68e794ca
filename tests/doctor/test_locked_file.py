"""A file that another process has locked is sound: the doctor must not tell anybody to throw it away."""

import errno
import sqlite3
from pathlib import Path

import pytest

from sestet.core.errors import BusyError
from sestet.doctor.database import check_database, check_forgetting, check_turns
from sestet.storage.database import FILE_NAME, Database


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sestet.storage.database._BUSY_SECONDS", 0.05)
    monkeypatch.setenv("SESTET_HOME", str(tmp_path))
    Database(tmp_path / FILE_NAME).close()
    return tmp_path


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "PRAGMA locking_mode = EXCLUSIVE"])
def test_the_doctor_calls_a_locked_file_busy_and_not_broken(home: Path, lock: str) -> None:
    other = sqlite3.connect(home / FILE_NAME, isolation_level=None)
    other.execute(lock)
    other.execute("UPDATE turns SET state = ''")

    found = check_database()

    assert found.status == "warning"
    assert "another process has locked the database" in found.detail
    assert "backup" not in found.way_out
    assert {check.status for check in (*check_turns(), *check_forgetting())} <= {"ok"}
    other.close()


def test_a_file_in_a_directory_that_cannot_be_written_is_not_called_broken(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, mode: int) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "chmod", refuse)

    found = check_database()

    assert found.status == "problem"
    assert "Read-only file system" in found.detail
    assert "backup" not in found.way_out
    assert "SESTET_HOME" in found.way_out


def test_a_file_that_cannot_be_opened_for_a_lock_is_busy(home: Path) -> None:
    other = sqlite3.connect(home / FILE_NAME, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("UPDATE turns SET state = ''")

    with pytest.raises(BusyError, match="another process has locked the database"):
        Database(home / FILE_NAME)
    other.close()
