"""``python -m bench.forgetting``: how long others wait to write while one process forgets in a large file."""

import argparse
import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sestet.core.label import CLEAN, Origin
from sestet.core.model import Usage
from sestet.core.record import as_builtins
from sestet.services.forgetting import Forgetting
from sestet.services.session_deletion import SessionDeletion
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.journal import Journal
from sestet.storage.memories import MemoryStore
from sestet.storage.session_search import SessionSearch

FACT = "my wifi code is zanzibar7731"
_EVENTS_EACH = 10
_TURNS_EACH = 100
#: Every this many turns, the words are said again.
_SAID_EVERY = 500
#: Characters of a tool's result, in most events.
_LENGTH = 900
_PAUSE = 0.02

#: Another process, which writes like a turn. At the end it prints its longest wait in milliseconds.
_WRITER = """
import sqlite3, sys, threading, time
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
connection = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
connection.execute("PRAGMA synchronous = NORMAL")
longest, number = 0.0, 0
print("ready", flush=True)
while not ended.wait(float(sys.argv[2])):
    number, since = number + 1, time.perf_counter()
    connection.execute("INSERT INTO memory_work VALUES (NULL, 'observe', 'rules', 0, 0, 0, 0, 0.0, '', 0)")
    longest = max(longest, time.perf_counter() - since)
print(round(longest * 1000, 1))
"""


def fill(database: Database, events: int, said_every: int = _SAID_EVERY) -> None:
    """A journal of many turns; one in ``said_every`` says the words."""
    turns = events // _EVENTS_EACH
    with database.transaction():
        database.execute(
            """WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < ?)
               INSERT INTO sessions SELECT 's' || n, 'a session', n, n FROM n""",
            (-(-turns // _TURNS_EACH),),
        )
        database.execute(
            """WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < ?)
               INSERT INTO turns SELECT printf('t%08d', n), 's' || (n / ?), n % ? + 1, 'finished' FROM n""",
            (turns, _TURNS_EACH, _TURNS_EACH),
        )
        database.execute_many(
            """INSERT INTO events (turn_id, seq, kind, author, delegation_id, at, data)
               VALUES (?, ?, ?, 'orchestrator', '', 1.0, ?)""",
            (
                (f"t{turn:08}", seq, *_event(turn, seq, said_every))
                for turn in range(turns)
                for seq in range(1, _EVENTS_EACH + 1)
            ),
        )
        # As after the model calls of these turns.
        database.execute("INSERT OR REPLACE INTO spending_mark SELECT 1, max(id) FROM events")
        MemoryStore(database).add(FACT, Origin("s0", "t00000000", CLEAN))


def _event(turn: int, seq: int, said_every: int) -> tuple[str, str]:
    words = FACT if turn % said_every == 0 else f"lorem{turn % 997} ipsum{seq}"
    if seq == 1:
        return "turn_started", json.dumps({"text": f"Hello, {words}", "mine": True})
    if seq == _EVENTS_EACH:
        facts = {"usage": as_builtins(Usage()), "milliseconds": 1.0, "label": as_builtins(CLEAN)}
        return "turn_finished", json.dumps({"text": f"Noted: {words}", **facts})
    if seq == 2:
        return "memory_recalled", json.dumps({"text": f"- m{turn + 2} {words}", "ids": [f"m{turn + 2}"]})
    text = (f"{words} dolor{turn * seq % 9973} " * 60)[:_LENGTH]
    return "tool_finished", json.dumps({"text": text, "outcome": "done", "citations": []})


class Waits:
    """Another process that writes all the time."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path), str(_PAUSE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        self._process.stdout.readline()

    def longest_ms(self) -> float:
        told, _ = self._process.communicate("", timeout=120)
        return float(told)


def _forget(path: Path, work: Callable[[Database], object]) -> dict[str, object]:
    """Do the work on a copy of the file."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        copy = Path(folder) / FILE_NAME
        source, target = sqlite3.connect(path), sqlite3.connect(copy)
        source.backup(target)
        source.close()
        target.close()
        database = Database(copy)
        waits, since = Waits(copy), time.perf_counter()
        work(database)
        parted = time.perf_counter()
        wipe = Forgetting(database).wipe()
        ended = time.perf_counter()
        longest = waits.longest_ms()
        alone = time.perf_counter()
        last = Forgetting(database).wipe()
        figures: dict[str, object] = {
            "longest_wait_ms": longest,
            "rows_s": round(parted - since, 2),
            "wipe_s": round(ended - parted, 2),
            "wipe": wipe,
            "wipe_alone_s": round(time.perf_counter() - alone, 2),
            "wipe_alone": last,
        }
        database.close()
        return figures


def _delete_session(database: Database) -> None:
    row = Journal(database).session("s1")
    assert row
    asyncio.run(SessionDeletion(database).delete(row, with_memories=True))


WORK: dict[str, Callable[[Database], object]] = {
    "forget": lambda database: Forgetting(database).forget("m1"),
    "forget --everywhere": lambda database: Forgetting(database).forget("m1", everywhere=True),
    "sessions delete": _delete_session,
}


def measure(events: int, folder: Path) -> dict[str, object]:
    path = folder / FILE_NAME
    if not path.exists():
        database = Database(path)
        fill(database, events)
        SessionSearch(database).search("lorem", 1)
        database.close()
    found: dict[str, object] = {"megabytes": round(path.stat().st_size / 1e6)}
    return found | {name: _forget(path, work) for name, work in WORK.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.forgetting", description=__doc__)
    parser.add_argument("--events", type=int, default=300_000, metavar="N", help="default: 300,000")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="keep the filled file here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(measure(options.events, options.folder or Path(scratch)), indent=2))


if __name__ == "__main__":
    main()
