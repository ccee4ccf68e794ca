"""A damaged database: correct work or a clear error with the way out, and the doctor sees the damage."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from sestet.core.errors import PersonError, StorageError
from sestet.storage.database import FILE_NAME
from tests.faults.damage import damage, examine, make_sound, use_everything

FILES = 300
BATCH = 50


async def test_a_sound_file_is_called_sound_and_nothing_complains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_sound(tmp_path / "sound", tmp_path / "killed")
    for home in ("sound", "killed"):
        monkeypatch.setenv("SESTET_HOME", str(tmp_path / home))

        assert {check.status for check in examine()} <= {"ok", "warning"}
        assert await use_everything(tmp_path / home) == []
        assert {check.status for check in examine()} <= {"ok", "warning"}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, FILES, BATCH))
async def test_a_damaged_file_is_a_clear_error_wherever_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    await make_sound(tmp_path / "sound", tmp_path / "killed")
    hurt = 0
    for seed in range(first, first + BATCH):
        home = tmp_path / "home"
        shutil.copytree(tmp_path / ("sound" if seed % 2 else "killed"), home)
        damage(home, seed)
        monkeypatch.setenv("SESTET_HOME", str(home))

        is_broken = not is_sound(home)
        says_broken = any(check.status == "problem" for check in examine())
        errors = await use_everything(home)

        bugs = [error for error in errors if not isinstance(error, PersonError)]
        assert not bugs, (seed, bugs)
        broken = [str(error) for error in errors if isinstance(error, StorageError)]
        assert all("sestet doctor" in text or "SESTET_HOME" in text for text in broken), (seed, broken)
        assert says_broken or not (is_broken or broken), (seed, broken)
        hurt += bool(broken)
        shutil.rmtree(home)
    assert hurt > BATCH // 4


def is_sound(home: Path) -> bool:
    """What SQLite's own check says about a copy of the file."""
    copy = home.with_name("copy")
    shutil.copytree(home, copy)
    try:
        connection = sqlite3.connect(copy / FILE_NAME)
        try:
            return connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError):
        return False
    finally:
        shutil.rmtree(copy)


@pytest.mark.parametrize("kind", [os.mkdir, os.mkfifo])
def test_the_doctor_sees_a_lock_file_that_nobody_can_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: object
) -> None:
    monkeypatch.setenv("SESTET_HOME", str(tmp_path))
    assert callable(kind)
    kind(tmp_path / "sestet.lock")

    (found,) = (check for check in examine() if check.status == "problem")

    assert found.name == "locks"
    assert "sestet.lock: is" in found.detail
    assert "remove it while no Sestet runs" in found.detail
