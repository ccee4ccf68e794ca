"""Many sessions at once, and several processes on one file: no turn fails, and sessions stay apart."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import pytest

from sestet.core.event import Event, TurnFinished, TurnStarted
from sestet.core.message import UserMessage
from sestet.core.model import ModelRequest
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.journal import Journal
from tests.faults.crowd import PROCESSES, SESSIONS
from tests.faults.opened import Home, read_all
from tests.faults.plan import ALL_DONE, PlanModel

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MANY = 1000
AT_ONCE = 200
TURNS = 3


async def test_a_thousand_sessions_in_one_process_keep_their_conversations_apart(tmp_path: Path) -> None:
    shown: dict[str, list[str]] = {}

    def remember(request: ModelRequest) -> None:
        words = [message.text for message in request.messages if isinstance(message, UserMessage)]
        if request.agent == "orchestrator":
            shown[words[-1]] = words

    home = Home(tmp_path, model=PlanModel(remember))
    places = asyncio.Semaphore(AT_ONCE)
    async with home.open() as app:

        async def talk(number: int) -> list[Event]:
            async with places:
                first = await read_all(app.run_turn(f"s{number}", f"operator: fs_pure {number}"))
                return [*first, *await read_all(app.run_turn(f"s{number}", f"again {number}"))]

        async with asyncio.timeout(100):
            talks = await asyncio.gather(*(talk(number) for number in range(MANY)))
        stored = app.journal.sessions(MANY + 1)

    for number, events in enumerate(talks):
        replies = [event.text for event in events if isinstance(event, TurnFinished)]
        assert replies == [ALL_DONE, f"You said again {number}."]
        assert {event.stamp.session_id for event in events} == {f"s{number}"}
        assert shown[f"again {number}"] == [f"operator: fs_pure {number}", f"again {number}"]
    assert Counter(row.turns for row in stored) == {2: MANY}
    assert len(home.effects.of("fs_pure")) == MANY


def test_two_processes_in_the_same_sessions_take_turns(tmp_path: Path) -> None:
    names = [f"process {number}" for number in range(PROCESSES)]
    with ExitStack() as stack:
        processes = [stack.enter_context(start(tmp_path, name)) for name in names]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in processes:
            _, errors = process.communicate(timeout=90)
            assert process.returncode == 0, errors
    reports = [json.loads((tmp_path / f"{name}.json").read_text()) for name in names]

    assert [report["problems"] for report in reports] == [[]] * PROCESSES
    check_order(tmp_path)
    # In turn n both root calls see n messages, no matter which process ran the earlier turns.
    seen = Counter(count for report in reports for count in report["seen"])
    assert seen == {number: 2 * len(SESSIONS) for number in range(1, PROCESSES * TURNS + 1)}


def start(home: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.faults.crowd", str(home), name, str(TURNS)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def check_order(home: Path) -> None:
    database = Database(home / FILE_NAME)
    journal = Journal(database)
    for session_id in SESSIONS:
        started = list(journal.session_events(session_id, [TurnStarted.kind], 100))
        turns = [journal.turn(event.stamp.turn_id) for event in started]
        assert [turn.number for turn in turns if turn] == list(range(1, PROCESSES * TURNS + 1))
        spans = [span(list(journal.events_of(event.stamp.turn_id))) for event in started]
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans)), "one turn after the other"
    database.close()


def span(events: Sequence[Event]) -> tuple[float, float]:
    times = [event.stamp.at for event in events]
    return min(times), max(times)
