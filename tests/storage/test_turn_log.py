"""The storage of turns behind its protocols."""

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from sestet.core.errors import BusyError
from sestet.core.event import Stamp, TurnStarted
from sestet.storage.approvals import ApprovalStore, Basis
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from sestet.storage.turn_log import Approvals, JournalLog, StoredApprovals, TurnLog

Result = TypeVar("Result")
STARTED = TurnStarted(Stamp("s1", "t1", 1, "user", "", 1.0), "hi")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    database = Database(tmp_path / "sestet.db")
    yield Journal(database)
    database.close()


def _goes_on_at_once(step: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that must not suspend: it ends in its first step."""
    with pytest.raises(StopIteration) as ended:
        step.send(None)
    return cast("Result", ended.value.value)


async def test_sqlite_never_suspends_a_turn(journal: Journal) -> None:
    log: TurnLog = JournalLog(journal)
    approvals: Approvals = StoredApprovals(ApprovalStore(journal._database, journal))  # pyright: ignore[reportPrivateUsage] - its file

    _goes_on_at_once(log.append(STARTED))
    assert _goes_on_at_once(log.next_turn("s1")) == (2, 0)
    assert _goes_on_at_once(log.past_of("t1")) == (STARTED,)
    found = _goes_on_at_once(log.find("t1"))
    assert found == journal.turn("t1")
    assert _goes_on_at_once(log.find("t2")) is None
    assert _goes_on_at_once(log.last_seq("t1")) == 1
    assert _goes_on_at_once(log.last_forgetting()) == 0
    before = _goes_on_at_once(log.events_before("s1", ("turn_started",), 5, 2))
    assert list(before) == [STARTED]
    assert _goes_on_at_once(log.flushed()) is None
    assert _goes_on_at_once(approvals.get("q1")) is None
    basis = Basis({}, "risk", False, False)
    assert _goes_on_at_once(approvals.is_granted("s1", "operator", "fs_list", basis)) is False


async def test_a_patient_write_waits_for_another_process_and_an_impatient_one_does_not(
    journal: Journal, tmp_path: Path
) -> None:
    other = Database(tmp_path / "sestet.db")
    log = JournalLog(journal)
    other.connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError):
        await log.append(STARTED)
    waiting = asyncio.create_task(log.append(STARTED, patient=True))
    await asyncio.sleep(0)
    other.connection.execute("COMMIT")
    await waiting

    assert journal.turn("t1") is not None
    other.close()
