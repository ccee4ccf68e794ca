"""Conversations that send a form, whose processes are killed: ``python -m tests.faults.surfers PLAN``.

PLAN is a file with a ``Plan`` as JSON. Every run is one conversation that opens a page, fills in its form and
sends it once. Sestet or Chromium dies at a random point; another process resumes the turn.
"""

import asyncio
import gc
import os
import random
import signal
import sys
import traceback
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import msgspec

import sestet
from sestet.core.event import Event, TurnPaused
from sestet.core.message import ToolCall, ToolMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest
from sestet.services.browser.connection import Connection
from sestet.services.browser.processes import all_processes
from tests.faults.watched import When, is_event, watched_connections

#: A run passes about this many points, from the person's message to the reply.
POINTS = 130
#: After this many deaths, a run is left alone.
MOST_DEATHS = 2
#: How often a conversation begins again, after its pages were lost.
MOST_BEGINNINGS = 4


class Plan(msgspec.Struct, frozen=True):
    home: str
    site: str
    seed: int
    runs: int


class Outcome(NamedTuple):
    #: How often Sestet and Chromium were killed.
    deaths: int
    broken: list[int]


class Points:
    """Counts the points where Sestet or its Chromium may die, and kills at one of them."""

    def __init__(self, kill_at: int, kills_browser: bool) -> None:
        self._kill_at = kill_at
        self._kills_browser = kills_browser
        self._passed = 0

    def passing(self) -> None:
        self._passed += 1
        if self._passed < self._kill_at or not self._kill_at:
            return
        if not self._kills_browser:
            os.kill(os.getpid(), signal.SIGKILL)
        # Chromium may not run yet: then it dies at a later point.
        killed = [_kill(pid) for pid in children()]
        if any(killed):
            self._kill_at = 0

    def watch(self, when: When, sql: str, parameters: Sequence[object]) -> None:
        if is_event(sql) or (sql == "COMMIT" and when == "after"):
            self.passing()


def _kill(pid: int) -> bool:
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def children() -> list[int]:
    """The processes that this one has started: the launcher, which becomes Chromium."""
    found: list[int] = []
    for pid in all_processes():
        with suppress(OSError, IndexError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.append(pid)
    return found


class FormModel:
    """Opens the page, fills in the form and sends it; begins again if the page is gone. Never sends twice."""

    name = "form"

    def __init__(self, plan: Plan, run: int) -> None:
        self._site = plan.site
        self._run = run

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        told = [message for message in request.messages if isinstance(message, ToolMessage)]
        beginnings = sum(message.name == "browser_navigate" for message in told)
        last = told[-1] if told else None
        if last is None or (last.failed and last.name != "browser_submit" and beginnings < MOST_BEGINNINGS):
            url = f"http://{self._site}/form?run={self._run}"
            yield ModelReply(calls=(ToolCall("browser_navigate", {"url": url}),))
        elif last.name == "browser_navigate" and not last.failed:
            fields = {"Text": f"run {self._run}"}
            yield ModelReply(calls=(ToolCall("browser_fill", {"site": self._site, "fields": fields}),))
        elif last.name == "browser_fill" and not last.failed:
            yield ModelReply(calls=(ToolCall("browser_submit", {"site": self._site, "target": "Send"}),))
        else:
            yield ModelReply("Done.")

    async def close(self) -> None:
        pass


async def live(plan: Plan, run: int) -> None:
    """Begin or resume the turn of a run, and approve what it asks."""
    session_id = f"run-{run}"
    settings = {
        "agent": {"multiAgent": False},
        "browser": {"allow": [plan.site]},
        "embedding": {"provider": "none"},
        "observationalMemory": {"enabled": False},
    }
    async with sestet.open(settings, home=plan.home, model=FormModel(plan, run)) as app:
        mine = [turn for turn in app.journal.open_turns() if turn.session_id == session_id]
        if mine:
            last = await read(app.resume_turn(mine[0].id))
        elif not list(app.journal.session_events(session_id, ["turn_started"], 1)):
            last = await read(app.run_turn(session_id, f"send the form at http://{plan.site}/form?run={run}"))
        else:
            return
        while isinstance(last, TurnPaused):
            for question in app.approvals.pending(last.stamp.turn_id):
                app.decide(question.id, "approve")
            last = await read(app.resume_turn(last.stamp.turn_id))


async def read(events: AsyncGenerator[Event]) -> Event:
    last = None
    async for event in events:
        last = event
    assert last is not None
    return last


def child(plan: Plan, run: int, attempt: int) -> int:
    """What one process does; it may not live to the end."""
    dice = random.Random(f"{plan.seed} {run} {attempt}")
    kill_at = dice.randint(1, POINTS) if attempt < MOST_DEATHS else 0
    points = Points(kill_at, dice.random() < 0.4)
    write = Connection._write  # pyright: ignore[reportPrivateUsage] - every message of ours is a point

    def watched(
        self: Connection, number: int, method: str, params: Mapping[str, object], session: str
    ) -> None:
        points.passing()
        write(self, number, method, params, session)

    try:
        with watched_connections(points.watch), patch.object(Connection, "_write", watched):
            asyncio.run(asyncio.wait_for(live(plan, run), 240))
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def let_all_surf(plan: Plan) -> Outcome:
    """Start a process for each run, two at once, and another one for each that died."""
    waiting, running = deque((run, 0) for run in range(plan.runs)), dict[int, tuple[int, int]]()
    deaths, broken = 0, list[int]()
    gc.freeze()
    while waiting or running:
        while waiting and len(running) < 2:
            run, attempt = waiting.popleft()
            # This process has imported everything and has no other thread, so a fork is a cheap new process.
            if not (process := os.fork()):
                os._exit(child(plan, run, attempt))
            running[process] = (run, attempt)
        process, status = os.wait()
        run, attempt = running.pop(process)
        if os.WIFSIGNALED(status):
            deaths += 1
            waiting.append((run, attempt + 1))
        elif os.WEXITSTATUS(status):
            broken.append(run)
    # The next start removes what the last deaths have left.
    asyncio.run(live(plan, plan.runs))
    return Outcome(deaths, broken)


def main() -> None:
    plan = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Plan)
    print(msgspec.json.encode(let_all_surf(plan)).decode())


if __name__ == "__main__":
    main()
