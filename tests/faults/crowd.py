"""One of several processes that talk in the same sessions: ``python -m tests.faults.crowd HOME NAME TURNS``.

Inside each turn it claims the session with a file that must not exist yet, so two turns of one session that
overlap are detected.
"""

import asyncio
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import sestet
from sestet.core.event import ToolFinished, TurnFinished
from sestet.core.message import UserMessage
from sestet.core.model import ModelRequest
from sestet.core.tool import CallInfo, Tool, tool
from tests.faults.plan import PlanModel

PROCESSES = 2
SESSIONS = [f"session-{number}" for number in range(20)]
TEXT = "operator: fs_claim a, fs_claim b"


def claiming_tool(home: Path) -> Tool:
    @tool(risk="safe", effect="local", reads=(), recovery="unsafe")
    async def fs_claim(call: CallInfo, /, what: str) -> str:
        """Claims the session for a moment."""
        mark = home / f"{call.session_id}.claimed"
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        try:
            await asyncio.sleep(0.002)
        finally:
            with suppress(FileNotFoundError):
                mark.unlink()
        return what

    return fs_claim


async def talk(app: sestet.App, session_id: str, turns: int) -> list[str]:
    """Run some turns of one session and return every problem."""
    problems: list[str] = []
    for number in range(turns):
        await others_have_had(app, session_id, number)
        events = [event async for event in app.run_turn(session_id, TEXT)]
        results = [event.text for event in events if isinstance(event, ToolFinished)]
        if results != ["a", "b"] or not isinstance(events[-1], TurnFinished):
            problems.append(f"{session_id}: {results} {events[-1]}")
    return problems


def count_turns(app: sestet.App, session_id: str) -> int:
    return len(list(app.journal.session_events(session_id, [TurnFinished.kind], 1000)))


async def others_have_had(app: sestet.App, session_id: str, turns: int) -> None:
    """Wait until all processes are ready, so that they compete for the sessions."""
    while count_turns(app, session_id) < turns * PROCESSES:  # noqa: ASYNC110 - the others are processes
        await asyncio.sleep(0.002)


async def main(home: Path, name: str, turns: int) -> None:
    #: The number of the person's messages in each request to the orchestrator.
    seen: list[int] = []

    def count(request: ModelRequest) -> None:
        if request.agent == "orchestrator":
            seen.append(sum(isinstance(message, UserMessage) for message in request.messages))

    async with sestet.open({}, home=home, model=PlanModel(count), tools=[claiming_tool(home)]) as app:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        async with asyncio.timeout(60):
            talks = await asyncio.gather(*(talk(app, session_id, turns) for session_id in SESSIONS))
    problems = [problem for found in talks for problem in found]
    (home / f"{name}.json").write_text(json.dumps({"problems": problems, "seen": seen}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
