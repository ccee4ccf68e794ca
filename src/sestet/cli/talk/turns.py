"""Runs a turn for a command: Ctrl-C stops the turn, and not the program."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeAlias, assert_never

from sestet.app import App
from sestet.cli.assistant import warn_once
from sestet.cli.options import ExitCode
from sestet.cli.show.console import echo, open_console
from sestet.cli.show.footer import usage_text
from sestet.cli.show.progress import progress_line
from sestet.core.clean import clean
from sestet.core.errors import PersonError
from sestet.core.event import (
    END_OF_TURN,
    DelegationFinished,
    Event,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
)
from sestet.runtime.answer import denied_name
from sestet.services.sessions import TurnRow
from sestet.services.turn_text import (
    End,
    claim_warning,
    effects_text,
    in_doubt_text,
    is_finding,
    is_in_doubt,
    last_words,
)

Show: TypeAlias = Callable[[Event], None]

SMALL = "A small local model answers: check what it says. Before it changes anything, you are asked."


async def follow_turn(
    app: App,
    session_id: str,
    text: str,
    show: Show,
    *,
    can_ask: bool = True,
    mine: bool = True,
    agent: str = "",
) -> End:
    """Run one turn, show each of its events, and return its last."""
    events = app.run_turn(session_id, text, can_ask=can_ask, mine=mine, agent=agent)
    return await _follow(app, session_id, events, show)


async def follow_resumed(app: App, turn: TurnRow, show: Show) -> End:
    """The same for the rest of a turn that waited or was cut off."""
    if turn.state != "paused":
        # A process that dies may have written a doubt that it had no time to show.
        for event in filter(is_in_doubt, app.journal.events_of(turn.id)):
            show(event)
    return await _follow(app, turn.session_id, app.resume_turn(turn.id), show)


async def _follow(app: App, session_id: str, turn: AsyncGenerator[Event], show: Show) -> End:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    gave_up = False

    def stop() -> None:
        nonlocal gave_up
        # A turn that waits for another turn of its session has not begun: stop waiting instead.
        if not app.cancel_turn(session_id) and task is not None:
            gave_up = task.cancel()

    loop.add_signal_handler(signal.SIGINT, stop)
    end: End | None = None
    try:
        # Close it here, while the journal is still open; the garbage collector might come later.
        async with aclosing(turn) as events:
            async for event in events:
                show(event)
                if isinstance(event, END_OF_TURN):
                    end = event
    except asyncio.CancelledError:
        if not gave_up or task is None:
            raise
        task.uncancel()
        raise PersonError(f"the session '{session_id}' is busy, and you did not wait for it") from None
    finally:
        loop.remove_signal_handler(signal.SIGINT)
    assert end is not None  # every turn ends in exactly one of these
    return end


def warn(app: App) -> None:
    """Print the assistant's warnings on stderr, and a note when a small model answers."""
    for warning in app.warnings:
        warn_once(warning)
    if app.is_small:
        echo(SMALL, err=True)


def exit_code(end: End, *, denied: bool = False) -> ExitCode:
    """The exit code of the program after such an end. ``denied``: a call of the turn was."""
    match end:
        case TurnFinished():
            return ExitCode.DENIED if denied else ExitCode.OK
        case TurnFailed():
            return ExitCode.FAILED
        case TurnPaused():
            return ExitCode.WAITS
        case TurnCancelled():
            return ExitCode.STOPPED
        case _:
            assert_never(end)


async def answer_plainly(
    app: App, session_id: str, text: str, *, can_ask: bool = False, mine: bool = True, agent: str = ""
) -> ExitCode:
    """Run one turn for a pipe: only the answer goes to stdout, everything else to stderr."""
    report = PlainReport(app, text)
    end = report.end(
        await follow_turn(app, session_id, text, report.show, can_ask=can_ask, mine=mine, agent=agent)
    )
    return exit_code(end, denied=report.denied)


async def finish_plainly(app: App, turn: TurnRow) -> End:
    """The same for the rest of a turn."""
    report = PlainReport(app)
    return report.end(await follow_resumed(app, turn, report.show))


class PlainReport:
    """Writes a turn for a pipe: progress on stderr, only the answer on stdout."""

    def __init__(self, app: App, asked: str = "") -> None:
        self._app = app
        self._asked = asked
        self._doubts: list[ToolFinished] = []
        self._found: list[DelegationFinished] = []
        self.denied = False

    def show(self, event: Event) -> None:
        if line := progress_line(event, self._asked):
            echo(line.text, err=True)
        if is_in_doubt(event):
            self._doubts.append(event)
        elif is_finding(event):
            self._found.append(event)
        self.denied = self.denied or bool(denied_name(event))

    def end(self, end: End) -> End:
        if isinstance(end, TurnFailed):
            # What was found before the failure was paid for, and no answer tells it.
            for found in self._found:
                echo(f"from {clean(found.agent)}:\n\n{clean(found.text).strip()}\n", err=True)
        echo(clean(last_words(end)), err=not isinstance(end, TurnFinished))
        for event in self._doubts:
            echo(in_doubt_text(event), err=True)
        used = usage_text(end) if isinstance(end, TurnFailed | TurnCancelled) else ""
        for line in filter(None, (used and f"used: {used}", effects_text(end), claim_warning(end))):
            echo(line, err=True)
        if warning := self._app.budget and self._app.budget.warning():
            echo(f"warning: {warning}", err=True)
        if isinstance(end, TurnPaused):
            print_open_questions(self._app, end.stamp.turn_id)
        return end


def print_open_questions(app: App, turn_id: str) -> None:
    """Show on stderr the calls that have to be decided before the turn goes on, and how."""
    # Drawn with rich, which a turn in a pipe without a question does not need.
    from sestet.cli.show.question import print_approval

    console = open_console(stderr=True)
    questions = app.approvals.pending(turn_id)
    for question in questions:
        print_approval(console, question, app.standing_tool(question), whole=True)
    if questions:
        echo(f"decide with: sestet approvals approve {questions[0].id}   (or deny)", err=True)
