"""Earlier conversations: the list of them, and the turns of one."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from sestet.cli.show.answer import print_answer, print_end
from sestet.cli.show.console import align, print_line
from sestet.cli.show.findings import print_finding
from sestet.cli.show.progress import print_progress
from sestet.core.clean import clean, one_line
from sestet.core.event import Event, TurnCancelled, TurnFailed, TurnFinished, TurnStarted
from sestet.core.words import written_time
from sestet.services.sessions import SessionRow
from sestet.services.turn_summary import turn_state
from sestet.services.turn_text import count_turns, in_doubt_text, is_in_doubt, last_words, past_findings

#: Stands before the person's words.
PROMPT = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
_TITLE_WIDTH = 60
_RECALLED_LINES = 6
#: The note below a turn that has not ended.
_NOTES = {"running": "This turn has not ended.", "paused": "This turn waits for your decision."}


def print_sessions(console: Console, rows: Iterable[SessionRow], current: str = "") -> None:
    """One line for each session, the most recent first."""
    table = [
        (
            Text(clean(row.id), style="bold" if row.id == current else ""),
            Text(written_time(row.updated_at), style="dim"),
            Text(count_turns(row.turns), style="dim"),
            Text(one_line(row.title, _TITLE_WIDTH)),
        )
        for row in rows
    ]
    for line in align(table):
        print_line(console, line)


def print_turns(console: Console, turns: Iterable[list[Event]], *, markdown: bool) -> None:
    """Every event of the turns, as it was shown when it happened."""
    for number, events in enumerate(turns):
        if number:
            console.print()
        asked, findings = "", past_findings(events)
        for event in events:
            if event in findings:
                print_finding(console, event)
            elif isinstance(event, TurnStarted):
                asked = event.text
                print_question(console, asked)
            elif isinstance(event, TurnFinished | TurnFailed | TurnCancelled):
                print_end(console, event, markdown=markdown)
            else:
                print_progress(console, event, asked)
        print_doubts(console, events)
        if note := _NOTES.get(turn_state(events)):
            console.print(Text(f"\n{note}", style="yellow"))


def print_doubts(console: Console, events: Iterable[Event]) -> None:
    """Name the calls in doubt again below the answer, where the person cannot overlook them."""
    for event in events:
        if is_in_doubt(event):
            console.print(Text(f"\n{in_doubt_text(event)}", style="bold red"))


def print_recalled(console: Console, turns: Iterable[list[Event]]) -> None:
    """The last messages and answers, shortened: enough to know where the conversation was."""
    for events in turns:
        console.print()
        for event in events:
            if isinstance(event, TurnStarted):
                print_question(console, event.text)
            elif isinstance(event, TurnFinished | TurnFailed):
                lines = clean(event.text).strip().splitlines()
                left = len(lines) - _RECALLED_LINES
                shown = [*lines[:_RECALLED_LINES], f"… {left} more lines"] if left > 1 else lines
                print_answer(console, "\n".join(shown), markdown=False)
            elif isinstance(event, TurnCancelled):
                console.print(Text(last_words(event), style="dim"))
        print_doubts(console, events)
        if note := _NOTES.get(turn_state(events)):
            console.print(Text(note, style="yellow"))


def print_question(console: Console, text: str) -> None:
    console.print(Text.assemble((PROMPT, "bold cyan"), clean(text)))
