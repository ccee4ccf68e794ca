"""A restore checks the file first, keeps the present data, and is one step for every other process."""

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sestet.core.errors import PersonError
from sestet.core.label import CLEAN, Origin
from sestet.services import restoring
from sestet.services.backup import back_up
from sestet.services.restoring import Restored, open_restore
from sestet.storage.damage import find_damage
from sestet.storage.database import FILE_NAME, VERSION, Database
from sestet.storage.forgettings import Forgettings
from sestet.storage.journal import Journal
from sestet.storage.locks import SessionLocks
from sestet.storage.memories import MemoryStore
from sestet.storage.migrations import MIGRATIONS
from sestet.storage.payments import PaymentRow, PaymentState, PaymentStore
from tests.services.memory.conversation import begin
from tests.services.test_backup import fill, texts

MINE = Origin("", "", CLEAN)
#: Writes in a transaction that lasts.
HOLD_THE_LOCK = """
import sys, time
from pathlib import Path
from sestet.core.label import CLEAN, Origin
from sestet.storage.database import Database
from sestet.storage.memories import MemoryStore

database = Database(Path(sys.argv[1]))
with database.transaction():
    MemoryStore(database).add("I like jam", Origin("", "", CLEAN))
    print("writing", flush=True)
    time.sleep(1)
"""


def restore(data: Path, file: Path) -> Restored:
    with open_restore(data, file) as ready:
        return ready.install()


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """The backup of a database with tea, which holds milk by now."""
    data, file = fill(tmp_path / "data"), tmp_path / "copy.db"
    back_up(data, file)
    with closing(Database(data / FILE_NAME)) as database:
        MemoryStore(database).add("I like milk", MINE)
    return file


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_a_restore_brings_the_data_back_and_keeps_the_present(backup: Path, data: Path) -> None:
    done = restore(data, backup)

    assert done.safety_copy is not None
    assert texts(data / FILE_NAME) == ["I like tea"]
    assert texts(done.safety_copy) == ["I like tea", "I like milk"]
    assert done.safety_copy.parent == data
    assert done.safety_copy.stat().st_mode & 0o777 == 0o600
    assert restore(data, done.safety_copy).safety_copy != done.safety_copy
    assert texts(data / FILE_NAME) == ["I like tea", "I like milk"]


def test_a_process_that_has_the_database_open_sees_the_restored_data(backup: Path, data: Path) -> None:
    with closing(Database(data / FILE_NAME)) as running:
        inode = (data / FILE_NAME).stat().st_ino
        read_at, last = Forgettings(running).last(), MemoryStore(running).add("I like jam", MINE)

        restore(data, backup)

        memories = MemoryStore(running)
        assert (data / FILE_NAME).stat().st_ino == inode
        assert texts(data / FILE_NAME) == ["I like tea"]
        assert memories.add("I like coffee", MINE) > last  # no number is given twice
        assert Forgettings(running).last() > read_at
        assert find_damage(running) == ""


def test_an_absent_database_is_made_from_the_backup(backup: Path, tmp_path: Path) -> None:
    done = restore(tmp_path / "elsewhere", backup)

    assert done == Restored(None, 0)
    assert texts(tmp_path / "elsewhere" / FILE_NAME) == ["I like tea"]
    assert (tmp_path / "elsewhere" / FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_standing_approvals_are_left_out(data: Path, tmp_path: Path) -> None:
    with closing(Database(fill(data) / FILE_NAME)) as database:
        database.execute(
            "INSERT INTO grants (agent, tool, pattern, session_id, granted_at) VALUES ('a', 't', '{}', '', 1)"
        )
    back_up(data, tmp_path / "copy.db")

    assert restore(data, tmp_path / "copy.db").grants_left_out == 1
    with closing(sqlite3.connect(data / FILE_NAME)) as connection:
        assert connection.execute("SELECT count(*) FROM grants").fetchone() == (0,)


def test_payments_since_the_backup_go_on_counting(data: Path, tmp_path: Path) -> None:
    def row(nonce: bytes, state: PaymentState) -> PaymentRow:
        return PaymentRow(nonce, "send", state, "s1", "t1", "c1", b"w", b"p", "al", 5, b"a", 1, "tea", 0, 9.0)

    with closing(Database(fill(data) / FILE_NAME)) as database:
        PaymentStore(database).reserve(row(b"before", "reserved"), 0.0, lambda _: None)
        PaymentStore(database).reserve(row(b"paid", "settled"), 0.0, lambda _: None)
    back_up(data, tmp_path / "copy.db")
    with closing(Database(data / FILE_NAME)) as database:
        database.execute(
            "UPDATE payments SET state = 'signed', valid_before = 700 WHERE nonce = ?", (b"before",)
        )
        PaymentStore(database).reserve(row(b"since", "settled"), 0.0, lambda _: None)

    restore(data, tmp_path / "copy.db")
    with closing(Database(data / FILE_NAME)) as database:
        kept = PaymentStore(database)
        assert kept.paid(1, b"p", 0.0).all == 15
        assert kept.get(b"before") == row(b"before", "signed")._replace(valid_before=700)
        assert kept.get(b"paid") == row(b"paid", "settled")
        words = {"session_id": "", "turn_id": "", "call_id": "", "purpose": ""}
        assert kept.get(b"since") == row(b"since", "settled")._replace(**words)

    # The other way round: a file that knows the end of a payment keeps it.
    back_up(data, tmp_path / "later.db")
    with closing(Database(data / FILE_NAME)) as database:
        database.execute("UPDATE payments SET state = 'reserved' WHERE nonce = ?", (b"paid",))
    restore(data, tmp_path / "later.db")
    with closing(Database(data / FILE_NAME)) as database:
        assert PaymentStore(database).get(b"paid") == row(b"paid", "settled")


def test_an_older_backup_is_migrated(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    with closing(sqlite3.connect(file)) as connection:
        for script in MIGRATIONS[:1]:
            connection.executescript(script)
        connection.execute("PRAGMA user_version = 1")
        connection.execute("INSERT INTO sessions VALUES ('s9', 'old', 1.0, 1.0)")
        connection.commit()

    restore(fill(data), file)

    with closing(Database(data / FILE_NAME)) as database:
        assert [row.id for row in Journal(database).sessions(9)] == ["s9"]
        assert database.execute("PRAGMA user_version").only() == (VERSION,)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


def _foreign(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE bookmarks (address TEXT)")


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _write_text(file: Path) -> None:
    file.write_text("hello")


def _replace_by_foreign(file: Path) -> None:
    file.unlink()
    _foreign(file)


def _newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: 20 * 4096])


def _scramble(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[8 * 4096 : 9 * 4096] = b"\xff" * 4096
    file.write_bytes(content)


def _lose_a_row(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DELETE FROM turns")
        connection.commit()


def _add_a_trigger(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(
            "CREATE TRIGGER trust_all AFTER INSERT ON memories BEGIN UPDATE memories SET untrusted = 0; END"
        )


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (Path.unlink, "does not exist"),
        (_empty, "is no backup of Sestet: it is no SQLite file"),
        (_write_text, "is no backup of Sestet: it is no SQLite file"),
        (_replace_by_foreign, "it is a database of another program"),
        (_newer, f"was written by a newer Sestet .schema {VERSION + 1}"),
        (_cut, "is damaged"),
        (_scramble, "is damaged"),
        (_add_a_trigger, "is damaged: the definition of trust_all is not as Sestet wrote it"),
        (_lose_a_row, "is damaged: row .* belongs to a row of turns that is missing"),
    ],
)
def test_a_file_that_cannot_be_used_changes_nothing(
    backup: Path, data: Path, spoil: Callable[[Path], object], complaint: str
) -> None:
    spoil(backup)
    before = sorted((path.name, path.read_bytes()) for path in data.iterdir())

    with pytest.raises(PersonError, match=complaint) as error:
        restore(data, backup)

    assert str(error.value).startswith(f"'{backup}' ")
    assert sorted((path.name, path.read_bytes()) for path in data.iterdir()) == before


def test_the_present_database_is_no_backup(backup: Path, data: Path) -> None:
    with pytest.raises(PersonError, match="is the present database itself"):
        restore(data, data / FILE_NAME)


def test_a_restore_waits_for_a_turn_and_then_names_its_session(
    backup: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "_PATIENCE", 0.1)

    async def try_it() -> None:
        with closing(Database(data / FILE_NAME)) as running:
            begin(running, "how are you?", "busy")
        locks = SessionLocks.beside(data / FILE_NAME)
        async with locks.hold("busy"):
            with pytest.raises(PersonError, match="a turn is running in the session 'busy', so nothing"):
                restore(data, backup)
        async with locks.hold("\0observing"):
            with pytest.raises(PersonError, match="another Sestet is at work in the background"):
                restore(data, backup)
        assert texts(data / FILE_NAME) == ["I like tea", "I like milk"]
        locks.close()

    asyncio.run(try_it())
    restore(data, backup)
    assert texts(data / FILE_NAME) == ["I like tea"]


def test_a_restore_waits_for_another_process_that_writes(backup: Path, data: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_THE_LOCK, str(data / FILE_NAME)], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()

        done = restore(data, backup)

    assert done.safety_copy is not None
    assert texts(done.safety_copy) == ["I like tea", "I like milk", "I like jam"]
    assert texts(data / FILE_NAME) == ["I like tea"]


def test_no_turn_begins_while_a_backup_is_put_in_place(backup: Path, data: Path) -> None:
    locks, free = SessionLocks.beside(data / FILE_NAME), list[bool]()
    with open_restore(data, backup) as ready:
        ready.install(lambda done, total: free.append(locks.is_free("s1")))
    assert free
    assert not any(free)
    assert locks.is_free("s1")
    locks.close()


@pytest.mark.parametrize("damage", [b"no database at all" * 999, b"SQLite format 3\0" + b"\xff" * 9_000])
def test_a_damaged_database_is_replaced_and_kept_as_it_is(backup: Path, data: Path, damage: bytes) -> None:
    (data / FILE_NAME).write_bytes(damage)
    (data / f"{FILE_NAME}-wal").write_bytes(b"an old log")

    done = restore(data, backup)

    assert done.safety_copy is not None
    assert done.safety_copy.read_bytes() == damage
    assert done.safety_copy.with_name(f"{done.safety_copy.name}-wal").read_bytes() == b"an old log"
    assert texts(data / FILE_NAME) == ["I like tea"]


def test_a_database_with_a_damaged_page_is_replaced(backup: Path, data: Path) -> None:
    _scramble(data / FILE_NAME)

    done = restore(data, backup)

    assert done.safety_copy is not None
    with closing(Database(data / FILE_NAME)) as database:
        assert find_damage(database) == ""


def test_the_database_of_a_newer_sestet_can_be_replaced(backup: Path, data: Path) -> None:
    _newer(data / FILE_NAME)

    done = restore(data, backup)

    assert texts(data / FILE_NAME) == ["I like tea"]
    assert done.safety_copy is not None
    with closing(sqlite3.connect(done.safety_copy)) as kept:
        assert kept.execute("PRAGMA user_version").fetchone() == (VERSION + 1,)


def test_the_database_of_another_program_is_not_replaced(backup: Path, data: Path) -> None:
    (data / FILE_NAME).unlink()
    _foreign(data / FILE_NAME)
    before = (data / FILE_NAME).read_bytes()

    with pytest.raises(PersonError, match="is the database of another program; nothing was changed"):
        restore(data, backup)

    assert (data / FILE_NAME).read_bytes() == before


def test_a_database_in_use_is_a_backup_too(backup: Path, data: Path, tmp_path: Path) -> None:
    with closing(Database(data / FILE_NAME)) as running:
        MemoryStore(running).add("I like jam", MINE)
        for path in data.glob(f"{FILE_NAME}*"):
            shutil.copy(path, tmp_path / path.name)

        restore(tmp_path / "elsewhere", tmp_path / FILE_NAME)

    assert texts(tmp_path / "elsewhere" / FILE_NAME) == ["I like tea", "I like milk", "I like jam"]
