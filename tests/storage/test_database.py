"""The database file: opening, migrating, clear errors."""

import json
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sestet
from sestet.core.errors import ForgottenError, StorageError
from sestet.storage.database import Database
from sestet.storage.file_check import APPLICATION_ID
from sestet.storage.migrations import MIGRATIONS
from tests.faults.watched import watched_connections


def schema_of(path: Path) -> list[tuple[str, str]]:
    """The schema of a file, with the settings of its full-text indexes."""
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
    ).fetchall()
    for name, _ in list(rows):
        if name.endswith("_index_config"):
            rows += connection.execute(f"SELECT '{name} ' || k, v FROM {name} ORDER BY k")  # noqa: S608
    connection.close()
    return rows


def test_a_new_file_is_private_to_its_owner_and_uses_a_write_ahead_log(tmp_path: Path) -> None:
    database = Database(tmp_path / "deep" / "sestet.db")

    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert stat.S_IMODE(database.path.stat().st_mode) == 0o600
    database.close()


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_every_earlier_version_migrates_to_the_same_schema(tmp_path: Path, version: int) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    connection = sqlite3.connect(old)
    for script in MIGRATIONS[:version]:
        connection.executescript(script)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()

    Database(old).close()
    Database(new).close()

    assert schema_of(old) == schema_of(new)


def test_what_was_stored_before_labels_is_kept_as_the_worst_and_can_be_retrieved(tmp_path: Path) -> None:
    path = tmp_path / "sestet.db"
    connection = sqlite3.connect(path)
    for script in MIGRATIONS[:6]:
        connection.executescript(script)
    connection.execute("PRAGMA user_version = 6")
    connection.execute("INSERT INTO memories VALUES (NULL, 'I like tea', 's', 't', 86400)")
    connection.execute("INSERT INTO knowledge VALUES (NULL, 'Hours', 'until six', 'note', 's', 't', 1, 2)")
    connection.commit()
    connection.close()

    database = Database(path)
    rows = database.execute(
        "SELECT collection, title, text, source, untrusted, private, created_at FROM passages ORDER BY id"
    )
    found = database.execute("SELECT text FROM passages_index WHERE passages_index MATCH 'six'")
    database.close()

    assert rows == [
        ("memories", "", "I like tea", "told on 1970-01-02", 1, 1, 86400),
        ("knowledge", "Hours", "until six", "Hours", 1, 1, 2),
    ]
    assert found == [("until six",)]


def test_the_journal_of_an_older_file_is_kept_with_its_rules(tmp_path: Path) -> None:
    path, long = tmp_path / "sestet.db", json.dumps({"text": "tea " * 5_000})
    connection = sqlite3.connect(path, isolation_level=None)
    for script in MIGRATIONS[:16]:
        connection.executescript(script)
    connection.execute("PRAGMA user_version = 16")
    connection.execute("INSERT INTO sessions VALUES ('s', 'tea', 0, 0)")
    connection.executemany("INSERT INTO turns VALUES (?, 's', ?, 'finished')", [("t1", 1), ("t2", 2)])
    rows = [
        ("t1", 1, "turn_started", "user", "", 1.0, '{"text": "hello"}'),
        ("t1", 2, "turn_finished", "orchestrator", "", 2.0, long),
        ("t2", 1, "turn_started", "user", "", 3.0, "no JSON"),
    ]
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    connection.execute("INSERT INTO searchable_turns (turn_id) VALUES ('t1')")
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("INSERT INTO events VALUES ('lost', 1, 'turn_started', 'user', '', 1.0, '{}')")
    connection.close()

    database = Database(path)

    kept = database.execute("SELECT * FROM events ORDER BY turn_id, seq")
    assert [columns for _, *columns in kept] == [list(row) for row in rows]
    assert database.execute("SELECT count(*) FROM log").only() == (3,)
    found = "SELECT rowid FROM exchanges_index WHERE exchanges_index MATCH 'tea'"
    assert len(database.execute(found)) == 1
    database.execute("UPDATE events SET data = '{\"text\": \"x\"}' WHERE turn_id = 't1' AND seq = 2")
    assert database.execute(found) == []
    with pytest.raises(StorageError):
        database.execute("INSERT INTO events VALUES (NULL, 't1', 1, 'turn_started', 'user', '', 1.0, '{}')")
    database.execute("INSERT INTO forgotten_turns VALUES ('t2', 1)")
    with pytest.raises(ForgottenError):
        database.execute("INSERT INTO events VALUES (NULL, 't2', 2, 'turn_finished', 'user', '', 1.0, '{}')")
    database.close()


def test_messages_and_browsers_of_an_older_file_get_the_later_rules(tmp_path: Path) -> None:
    path = tmp_path / "sestet.db"
    connection = sqlite3.connect(path, isolation_level=None)
    for script in MIGRATIONS[:22]:
        connection.executescript(script)
    connection.execute("PRAGMA user_version = 22")
    connection.execute("INSERT INTO sessions VALUES ('s', 'tea', 0, 0)")
    connection.execute("INSERT INTO turns VALUES ('begun', 's', 1, 'running')")
    rows = [(turn, "s", turn, "tea", 1, 1, 0.0, 0, "") for turn in ("begun", "waiting")]
    connection.executemany("INSERT INTO accepted_messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    tokens = [("browser-1", b"1"), ("phone", b"2")]
    connection.executemany(
        "INSERT INTO tokens (client, scope, digest, created_at) VALUES (?, 'owner', ?, 1)", tokens
    )
    connection.close()

    database = Database(path)
    texts = "SELECT turn_id, text FROM accepted_messages ORDER BY turn_id"

    assert database.execute(texts) == [("begun", ""), ("waiting", "tea")]
    database.execute("INSERT INTO turns VALUES ('waiting', 's', 2, 'running')")
    assert database.execute(texts) == [("begun", ""), ("waiting", "")]
    lifetimes = database.execute("SELECT client, lifetime FROM tokens ORDER BY id")
    assert lifetimes == [("browser-1", 30 * 24 * 3600), ("phone", 0)]
    database.close()


def test_turns_of_an_older_file_keep_their_states_and_no_other_state_is_taken(tmp_path: Path) -> None:
    path, states = tmp_path / "sestet.db", ("running", "finished", "failed", "paused", "cancelled")
    connection = sqlite3.connect(path, isolation_level=None)
    for script in MIGRATIONS[:18]:
        connection.executescript(script)
    connection.execute("PRAGMA user_version = 18")
    connection.execute("INSERT INTO sessions VALUES ('s', 'tea', 0, 0)")
    rows = [(f"t{number}", "s", number, state) for number, state in enumerate(states)]
    connection.executemany("INSERT INTO turns VALUES (?, ?, ?, ?)", rows)
    connection.close()

    database = Database(path)

    assert database.execute("SELECT * FROM turns ORDER BY number") == rows
    for state in states:
        database.execute("UPDATE turns SET state = ? WHERE id = 't0'", (state,))
    with pytest.raises(StorageError, match="CHECK"):
        database.execute("UPDATE turns SET state = 'lost' WHERE id = 't0'")
    plan = database.execute("EXPLAIN UPDATE turns SET state = 'failed' WHERE id = 't0'")
    assert "OpenEphemeral" not in {operation for _, operation, *_ in plan}
    assert database.execute("PRAGMA integrity_check") == [("ok",)]
    database.close()


def test_a_new_file_is_private_from_its_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    connect = sqlite3.connect

    def watched(path: Path, **options: Any) -> sqlite3.Connection:
        modes.append(stat.S_IMODE(path.stat().st_mode))
        return connect(path, **options)

    monkeypatch.setattr(sqlite3, "connect", watched)
    before = os.umask(0)
    try:
        Database(tmp_path / "sestet.db").close()
        os.umask(0o777)
        Database(tmp_path / "other.db").close()
    finally:
        os.umask(before)

    assert modes == [0o600, 0o600]


def snapshot(directory: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every file but SQLite's index of a log, which holds no data."""
    files = (file for file in directory.iterdir() if not file.name.endswith("-shm"))
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_mode) for file in files}


def another_programs(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.execute("INSERT INTO bookmarks VALUES ('x')")


def another_format(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA application_id = 77")


def same_names(connection: sqlite3.Connection) -> None:
    for table in ("sessions", "turns", "events"):
        connection.execute(f"CREATE TABLE {table} (id TEXT)")


def of_the_future(connection: sqlite3.Connection) -> None:
    for script in MIGRATIONS:
        connection.executescript(script)
    connection.execute("PRAGMA user_version = 999")


FOREIGN: dict[Callable[[sqlite3.Connection], None], str] = {
    another_programs: "another program",
    another_format: "another program",
    same_names: "another program",
    of_the_future: "newer Sestet",
}


@pytest.mark.parametrize("fill", FOREIGN)
@pytest.mark.parametrize("mode", ["DELETE", "WAL", "WAL in use"])
def test_a_file_that_is_not_ours_is_refused_and_not_touched(
    tmp_path: Path, fill: Callable[[sqlite3.Connection], None], mode: str
) -> None:
    path = tmp_path / "sestet.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {mode.split()[0]}")
    fill(connection)
    if "in use" not in mode:
        connection.close()
    path.chmod(0o644)
    before = snapshot(tmp_path)

    with pytest.raises(StorageError, match=FOREIGN[fill]):
        Database(path)

    assert snapshot(tmp_path) == before
    connection.close()


def test_a_file_from_before_the_mark_gets_it_and_keeps_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "sestet.db"
    database = Database(path)
    database.execute("INSERT INTO sessions VALUES ('s', 't', 0, 0)")
    database.execute("PRAGMA application_id = 0")
    database.close()

    database = Database(path)

    assert database.execute("PRAGMA application_id").only() == (APPLICATION_ID,)
    assert database.execute("SELECT id FROM sessions") == [("s",)]
    database.close()


async def test_a_linked_database_has_one_lock_file_for_all_its_names(tmp_path: Path) -> None:
    real, other = tmp_path / "real", tmp_path / "other"
    Database(real / "sestet.db").close()
    other.mkdir()
    (other / "sestet.db").symlink_to(real / "sestet.db")
    async with sestet.open({}, home=real) as one, sestet.open({}, home=other) as two:
        turn = one.run_turn("s1", "hello")
        await anext(turn)

        assert two.unfinished_turns() == [], "the turn runs, so nobody may go on with it"
        await turn.aclose()

    assert not (other / "sestet.lock").exists()


def test_a_link_that_leads_to_itself_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "sestet.db").symlink_to(tmp_path / "sestet.db")

    with pytest.raises(StorageError, match="SESTET_HOME"):
        Database(tmp_path / "sestet.db")


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sestet.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()

    with pytest.raises(StorageError, match="written by a newer Sestet") as refused:
        Database(path)

    # The error still refers to the frame and so to the failed connection.
    assert refused.tb
    assert str(path) not in {str(link.resolve()) for link in Path("/proc/self/fd").iterdir()}
    assert schema_of(path) == []


def test_a_file_that_is_no_database_is_a_clear_error_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sestet.db"
    path.write_text("this is a diary, not a database" * 100)

    with pytest.raises(StorageError, match=r"sestet\.db: file is not a database"):
        Database(path)

    assert path.read_text().startswith("this is a diary")


def test_a_directory_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StorageError, match="SESTET_HOME"):
        Database(tmp_path / "file" / "sestet.db")


def test_a_transaction_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    database = Database(tmp_path / "sestet.db")

    def fail_half_way() -> None:
        with database.transaction():
            database.execute("INSERT INTO sessions VALUES ('s', 't', 0, 0)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()

    assert database.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    database.close()


def test_a_commit_survives_a_power_cut_when_it_is_asked_to(tmp_path: Path) -> None:
    def level(database: Database) -> int:
        return database.execute("PRAGMA synchronous").only()[0]

    usual, careful = Database(tmp_path / "a.db"), Database(tmp_path / "b.db", power=True)
    with usual.transaction(sync=True):
        during = level(usual)

    assert (level(usual), during, level(careful)) == (1, 2, 2)
    usual.close()
    careful.close()


@pytest.mark.parametrize("value", ["\udcff", 2**63, 10**30])
def test_what_no_column_can_hold_is_a_clear_error(tmp_path: Path, value: str | int) -> None:
    database = Database(tmp_path / "sestet.db")

    with pytest.raises(StorageError, match="neither stored nor searched"):
        database.execute("SELECT * FROM turns WHERE id = ?", (value,))
    with pytest.raises(StorageError, match="neither stored nor searched"):
        database.execute_many("UPDATE turns SET state = ?", [(value,)])
    database.close()


def test_a_file_that_is_up_to_date_is_opened_and_read_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "sestet.db"
    Database(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    begun: list[str] = []

    with watched_connections(lambda when, sql, values: begun.append(sql)):
        database = Database(path)

    assert database.execute("SELECT count(*) FROM turns").only() == (0,)
    assert not any(sql.startswith("BEGIN") for sql in begun), "it waits for nobody"
    database.close()
    other.close()
