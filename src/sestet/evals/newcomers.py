"""Plays newcomers' conversations with real tools in a new folder, and grades each reply."""

import contextlib
import re
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from tempfile import TemporaryDirectory

from sestet import app
from sestet.config import Settings
from sestet.core.event import END_OF_TURN, Event, TurnFinished, TurnPaused
from sestet.evals.runs import Result, Verdict
from sestet.evals.sets import NewcomerCase

#: A reply that says plainly what is missing, instead of pretending.
_HONEST = re.compile(
    r"sestet setup|\b(?:can ?not|can't|unable|not able|nothing|no tool|(?:do not|don't) (?:know|have))",
    re.IGNORECASE,
)
#: What no person should ever read: words between the parts of the program.
_INNARDS = re.compile(
    r"\[REJECT\]|transfer_to_agent|Traceback|do not (?:call|try|repeat) (?:it|this)|\A\(turn_\w+\)\Z",
    re.IGNORECASE,
)


def grade(case: NewcomerCase, reply: str) -> Verdict:
    """Judge a reply. What is embarrassing stays so, whatever else the reply says."""
    if not reply.strip() or _INNARDS.search(reply) or _any(case.embarrassing, reply):
        return "embarrassing"
    if _any(case.right, reply):
        return "right"
    if _any(case.acceptable, reply) or (case.honest and _HONEST.search(reply)):
        return "acceptable"
    return "wrong"


def _any(patterns: Iterable[str], reply: str) -> bool:
    return any(re.search(pattern, reply) for pattern in patterns)


class Newcomers:
    """Plays one conversation at a time, in a folder of its own. Each question is answered with yes."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open = AsyncExitStack()
        self._app: app.App | None = None
        self._conversation = ""
        self._played = 0

    async def close(self) -> None:
        """Close the conversation that is open, and remove its folder."""
        await self._open.aclose()

    async def attempt(self, case: NewcomerCase) -> Result:
        """The reply to one request, after the earlier requests of its conversation."""
        if self._conversation != case.conversation or self._played != len(case.earlier):
            await self._begin(case)
        started = time.perf_counter()
        reply = await self._say(case.request)
        taken = (time.perf_counter() - started) * 1000
        verdict = grade(case, reply)
        good = verdict in ("right", "acceptable")
        return Result(case.request, "right", verdict, good, case.kind, detail=reply, milliseconds=taken)

    async def _begin(self, case: NewcomerCase) -> None:
        """Open the folder of a conversation. A resumed run first repeats what was said before."""
        await self._open.aclose()
        self._open = AsyncExitStack()
        directory = Path(self._open.enter_context(TemporaryDirectory(prefix="sestet-newcomer-")))
        workspace = directory / "workspace"
        _write(workspace, case.files)
        with contextlib.chdir(workspace):
            self._app = await self._open.enter_async_context(
                app.open(self._settings, home=directory / "data")
            )
        self._conversation, self._played = case.conversation, 0
        for request in case.earlier:
            await self._say(request)

    async def _say(self, request: str) -> str:
        assert self._app is not None
        self._played += 1
        end = await _last(self._app.run_turn("newcomer", request))
        while isinstance(end, TurnPaused):
            for question in self._app.approvals.pending(end.stamp.turn_id):
                self._app.decide(question.id, "approve")
            end = await _last(self._app.resume_turn(end.stamp.turn_id))
        return end.text if isinstance(end, TurnFinished) else f"({end.kind})"


async def _last(turn: AsyncGenerator[Event]) -> Event:
    """The event that ends or pauses a turn."""
    async with aclosing(turn) as events:
        ends = [event async for event in events if isinstance(event, END_OF_TURN)]
    return ends[-1]


def _write(workspace: Path, files: Iterable[tuple[str, str]]) -> None:
    workspace.mkdir()
    for name, content in files:
        file = workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
