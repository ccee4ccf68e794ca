"""Many payments at once, each in a process of its own that is killed: ``python -m tests.faults.payers PLAN``.

PLAN is a file with a ``Plan`` as JSON. Every run is one conversation that pays once. Its process dies at a
random point; another one resumes the turn, and may die too. All of them share one database and one wallet.
"""

import asyncio
import gc
import os
import random
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import msgspec

import sestet
from sestet.agents.vault.payments import payment_send, payment_x402_fetch
from sestet.config import settings_from
from sestet.core.event import Event, TurnPaused
from sestet.core.message import ToolMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest
from sestet.services.payments.ledger import Ledger
from sestet.services.payments.node import Node
from sestet.services.payments.payments import Payments
from sestet.services.payments.rules import read_rules
from sestet.services.payments.wallet import Wallet
from sestet.services.payments.web_request import WebRequest
from sestet.storage.database import Database
from sestet.storage.payments import PaymentStore
from tests.chain.local_chain import TestSigner
from tests.faults.watched import When, is_event, watched_connections

#: A run passes about this many points, from the person's message to the reply.
POINTS = 75
#: After this many deaths, a run is left alone.
MOST_DEATHS = 3
DENIED = 0.05
SETTINGS = {
    "agent": {"multiAgent": False},
    "embedding": {"provider": "none"},
    "observationalMemory": {"enabled": False},
}


class Run(msgspec.Struct, frozen=True):
    number: int
    tool: str
    arguments: dict[str, str]


class Plan(msgspec.Struct, frozen=True):
    home: str
    node: str
    key: str
    payments: dict[str, Any]
    seed: int
    at_once: int
    runs: list[Run]


class Points:
    """Counts the points where a process may die, and dies at one of them."""

    def __init__(self, kill_at: int) -> None:
        self._kill_at = kill_at
        self.passed = 0

    def passing(self) -> None:
        self.passed += 1
        if self.passed == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, when: When, sql: str, parameters: Sequence[object]) -> None:
        """Before and after each event, and after each commit: those of payments are among them."""
        if is_event(sql) or (sql == "COMMIT" and when == "after"):
            self.passing()

    def around(self, owner: type, name: str) -> Any:  # Any: what ``patch`` returns
        """Points before and after each call of an async method."""
        real = getattr(owner, name)

        async def passing(*given: Any, **named: Any) -> Any:  # Any: passed on as they come
            self.passing()
            result = await real(*given, **named)
            self.passing()
            return result

        return patch.object(owner, name, passing)


class PayModel:
    """Calls the tool of the run, and says what became of it."""

    name = "pay"

    def __init__(self, run: Run) -> None:
        self._run = run

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if any(isinstance(message, ToolMessage) for message in request.messages):
            yield ModelReply("Done.")
        else:
            yield ModelReply(calls=(sestet.ToolCall(self._run.tool, self._run.arguments),))

    async def close(self) -> None:
        pass


class Outcome(NamedTuple):
    deaths: int
    #: Runs that ended with an error of the program itself.
    broken: list[int]


async def live(plan: Plan, run: Run, dice: random.Random) -> None:
    """Begin or resume the turn of a run, and decide on its question."""
    path, session_id = Path(plan.home) / "sestet.db", f"run-{run.number}"
    database = Database(path)
    rules = read_rules(settings_from({"payments": plan.payments}))
    node, wallet = Node(plan.node, rules.network), Wallet(TestSigner(bytes.fromhex(plan.key)))
    payments = Payments(Ledger(PaymentStore(database), rules), node, wallet, path)
    tools = [tool.bind({Payments: payments}) for tool in (payment_send, payment_x402_fetch)]
    bound = [tool for tool in tools if tool is not None]
    async with sestet.open(SETTINGS, home=plan.home, model=PayModel(run), tools=bound) as app:
        mine = [turn for turn in app.journal.open_turns() if turn.session_id == session_id]
        if mine:
            last = await read(app.resume_turn(mine[0].id))
        elif not list(app.journal.session_events(session_id, ["turn_started"], 1)):
            last = await read(app.run_turn(session_id, "pay what I owe"))
        else:
            return
        while isinstance(last, TurnPaused):
            for question in app.approvals.pending(last.stamp.turn_id):
                app.decide(question.id, "deny" if dice.random() < DENIED else "approve")
            last = await read(app.resume_turn(last.stamp.turn_id))
    database.close()


async def read(events: AsyncGenerator[Event]) -> Event:
    last = None
    async for event in events:
        last = event
    assert last is not None
    return last


def child(plan: Plan, run: Run, attempt: int) -> int:
    """What one process does; it may not live to the end."""
    dice = random.Random(f"{plan.seed} {run.number} {attempt}")
    points = Points(dice.randint(1, POINTS) if attempt < MOST_DEATHS else 0)
    try:
        with (
            watched_connections(points.watch),
            points.around(Node, "_request"),
            points.around(Wallet, "sign"),
            points.around(WebRequest, "get"),
        ):
            asyncio.run(asyncio.wait_for(live(plan, run, dice), 240))
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def let_all_pay(plan: Plan) -> Outcome:
    """Start a process for each run, some at once, and another one for each that died."""
    waiting, running = deque((run, 0) for run in plan.runs), dict[int, tuple[Run, int]]()
    deaths, broken, dice = 0, list[int](), random.Random(plan.seed)
    # This process makes one payment of each kind, so that the others begin with everything loaded.
    for tool in ("payment_send", "payment_x402_fetch"):
        first = next((run for run, _ in waiting if run.tool == tool), None)
        if first is not None:
            asyncio.run(live(plan, first, random.Random(1)))
    gc.freeze()
    while waiting or running:
        while waiting and len(running) < plan.at_once:
            run, attempt = waiting.popleft()
            # This process has imported everything and has no other thread, so a fork is a cheap new process.
            if not (process := os.fork()):
                os._exit(child(plan, run, attempt))
            running[process] = (run, attempt)
        process, status = os.wait()
        run, attempt = running.pop(process)
        if os.WIFSIGNALED(status):
            deaths += 1
            # At once, while a transaction may still wait for its block, or after all others.
            later = dice.random() < 0.5
            (waiting.append if later else waiting.appendleft)((run, attempt + 1))
        elif os.WEXITSTATUS(status):
            broken.append(run.number)
    return Outcome(deaths, broken)


def main() -> None:
    plan = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Plan)
    started = time.monotonic()
    outcome = let_all_pay(plan)
    print(
        f"{len(plan.runs)} runs, {outcome.deaths} deaths, {time.monotonic() - started:.0f} s", file=sys.stderr
    )
    print(msgspec.json.encode(outcome).decode())


if __name__ == "__main__":
    main()
