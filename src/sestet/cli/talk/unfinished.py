"""Unfinished turns: the list of them, and the one that the person means."""

from typing import Literal, TypeAlias

from rich.text import Text

from sestet.app import App
from sestet.cli.show.console import align, print_line
from sestet.cli.show.question import age, call_line
from sestet.cli.talk.conversation import Talk
from sestet.core.clean import one_line
from sestet.core.errors import PersonError
from sestet.core.event import TurnStarted
from sestet.services.approvals import Question
from sestet.services.sessions import TurnRow

Need: TypeAlias = Literal["waits for you", "can go on", "was cut off"]

_WIDTH = 60


def open_questions(app: App, turn_id: str | None = None) -> list[Question]:
    """The questions that can be decided now: their turn has neither ended nor is it running."""
    waiting = {turn.id for turn in app.unfinished_turns()}
    return [question for question in app.approvals.pending(turn_id) if question.turn_id in waiting]


def need_of(app: App, turn: TurnRow) -> Need:
    """What an unfinished turn waits for: a decision, or only a /continue."""
    if turn.state != "paused":
        return "was cut off"
    return "waits for you" if open_questions(app, turn.id) else "can go on"


def print_unfinished(talk: Talk) -> None:
    """Number the unfinished turns for the person; nothing when there is none."""
    talk.offered = talk.app.unfinished_turns()
    if not talk.offered:
        return
    talk.note(f"{count_unfinished(talk.offered)}:", "yellow")
    rows = [_row(talk, number, turn) for number, turn in enumerate(talk.offered, 1)]
    for line in align(rows):
        print_line(talk.console, line)
    number = "" if len(talk.offered) == 1 else " N"
    talk.note(f"/continue{number} goes on with it, /abandon{number} gives it up")


def _row(talk: Talk, number: int, turn: TurnRow) -> tuple[Text, ...]:
    started = next(event for event in talk.app.journal.events_of(turn.id) if isinstance(event, TurnStarted))
    open_calls = [call_line(question) for question in open_questions(talk.app, turn.id)]
    return (
        Text(f"  {number}", style="bold"),
        Text(need_of(talk.app, turn), style="yellow"),
        Text(turn.session_id, style="dim"),
        Text(age(started.stamp.at), style="dim"),
        Text(one_line(started.text, _WIDTH)),
        Text("; ".join(open_calls), style="dim"),
    )


def count_unfinished(turns: list[TurnRow]) -> str:
    """``1 turn was cut off, 2 turns wait for your decision``"""
    cut_off = sum(turn.state != "paused" for turn in turns)
    paused = len(turns) - cut_off
    counted = [
        f"{cut_off} turn{' was' if cut_off == 1 else 's were'} cut off" if cut_off else "",
        f"{paused} turn{' waits' if paused == 1 else 's wait'} for your decision" if paused else "",
    ]
    return ", ".join(filter(None, counted))


def pick_unfinished(talk: Talk, wanted: str) -> TurnRow:
    """The turn of that number; without a number, the only turn of this session, or the only one at all."""
    turns = talk.offered if wanted else talk.app.unfinished_turns()
    if not turns and not wanted:
        raise PersonError("no turn is waiting or was cut off")
    if not wanted:
        here = [turn for turn in turns if turn.session_id == talk.session_id]
        found = here if len(here) == 1 else turns
        if len(found) == 1:
            return found[0]
        print_unfinished(talk)
        raise PersonError("which one? give its number")
    if not wanted.isdecimal() or not 1 <= int(wanted) <= len(turns):
        raise PersonError(f"there is no unfinished turn {wanted!r}; /continue lists them")
    return turns[int(wanted) - 1]
