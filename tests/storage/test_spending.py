"""The sums of what model calls have used: always those of the journal, and kept for good."""

import json
import math
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sestet.core.event import ModelCalled, Stamp, TextStreamed, TurnStarted
from sestet.core.message import ToolCall
from sestet.core.model import Usage
from sestet.storage import spending as spending_module
from sestet.storage.database import Database
from sestet.storage.event_redaction import EventRedaction
from sestet.storage.journal import Journal
from sestet.storage.migrations import MIGRATIONS
from sestet.storage.session_rows import SessionRows
from sestet.storage.spending import Period, SpendingStore, Spent

NOON = 1_780_315_200.0  # noon of 2026-06-01 in UTC
BEFORE = 14


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "sestet.db")
    yield opened
    opened.close()


def called(
    seq: int,
    usage: Usage,
    *,
    at: float = NOON,
    author: str = "operator",
    model: str = "acme/big",
    estimated: int = 0,
    free: bool = False,
) -> ModelCalled:
    return ModelCalled(Stamp("s1", "t1", seq, author, "", at), model, "", (), usage, 1.0, 0, estimated, free)


def begin(journal: Journal) -> None:
    journal.append(TurnStarted(Stamp("s1", "t1", 1, "user", "", NOON), "hello"))


def test_each_call_is_added_to_the_sums_of_its_day_session_agent_and_model(database: Database) -> None:
    journal, spending = Journal(database), SpendingStore(database)
    begin(journal)
    next_day = NOON + 86_400
    journal.append(
        called(2, Usage(100, 10, 5_000, 40)),
        called(3, Usage(200, 20, 6_000)),
        called(4, Usage(1, 1, 7_000), at=next_day, author="planner", model="acme/small"),
    )

    assert spending.total() == Spent(3, 301, 31, 40, 0, 0, 18_000)
    names = {
        by: [each.name for each in spending.by(by)] for by in ("session", "agent", "model", "day", "month")
    }
    assert names == {
        "session": ["s1"],
        "agent": ["operator", "planner"],
        "model": ["acme/big", "acme/small"],
        "day": ["2026-06-01", "2026-06-02"],
        "month": ["2026-06"],
    }
    assert spending.by("day")[0].spent == Spent(2, 300, 30, 40, 0, 0, 11_000)
    assert spending.total(Period("2026-06-02", "2026-06-02")).nano_dollars == 7_000


def test_a_call_without_a_price_is_counted_apart_and_a_free_one_is_not(database: Database) -> None:
    journal, spending = Journal(database), SpendingStore(database)
    begin(journal)
    journal.append(
        called(2, Usage(100, 10), model="acme/new"),
        called(3, Usage(), model="acme/silent", estimated=70),
        called(4, Usage(500, 50), model="local/tiny", free=True),
        called(5, Usage(), model="offline", estimated=999, free=True),
    )

    missing = [(each.name, each.spent.unpriced_tokens) for each in spending.without_price()]

    assert missing == [("acme/new", 110), ("acme/silent", 70)]
    assert [each.name for each in spending.by("model")] == ["acme/new", "acme/silent", "local/tiny"]
    assert spending.total().estimated_tokens == 70


def test_an_event_that_is_not_written_is_not_counted(database: Database) -> None:
    journal = Journal(database)
    begin(journal)

    assert not journal.append(called(2, Usage(9, 9, 9)), together_with=lambda: False)

    assert SpendingStore(database).total() == Spent()


def test_background_work_is_in_the_total_and_belongs_to_no_session(database: Database) -> None:
    journal, spending = Journal(database), SpendingStore(database)
    begin(journal)
    journal.append(called(2, Usage(100, 10, 5_000)))
    spending.add_work("observe", "acme/big", Usage(30, 3, 400), NOON)

    assert spending.total().nano_dollars == 5_400
    assert spending.total(background=True) == Spent(1, 30, 3, nano_dollars=400)
    assert [(each.name, each.work) for each in spending.by("session")] == [("", "observe"), ("s1", "turn")]
    assert [each.spent.nano_dollars for each in spending.by("model")] == [5_400]


def test_a_session_that_goes_leaves_its_money_without_its_name(database: Database) -> None:
    journal, spending = Journal(database), SpendingStore(database)
    begin(journal)
    journal.append(called(2, Usage(100, 10, 5_000)))
    before = spending.total()

    for _ in range(2):
        spending.leave_session("s1")
        spending.leave_session("")

    assert spending.total() == before
    assert [(each.name, each.work) for each in spending.by("session")] == [("", "turn")]


def test_a_call_whose_arguments_hold_no_json_number_is_counted(database: Database) -> None:
    journal = Journal(database)
    begin(journal)
    odd = ToolCall("fs_list", {"depth": math.nan, "path": "\ud800"})
    journal.append(
        ModelCalled(Stamp("s1", "t1", 2, "operator", "", NOON), "acme/big", "", (odd,), Usage(9, 1, 700), 1.0)
    )

    assert SpendingStore(database).total() == Spent(1, 9, 1, nano_dollars=700)


def test_a_damaged_call_keeps_no_other_call_from_being_counted(database: Database) -> None:
    journal = Journal(database)
    begin(journal)
    journal.append(called(2, Usage(1, 1, 10)), called(3, Usage(1, 1, 20)), called(4, Usage(2**80, -5, 30)))
    database.execute("UPDATE events SET data = '{no json' WHERE seq = 2")
    database.execute("UPDATE spending_mark SET event_id = 0")
    database.execute("DELETE FROM spending")

    journal.append(*(called(seq, Usage(1, 1, 1)) for seq in range(5, 305)))

    assert SpendingStore(database).total().nano_dollars == 350


def test_a_report_contains_the_calls_of_a_moment_ago_while_another_process_writes(tmp_path: Path) -> None:
    mine, other = Database(tmp_path / "sestet.db"), Database(tmp_path / "sestet.db")
    journal = Journal(mine)
    begin(journal)
    journal.append(called(2, Usage(1, 1, 10)))
    journal.append(called(3, Usage(1, 1, 20)))
    with other.transaction():
        other.execute("DELETE FROM grants")

        assert SpendingStore(mine).total().nano_dollars == 30

    mine.close()
    other.close()


class Processes:
    """Two processes on one file, with the calls that a report must contain."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._databases = [Database(path), Database(path)]
        self._journals = [Journal(each) for each in self._databases]
        self._seq: dict[str, int] = {}
        #: By session, agent, and what is counted: calls or dollars.
        self.expected: Counter[tuple[str, str, str]] = Counter()

    def call(self, process: int, name: str, *, dies: bool = False) -> None:
        journal = self._journals[process]
        if name not in self._seq:
            journal.append(TurnStarted(Stamp(name, name, 1, "user", "", NOON), "hello"))
            self._seq[name] = 1
        self._seq[name] += 1
        seq, agent = self._seq[name], ("operator", "planner")[process]
        stamp = Stamp(name, name, seq, agent, "", NOON)
        event = ModelCalled(stamp, "acme/big", "hi", (), Usage(1, 1, 2**seq), 1.0)
        if dies:
            # Nothing of the transaction is left, and a new process takes over.
            self._databases[process].execute("BEGIN IMMEDIATE")
            journal.append_inside([event])
            self._databases[process].close()
            self._databases[process] = Database(self._path)
            self._journals[process] = Journal(self._databases[process])
            return
        journal.append(event)
        self.expected += Counter({(name, agent, "calls"): 1, (name, agent, "dollars"): 2**seq})

    def stream(self, process: int, name: str) -> None:
        """A piece of text, whose row goes when the whole reply comes."""
        if name in self._seq:
            self._seq[name] += 1
            stamp = Stamp(name, name, self._seq[name], ("operator", "planner")[process], "", NOON)
            self._journals[process].append(TextStreamed(stamp, "hi"))

    def delete(self, process: int, name: str) -> None:
        database = self._databases[process]
        with database.transaction():
            SessionRows(database, name).delete()
        self._seq.pop(name, None)
        for (owner, agent, what), number in list(self.expected.items()):
            if owner == name:
                del self.expected[owner, agent, what]
                self.expected["", agent, what] += number

    def forget(self, process: int, name: str) -> None:
        with self._databases[process].transaction():
            EventRedaction(self._databases[process]).blank_turn(name)

    def vacuum(self, process: int, name: str) -> None:
        self._databases[process].wipe_deleted()

    def found(self, process: int) -> Counter[tuple[str, str, str]]:
        found: Counter[tuple[str, str, str]] = Counter()
        for row in SpendingStore(self._databases[process]).rows():
            found[row.session, row.agent, "calls"] += row.spent.calls
            found[row.session, row.agent, "dollars"] += row.spent.nano_dollars
        return found

    def close(self) -> None:
        for database in self._databases:
            database.close()


ACTS = st.tuples(
    st.sampled_from(["call", "call", "call", "die", "stream", "delete", "forget", "vacuum"]),
    st.integers(0, 1),
    st.sampled_from(["s1", "s2", "s3"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(ACTS, max_size=25), at_once=st.integers(0, 4))
def test_the_sums_are_those_of_all_calls_whatever_happens(
    acts: list[tuple[str, int, str]],
    at_once: int,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spending_module, "_CALLS_AT_ONCE", at_once)
    processes = Processes(tmp_path_factory.mktemp("home") / "sestet.db")
    for act, process, session in acts:
        if act in ("call", "die"):
            processes.call(process, session, dies=act == "die")
        else:
            getattr(processes, act)(process, session)

        assert processes.found(1 - process) == processes.expected
    processes.close()


def test_an_older_file_is_filled_from_its_journal_once(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path, isolation_level=None)
    for script in MIGRATIONS[:BEFORE]:
        connection.executescript(script)
    connection.execute(f"PRAGMA user_version = {BEFORE}")
    connection.execute("INSERT INTO sessions VALUES ('s1', 'x', 1, 1)")
    connection.execute("INSERT INTO turns VALUES ('t1', 's1', 1, 'finished')")
    priced = {"model": "acme/big", "usage": {"input_tokens": 10, "output_tokens": 2, "nano_dollars": 50}}
    unpriced = {"model": "acme/new", "usage": {"input_tokens": 7, "output_tokens": 1, "nano_dollars": 0}}
    built_in = {"model": "offline", "usage": {"input_tokens": 0}, "estimated_tokens": 80}
    odd = {"model": None, "usage": {"input_tokens": -5, "output_tokens": 1e30}}
    texts = [json.dumps(each) for each in (priced, priced, unpriced, built_in, odd)]
    for seq, data in enumerate([*texts, "{no json"]):
        connection.execute(
            "INSERT INTO events VALUES ('t1', ?, 'model_called', 'operator', '', ?, ?)", (seq, NOON, data)
        )
    connection.execute(
        "INSERT INTO memory_work VALUES (NULL, 'reflect', 'acme/big', 1, 5, 1, 9, ?, '')", (NOON,)
    )
    connection.close()

    for _ in range(2):
        database = Database(path)
        sums = {each.name: each.spent for each in SpendingStore(database).by("model")}
        background = SpendingStore(database).total(background=True)
        database.close()
        assert sums["acme/big"] == Spent(3, 25, 5, nano_dollars=109)
        assert sums["acme/new"].unpriced_tokens == 8
        assert "offline" not in sums
        assert background.nano_dollars == 9
