"""Turns that are cancelled by another process than the one that runs them."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import sestet
from sestet.core.event import Event, TurnCancelled
from tests.detached.test_turns import HangingModel, opened

#: Another process with a turn whose model never answers.
_TALK = """
import asyncio, sys
import sestet
from tests.detached.test_turns import HangingModel

async def main():
    settings = {"embedding": {"provider": "none"}, "observationalMemory": {"enabled": False}}
    async with sestet.open(settings, model=HangingModel(), home=sys.argv[1]) as app:
        async for event in app.run_turn("s1", "hi"):
            print(event.kind, flush=True)

asyncio.run(main())
"""


def _talk(home: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", _TALK, str(home)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    assert process.stdout
    assert process.stdout.readline().strip() == "turn_started"
    return process


async def test_a_turn_of_another_process_is_cancelled(tmp_path: Path) -> None:
    process = await asyncio.to_thread(_talk, tmp_path)
    async with opened(tmp_path) as host:
        (row,) = host.app.journal.open_turns()
        assert await host.turns.cancel(row.id) == "cancelled"
        assert host.turns.state(row.id) == "cancelled"
        assert await host.turns.cancel(row.id) == "ended"
    told, _ = await asyncio.to_thread(process.communicate, timeout=30)
    assert told.split()[-1] == "turn_cancelled"


async def test_a_turn_whose_process_was_killed_is_cancelled(tmp_path: Path) -> None:
    process = await asyncio.to_thread(_talk, tmp_path)
    process.send_signal(signal.SIGKILL)
    await asyncio.to_thread(process.communicate)
    async with opened(tmp_path) as host:
        (row,) = host.app.journal.open_turns()
        assert await host.turns.cancel(row.id) == "cancelled"


async def test_a_request_outlives_the_process_that_should_have_seen_it(tmp_path: Path) -> None:
    process = await asyncio.to_thread(_talk, tmp_path)
    process.send_signal(signal.SIGSTOP)
    async with opened(tmp_path) as host:
        (row,) = host.app.journal.open_turns()
        host.app.journal.stop_requests.add(row.id)
    process.kill()
    await asyncio.to_thread(process.communicate)
    seen: list[Event] = []
    settings = {"embedding": {"provider": "none"}, "observationalMemory": {"enabled": False}}
    async with sestet.open(settings, model=HangingModel(), home=tmp_path) as app:
        seen += [event async for event in app.resume_turn(row.id)]
        assert isinstance(seen[-1], TurnCancelled)
        app.journal.stop_requests.add(row.id)
        assert app.journal.stop_requests.all() == frozenset()


async def test_a_turn_that_does_not_stop_is_asked_to(tmp_path: Path) -> None:
    process = await asyncio.to_thread(_talk, tmp_path)
    process.send_signal(signal.SIGSTOP)
    try:
        async with opened(tmp_path) as host:
            (row,) = host.app.journal.open_turns()
            assert await host.turns.cancel(row.id) == "asked"
            assert host.turns.state(row.id) == "running"
            process.send_signal(signal.SIGCONT)
            told, _ = await asyncio.to_thread(process.communicate, timeout=30)
            assert told.split()[-1] == "turn_cancelled"
    finally:
        process.kill()
        process.communicate()
