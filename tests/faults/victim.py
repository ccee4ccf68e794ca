"""The program that is killed: ``python -m tests.faults.victim HOME [--kill-at N] [--linger SECONDS]``.

It runs one turn to its end, whatever an earlier process left of it: it begins or resumes the turn and
approves every question. In HOME it records the effects of its tools, every model call, every delivered event
and every point at which it could have been killed. With ``--routed`` code sends the turn to its specialist.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import sestet
from sestet.core.event import Event, TurnPaused
from sestet.core.message import ToolMessage
from sestet.core.model import ModelRequest
from sestet.models.choice import Models
from tests.faults.effects import Effects, effect_tools
from tests.faults.plan import PlanModel, replies_so_far
from tests.faults.watched import When, is_event, watched_connections

SESSION = "s1"
#: Two parallel delegations, a tool of each recovery class, one that needs approval, and a nudge.
PLAN = (
    "operator: fs_pure a, fs_keyed b, exec_unsafe c, silence"
    " | vault: crypto_probe d, crypto_guarded e, exec_unsafe nothing"
    " then operator: exec_unsafe f, fs_guarded g"
)
#: One specialist that gives up at the end, so that the orchestrator has to answer.
ROUTED = "fs_pure a, fs_keyed b, exec_unsafe c, fs_guarded g, silence, silence"
EFFECTS, MODEL_CALLS, SHOWN, POINTS = "effects.txt", "model_calls.jsonl", "shown.jsonl", "points.txt"


class Points:
    """Counts the points where a process may die, and dies at one of them."""

    def __init__(self, home: Path, kill_at: int, linger: float) -> None:
        self._file = home / POINTS
        self._kill_at = kill_at
        self._linger = linger
        self._passed = 0

    def passing(self, where: str) -> None:
        self._passed += 1
        append(self._file, where)
        if self._passed == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self._linger)

    def watch(self, when: When, sql: str, parameters: Sequence[object]) -> None:
        """Points are before and after each written event, and after each commit."""
        if is_event(sql):
            self.passing(f"{when} {parameters[2]}")
        elif sql == "COMMIT" and when == "after":
            self.passing("after commit")


def append(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(line + "\n")


def log_request(home: Path) -> Callable[[ModelRequest], None]:
    def log(request: ModelRequest) -> None:
        told = [message.text for message in request.messages if isinstance(message, ToolMessage)]
        # A specialist knows only its request; the orchestrator knows the person's message.
        task = "" if request.agent == "orchestrator" else request.messages[0].text
        append(home / MODEL_CALLS, json.dumps([request.agent, task, replies_so_far(request), told]))

    return log


async def read(home: Path, events: AsyncGenerator[Event]) -> Event:
    """Every event of the turn as a reader gets it; the last one is its end or a pause."""
    last = None
    async for event in events:
        append(home / SHOWN, json.dumps([event.stamp.turn_id, event.seq, event.kind]))
        last = event
    assert last is not None
    return last


class SureOf(NamedTuple):
    """A router that always chooses one agent."""

    agent: str
    confidence: float = 1.0
    sure: bool = True
    variant: str = "sure"

    def route(self, request: str) -> "SureOf":
        return self

    def split(self, request: str) -> list[str]:
        return [request]


async def live(home: Path, points: Points, *, routed: bool) -> None:
    tools = effect_tools(Effects(home / EFFECTS), points.passing)
    model = PlanModel(log_request(home))
    settings = {"agent": {"fastRoute": "on" if routed else "off"}}
    async with sestet.open(settings, home=home, model=model, tools=tools) as app:
        print("ready", flush=True)
        turns = app.journal.open_turns()
        if turns:
            last = await read(home, app.resume_turn(turns[0].id))
        elif not app.journal.sessions():
            last = await read(home, app.run_turn(SESSION, ROUTED if routed else PLAN))
        else:
            return
        while isinstance(last, TurnPaused):
            for question in app.approvals.pending(last.stamp.turn_id):
                app.decide(question.id, "approve")
            last = await read(home, app.resume_turn(last.stamp.turn_id))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("--kill-at", type=int, default=0)
    parser.add_argument("--linger", type=float, default=0.0)
    parser.add_argument("--routed", action="store_true")
    arguments = parser.parse_args()
    points = Points(arguments.home, arguments.kill_at, arguments.linger)
    with watched_connections(points.watch), patch.object(Models, "router", SureOf("operator")):
        asyncio.run(asyncio.wait_for(live(arguments.home, points, routed=arguments.routed), 30))


if __name__ == "__main__":
    sys.exit(main())
