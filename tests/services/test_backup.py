"""A backup is one private file, whole and checked, made while others write."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from sestet.core.errors import PersonError
from sestet.core.label import CLEAN, Origin
from sestet.services.backup import back_up
from sestet.storage.damage import find_damage
from sestet.storage.database import FILE_NAME, VERSION, Database
from sestet.storage.memories import MemoryStore
from tests.services.memory.conversation import say

#: Each transaction adds two memories.
WRITE_PAIRS = """
import sys
from pathlib import Path
from sestet.core.label import CLEAN, Origin
from sestet.storage.database import Database
from sestet.storage.memories import MemoryStore

database = Database(Path(sys.argv[1]))
memories = MemoryStore(database)
while True:
    with database.transaction():
        for _ in range(2):
            memories.add("I like tea " * 50, Origin("", "", CLEAN))
    print("written", flush=True)
"""


def fill(directory: Path, text: str = "I like tea") -> Path:
    """A data directory with a conversation and a memory."""
    with closing(Database(directory / FILE_NAME)) as database:
        say(database, f"remember that {text}")
        MemoryStore(database).add(text, Origin("", "", CLEAN))
    return directory


def texts(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM memories ORDER BY id")]


@pytest.fixture
def writer(tmp_path: Path) -> Generator[Path]:
    """A data directory in which another process writes all the time."""
    data = fill(tmp_path / "data")
    command = [sys.executable, "-c", WRITE_PAIRS, str(data / FILE_NAME)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield data
        process.kill()


def test_a_backup_holds_everything_in_one_private_file(tmp_path: Path) -> None:
    data, file = fill(tmp_path / "data"), tmp_path / "copy.db"

    with closing(Database(data / FILE_NAME)) as running:
        MemoryStore(running).add("I like milk", Origin("", "", CLEAN))
        contents = back_up(data, file)

    assert (contents.sessions, contents.turns, contents.memories) == (1, 1, 2)
    assert (contents.schema, contents.size) == (VERSION, file.stat().st_size)
    assert file.stat().st_mode & 0o777 == 0o600
    assert texts(file) == ["I like tea", "I like milk"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "data"]


def test_a_backup_is_consistent_while_another_process_writes(writer: Path, tmp_path: Path) -> None:
    for number in range(5):
        file = tmp_path / f"{number}.db"
        back_up(writer, file)
        assert len(texts(file)) % 2 == 1  # one memory, then pairs
        with closing(Database(file)) as copy:
            assert find_damage(copy) == ""


def test_a_backup_replaces_a_file_only_when_told_to(tmp_path: Path) -> None:
    data, file = fill(tmp_path / "data"), tmp_path / "copy.db"
    file.write_text("mine")

    with pytest.raises(PersonError, match=r"'.*copy\.db' is there already"):
        back_up(data, file)
    assert file.read_text() == "mine"

    back_up(data, file, replace=True)
    assert texts(file) == ["I like tea"]


def test_a_file_that_was_made_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    data, file = fill(tmp_path / "data"), tmp_path / "copy.db"

    with pytest.raises(PersonError, match="is there already"):
        back_up(data, file, watch=lambda done, total: file.touch())

    assert file.read_bytes() == b""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "data"]


def test_a_backup_that_fails_leaves_nothing_under_its_name(tmp_path: Path) -> None:
    data, file = fill(tmp_path / "data"), tmp_path / "copy.db"

    def fail(done: int, total: int) -> None:
        raise OSError("the disk is gone")

    with pytest.raises(PersonError, match=r"'.*copy\.db' cannot be written: the disk is gone"):
        back_up(data, file, watch=fail)

    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_damaged_database_gives_no_backup(tmp_path: Path) -> None:
    data = fill(tmp_path / "data")
    with (data / FILE_NAME).open("r+b") as stream:
        stream.seek(8 * 4096)
        stream.write(b"\xff" * 4096)

    with pytest.raises(PersonError, match=r"'.*sestet\.db' is damaged: .* no backup was written"):
        back_up(data, tmp_path / "copy.db")

    assert not (tmp_path / "copy.db").exists()


@pytest.mark.parametrize("name", ["sestet.db", "sestet.db-wal", "sestet.lock"])
def test_a_backup_never_replaces_the_database_itself(tmp_path: Path, name: str) -> None:
    data = fill(tmp_path / "data")
    (tmp_path / "link.db").symlink_to(data / name)

    for file in (data / name, tmp_path / "link.db"):
        with pytest.raises(PersonError, match="belongs to the present database"):
            back_up(data, file, replace=True)


def test_without_a_database_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(PersonError, match="nothing to back up yet"):
        back_up(tmp_path / "data", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


def test_an_older_database_is_not_migrated_by_a_backup(tmp_path: Path) -> None:
    data = fill(tmp_path / "data")
    with closing(sqlite3.connect(data / FILE_NAME)) as connection:
        connection.execute("PRAGMA user_version = 3")

    assert back_up(data, tmp_path / "copy.db").schema == 3
    with closing(sqlite3.connect(data / FILE_NAME)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)


class NoRoom(NamedTuple):
    free: int = 1


def test_a_lack_of_room_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = fill(tmp_path / "data")

    def usage(path: Path) -> NoRoom:
        return NoRoom()

    monkeypatch.setattr(shutil, "disk_usage", usage)

    with pytest.raises(PersonError, match=r"no room for '.*copy\.db': .* are needed, and 1 B are free"):
        back_up(data, tmp_path / "copy.db")
