"""A question to the person: the exact call, why it is asked, and what was read before."""

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.cells import chop_cells
from rich.console import Console
from rich.text import Text

from sestet.cli.show.console import align, print_line
from sestet.cli.show.diff import diff_lines
from sestet.core.clean import one_line, reveal
from sestet.core.preview import Changes
from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.core.words import duration, written_time
from sestet.services.approvals import (
    Grant,
    Question,
    arguments_of,
    changes_of,
    sources_of,
    targets_of,
)
from sestet.services.standing_answers import allowed, as_json, not_covered, targets_text

_BAR, _CONTINUED = "  │ ", "  ┊ "
_NARROWEST = 20
#: A longer value is cut in a conversation; ``sestet approvals show`` shows it whole.
_MOST_LINES = 24
_MOST_CHARACTERS = 2_000
_WIDTH = 80
#: A longer text is not repeated beside a diff.
_SHORT = 40
#: The units of an age, in seconds: a day, an hour, a minute.
_UNITS = (86_400, 3_600, 60)


class Fact(NamedTuple):
    name: str
    text: str
    style: str = ""
    #: A value of the call fills each line; other texts break between words.
    is_value: bool = False


def print_approval(console: Console, question: Question, tool: Tool | None, *, whole: bool = False) -> bool:
    """The whole question; returns whether a long value was cut."""
    head = Text.assemble(("  ┌ ", "yellow"), (reveal(question.agent), "bold"), " wants to call ")
    console.print(head.append(reveal(question.tool), style="bold"), soft_wrap=True)
    is_cut = False
    changes = changes_of(question)
    arguments = list(_arguments(question, changes, whole=whole))
    for number, fact in enumerate((*arguments, *_facts(question, tool))):
        if number == len(arguments):
            is_cut |= _print_diff(console, changes, whole=whole)
        shown = fact.text if whole else _cut(fact.text)
        _print_fact(console, fact._replace(text=shown))
        if shown != fact.text:
            is_cut = True
            left = f"… {len(fact.text) - len(shown):,} more characters are not shown here"
            _print_lines(console, [left], Fact("", left, "bold red"))
    until = f"open until {written_time(question.expires_at)} · {reveal(question.id)}"
    foot = Text.assemble(("  └ ", "yellow"), (until, "dim"))
    console.print(foot, soft_wrap=True)
    return is_cut


def _arguments(question: Question, changes: Changes, *, whole: bool) -> Iterator[Fact]:
    """All arguments; where a diff is shown, it shows the long texts that are no target."""
    targets = targets_of(question)
    for name, value in arguments_of(question).items():
        if changes.lines and not whole and name not in targets and len(str(value)) > _SHORT:
            yield Fact(f"{reveal(name)} =", f"{len(str(value)):,} characters: see the diff", "dim")
            continue
        yield Fact(f"{reveal(name)} =", _value_text(value), "bold", is_value=True)


def _print_diff(console: Console, changes: Changes, *, whole: bool) -> bool:
    """What the call would change; returns whether lines were left out that ``whole`` shows."""
    most = len(changes.lines) if whole else _MOST_LINES
    for line in diff_lines(changes, most):
        _print_lines(console, [line.text], Fact("", line.text, line.style, is_value=True))
    return len(changes.lines) > most or changes.left_out > 0


def _facts(question: Question, tool: Tool | None) -> Iterator[Fact]:
    yield Fact("why:", reveal(question.reason), "yellow")
    sources = [reveal(source) for source in sources_of(question)]
    yield Fact("read before:", ", ".join(sources) or "nothing from elsewhere")
    if tool is not None:
        yield Fact("a longer yes:", f"would let {reveal(question.agent)} {allowed(question, tool)}", "dim")
        if unread := not_covered(question):
            yield Fact("not covered:", unread, "dim")


def _value_text(value: JsonValue) -> str:
    """A text of several lines as it stands, anything else as JSON; invisible characters are written out."""
    if isinstance(value, str) and "\n" in value:
        return "\n" + reveal(value)
    return as_json(value)


def _cut(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(lines[:_MOST_LINES])[:_MOST_CHARACTERS]


def _print_fact(console: Console, fact: Fact) -> None:
    first, *rest = fact.text.split("\n")
    head = Text.assemble((_BAR, "yellow"), (fact.name, "dim"), " " if first else "")
    width = console.width - head.cell_len
    # On a narrow screen the value begins below its name.
    piece = next(_pieces(first, width, fact)) if width >= _NARROWEST else ""
    console.print(head.append(piece, style=fact.style), soft_wrap=True)
    if more := first[len(piece) :]:
        _print_lines(console, [more], fact, continued=True)
    _print_lines(console, rest, fact)


def _print_lines(console: Console, lines: Iterable[str], fact: Fact, *, continued: bool = False) -> None:
    """Lines behind a bar, so that a value cannot imitate the frame; a wrapped line has another bar."""
    width = max(_NARROWEST, console.width - len(_BAR) - 2)
    for line in lines:
        for number, piece in enumerate(_pieces(line, width, fact)):
            bar = _CONTINUED if number or continued else _BAR
            console.print(Text.assemble((bar, "yellow"), "  ", (piece, fact.style)), soft_wrap=True)


def _pieces(line: str, width: int, fact: Fact) -> Iterator[str]:
    """The line in pieces of this width, none of them lost; at least one."""
    start = 0
    while start < len(line) or not start:
        piece = (chop_cells(line[start : start + width], width) or [""])[0]
        blank = 0 if fact.is_value or start + len(piece) == len(line) else piece.rfind(" ") + 1
        piece = piece[: blank or None]
        yield piece
        start += len(piece) or 1


def call_line(question: Question) -> str:
    """The call on one line, shortened."""
    arguments = (f"{reveal(name)}={as_json(value)}" for name, value in arguments_of(question).items())
    return one_line(" ".join((f"{question.agent} · {question.tool}", *arguments)), _WIDTH)


def print_questions(console: Console, questions: Iterable[Question]) -> None:
    """One line for each open question."""
    rows = [
        (
            Text(question.id),
            Text(age(question.asked_at), style="dim"),
            Text(reveal(question.session_id), style="dim"),
            Text(call_line(question)),
        )
        for question in questions
    ]
    for line in align(rows):
        print_line(console, line)


def print_grants(console: Console, grants: Iterable[Grant]) -> None:
    """One line for each standing answer, and one for the calls that it does not cover."""
    given = list(grants)
    rows = [
        (
            Text(str(grant.id)),
            Text(reveal(f"{grant.agent} · {grant.tool}")),
            Text(targets_text(grant) or "no target"),
            Text(f"session {reveal(grant.session_id)}" if grant.session_id else "always", style="dim"),
            Text(age(grant.granted_at), style="dim"),
        )
        for grant in given
    ]
    for grant, line in zip(given, align(rows), strict=True):
        print_line(console, line)
        if unread := not_covered(grant):
            print_line(console, Text(f"{' ' * len(str(grant.id))}  not covered: {unread}", style="dim"))


def age(at: float) -> str:
    """``3 minutes ago``"""
    seconds = max(0, int(time.time() - at))
    unit = next((unit for unit in _UNITS if seconds >= unit), 0)
    return f"{duration(seconds // unit * unit)} ago" if unit else "just now"
