"""SIGKILL in the middle of a backup or a restore: the old state or the new one, never half of either."""

import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sestet.core.label import CLEAN, Origin
from sestet.services.backup import back_up
from sestet.storage.damage import find_damage
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.memories import MemoryStore
from tests.services.test_backup import fill, texts

pytestmark = pytest.mark.slow

#: Copies a few pages at a time, and dies after the n-th time.
VICTIM = """
import os, signal, sys
from pathlib import Path
from sestet.services.backup import back_up
from sestet.services.restoring import open_restore
from sestet.storage import copying

what, data, file, last = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
copy, steps = copying._copy, 0

def copy_and_count(source, target, pages_at_once, watch):
    def look(done, total):
        global steps
        watch(done, total)
        steps += 1
        if steps == last:
            os.kill(os.getpid(), signal.SIGKILL)
    copy(source, target, 9, look)

copying._copy = copy_and_count
if what == "backup":
    back_up(data, file, replace=True)
else:
    with open_restore(data, file) as ready:
        ready.install()
"""
MOST_STEPS = 500
#: Replaces a database that SQLite cannot read, and dies before the n-th time that it opens, links, renames or
#: removes a file of the data directory.
UNREADABLE_VICTIM = """
import os, signal, sys
from pathlib import Path
from sestet.services.restoring import open_restore

data, file, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
steps = 0

def count(event, given):
    global steps
    if event in ("open", "os.link", "os.rename", "os.remove") and str(data) in str(given[0]):
        steps += 1
        if steps == last:
            os.kill(os.getpid(), signal.SIGKILL)

with open_restore(data, file) as ready:
    sys.addaudithook(count)
    ready.install()
"""
UNREADABLE = {"": b"no database at all" * 999, "-wal": b"the log of the last words" * 99}


def is_killed(what: str, data: Path, file: Path, last: int) -> bool:
    return _is_killed(VICTIM, what, str(data), str(file), str(last))


def _is_killed(code: str, *arguments: str) -> bool:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def check(file: Path, *expected: list[str]) -> list[str]:
    """The memories of a sound file, which are as expected."""
    with closing(Database(file)) as database:
        assert find_damage(database) == ""
    found = texts(file)
    assert found in expected
    return found


def test_a_killed_restore_leaves_the_old_data_or_the_new(tmp_path: Path) -> None:
    data, file = fill(tmp_path / "data", "I like tea"), tmp_path / "copy.db"
    back_up(fill(tmp_path / "other", "I like milk"), file)
    outcomes: list[str] = []
    for last in range(1, MOST_STEPS, 3):
        killed = is_killed("restore", data, file, last)
        outcomes += check(data / FILE_NAME, ["I like tea"], ["I like milk"])
        if outcomes[-1] == "I like milk":
            # The data from before is there in every case.
            assert ["I like tea"] in [texts(path) for path in data.glob("sestet-before-restore-*.db")]
            break
        assert killed
    assert len(outcomes) > 5


def test_a_killed_restore_can_be_repeated_while_another_process_goes_on(tmp_path: Path) -> None:
    data, file = fill(tmp_path / "data", "I like tea"), tmp_path / "copy.db"
    back_up(data, file)
    with closing(Database(data / FILE_NAME)) as running:
        memories = MemoryStore(running)
        for last in (12, 25):
            memories.add("I like milk", Origin("", "", CLEAN))
            assert is_killed("restore", data, file, last)
        assert not is_killed("restore", data, file, MOST_STEPS)
        memories.add("I like jam", Origin("", "", CLEAN))
    check(data / FILE_NAME, ["I like tea", "I like jam"])


def test_a_killed_backup_never_has_its_name(tmp_path: Path) -> None:
    data, file = fill(tmp_path / "data", "I like tea"), tmp_path / "copy.db"
    back_up(fill(tmp_path / "other", "I like milk"), file)
    for last in range(1, MOST_STEPS, 3):
        killed = is_killed("backup", data, file, last)
        check(file, ["I like milk"] if killed else ["I like tea"])
        if not killed:
            break


def holds(file: Path, contents: dict[str, bytes]) -> bool:
    """Whether a file and the logs beside it hold just these bytes."""
    paths = {ending: file.with_name(file.name + ending) for ending in ("", "-journal", "-wal")}
    return {ending: path.read_bytes() for ending, path in paths.items() if path.exists()} == contents


def test_a_killed_restore_never_loses_an_unreadable_database(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "copy.db"
    live = data / FILE_NAME
    back_up(fill(tmp_path / "other", "I like milk"), file)
    data.mkdir()
    ends: set[str] = set()
    for last in range(1, MOST_STEPS):
        for left in data.iterdir():
            left.unlink()
        for ending, content in UNREADABLE.items():
            live.with_name(live.name + ending).write_bytes(content)

        killed = _is_killed(UNREADABLE_VICTIM, str(data), str(file), str(last))

        kept = [path for path in data.glob("sestet-before-restore-*.db") if holds(path, UNREADABLE)]
        if live.read_bytes() == UNREADABLE[""]:
            assert killed
            # The log goes before the file is replaced: it is there still, or in the copy.
            assert kept or holds(live, UNREADABLE)
            ends.add("copied" if kept else "old")
            assert not _is_killed(UNREADABLE_VICTIM, str(data), str(file), "0")
        else:
            assert kept
            ends.add("new")
        check(live, ["I like milk"])
        if not killed:
            break
    assert ends == {"old", "copied", "new"}
