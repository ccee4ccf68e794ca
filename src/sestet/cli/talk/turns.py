"""Running a turn from the command line: Ctrl-C stops the turn, and not the program."""

import asyncio
import json
import signal
from collections.abc import Callable
from contextlib import aclosing

import typer

from sestet.app import App
from sestet.cli.show.answer import last_words
from sestet.cli.show.clean import clean
from sestet.cli.show.progress import progress_line
from sestet.core.event import (
    END_OF_TURN,
    Event,
    ModelCalled,
    TextStreamed,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
)
from sestet.core.model import Usage
from sestet.storage.journal import encode


async def follow_turn(app: App, session_id: str, text: str, show: Callable[[Event], None]) -> Event:
    """Run one turn, show each of its events, and return its last."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, app.cancel_turn, session_id)
    end: Event | None = None
    try:
        # Closed here, and not whenever it is collected: the journal must still be open by then.
        async with aclosing(app.run_turn(session_id, without_surrogates(text))) as events:
            async for event in events:
                show(event)
                if isinstance(event, END_OF_TURN):
                    end = event
    finally:
        loop.remove_signal_handler(signal.SIGINT)
    assert end is not None  # every turn ends in exactly one of these
    return end


def warn(app: App) -> None:
    """What is wrong with the assistant as a whole, on stderr."""
    for warning in app.warnings:
        typer.echo(f"warning: {clean(warning)}", err=True)


def exit_code(end: Event) -> int:
    """What the program says to the shell about a turn that ended so."""
    if isinstance(end, TurnFinished):
        return 0
    # As the shell has it: 130 is a program that was interrupted.
    return 130 if isinstance(end, TurnCancelled) else 1


async def answer_plainly(app: App, session_id: str, text: str) -> Event:
    """One turn for a pipe: the answer alone on stdout, everything else on stderr."""

    def show(event: Event) -> None:
        if line := progress_line(event, text):
            typer.echo(line.text, err=True)

    end = await follow_turn(app, session_id, text, show)
    typer.echo(clean(last_words(end)), err=not isinstance(end, TurnFinished))
    return end


def describe_turn(events: list[Event]) -> dict[str, object]:
    """A turn as JSON. The pieces in which text was streamed are left out: the whole text is there."""
    first, last = events[0].stamp, events[-1]
    usage = sum((event.usage for event in events if isinstance(event, ModelCalled)), Usage())
    return {
        "session": first.session_id,
        "turn": first.turn_id,
        "state": last.kind.removeprefix("turn_") if isinstance(last, END_OF_TURN) else "running",
        "agent": last.author,
        "text": last.text if isinstance(last, TurnFinished | TurnFailed) else "",
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        "milliseconds": round((last.stamp.at - first.at) * 1000),
        "events": [describe_event(event) for event in events if not isinstance(event, TextStreamed)],
    }


def describe_event(event: Event) -> dict[str, object]:
    """An event as JSON, in the words of the journal."""
    return {
        "seq": event.seq,
        "kind": event.kind,
        "author": event.author,
        "delegation": event.delegation_id,
        "at": event.stamp.at,
        **json.loads(encode(event)),
    }


def without_surrogates(text: str) -> str:
    """A byte that was not UTF-8 arrives as half a character, which no database and no model can take."""
    return text.encode("utf-8", "replace").decode("utf-8")
