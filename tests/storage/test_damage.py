"""Damage that SQLite itself does not see."""

import sqlite3
from pathlib import Path

import pytest

from sestet.storage.damage import find_damage
from sestet.storage.database import FILE_NAME, VERSION, Database
from sestet.storage.migrations import MIGRATIONS


def spoil_schema(path: Path, name: str, old: str, new: str) -> None:
    """Change some letters of the schema, as a flipped bit on the disk does."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    assert old in sql
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql.replace(old, new), name))
    connection.close()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("remembered_index_data", "PRIMARY", "PRIMARX"),
        ("memories", "made_by TEXT", "made_bY TEXT"),
        ("triples_by_object", "predicate, ", "+predicate, "),
        ("passages_deleted", "old.text", "old.titl"),
    ],
)
def test_a_damaged_schema_is_found(tmp_path: Path, name: str, old: str, new: str) -> None:
    path = tmp_path / FILE_NAME
    Database(path).close()
    spoil_schema(path, name, old, new)
    database = Database(path)

    assert name in find_damage(database)
    database.close()


@pytest.mark.parametrize("version", range(1, VERSION))
def test_a_file_of_an_earlier_version_is_sound(tmp_path: Path, version: int) -> None:
    path = tmp_path / FILE_NAME
    connection = sqlite3.connect(path)
    for script in MIGRATIONS[:version]:
        connection.executescript(script)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    database = Database(path)

    assert find_damage(database) == ""
    database.close()
