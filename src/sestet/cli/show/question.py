"""A question to the person: which exact call it is about, why it is asked, and what was read before."""

import json
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.cells import chop_cells
from rich.console import Console
from rich.text import Text

from sestet.cli.show.clean import one_line, reveal
from sestet.cli.show.console import align, print_line
from sestet.core.record import as_dict
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.tool import Tool
from sestet.storage.approvals import Grant, Question, sources_of

_BAR, _CONTINUED = "  │ ", "  ┊ "
_NARROWEST = 20
#: A value that is longer is cut in a conversation, and whole in ``sestet approvals show``.
_MOST_LINES = 24
_MOST_CHARACTERS = 2_000
_WIDTH = 80


class Fact(NamedTuple):
    name: str
    text: str
    style: str = ""


def arguments_of(question: Question) -> JsonObject:
    return json.loads(question.arguments)


def print_approval(console: Console, question: Question, tool: Tool | None, *, whole: bool = False) -> bool:
    """The question with everything that is to be decided about; whether something had to be left out."""
    head = Text.assemble(("  ┌ ", "yellow"), (reveal(question.agent), "bold"), " wants to call ")
    console.print(head.append(reveal(question.tool), style="bold"), soft_wrap=True)
    is_cut = False
    for fact in (*_arguments(question), *_facts(question, tool)):
        shown = fact.text if whole else _cut(fact.text)
        _print_fact(console, fact._replace(text=shown))
        if shown != fact.text:
            is_cut = True
            left = f"… {len(fact.text) - len(shown):,} more characters are not shown here"
            _print_lines(console, [left], "bold red")
    until = time.strftime("%Y-%m-%d %H:%M", time.localtime(question.expires_at))
    foot = Text.assemble(("  └ ", "yellow"), (f"open until {until} · {reveal(question.id)}", "dim"))
    console.print(foot, soft_wrap=True)
    return is_cut


def _arguments(question: Question) -> Iterator[Fact]:
    for name, value in arguments_of(question).items():
        yield Fact(f"{reveal(name)} =", _value_text(value), "bold")


def _facts(question: Question, tool: Tool | None) -> Iterator[Fact]:
    yield Fact("why:", reveal(question.reason), "yellow")
    sources = [reveal(source) for source in sources_of(question)]
    yield Fact("read before:", ", ".join(sources) or "nothing from elsewhere")
    if tool is not None:
        yield Fact("session, always:", f"any call of {tool.name} {covered(question, tool)}", "dim")


def covered(question: Question, tool: Tool) -> str:
    """What a standing answer would hold for, in words."""
    pattern: JsonObject = json.loads(question.pattern)
    if pattern:
        return f"with {pattern_text(question.pattern)}"
    return f"without {' and '.join(tool.targets)}" if tool.targets else "whatever its arguments are"


def pattern_text(pattern: str) -> str:
    """The targets that a standing answer is bound to."""
    values: JsonObject = json.loads(pattern)
    return ", ".join(f"{reveal(name)}={_as_json(value)}" for name, value in values.items())


def _value_text(value: JsonValue) -> str:
    """A text of several lines as it stands, anything else as JSON; what nobody would see is written out."""
    if isinstance(value, str) and "\n" in value:
        return "\n" + reveal(value)
    return _as_json(value)


def _as_json(value: JsonValue) -> str:
    if isinstance(value, str):
        return json.dumps(reveal(value), ensure_ascii=False)
    return reveal(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(lines[:_MOST_LINES])[:_MOST_CHARACTERS]


def _print_fact(console: Console, fact: Fact) -> None:
    first, *rest = fact.text.split("\n")
    head = Text.assemble((_BAR, "yellow"), (fact.name, "dim"), " " if first else "")
    width = console.width - head.cell_len
    # On a narrow screen it begins below its name.
    piece = (chop_cells(first, width) or [""])[0] if width >= _NARROWEST else ""
    console.print(head.append(piece, style=fact.style), soft_wrap=True)
    if more := first[len(piece) :]:
        _print_lines(console, [more], fact.style, continued=True)
    _print_lines(console, rest, fact.style)


def _print_lines(console: Console, lines: Iterable[str], style: str, *, continued: bool = False) -> None:
    """Behind a bar, so that nothing inside can pass for something outside; a broken line has another bar."""
    width = max(_NARROWEST, console.width - len(_BAR) - 2)
    for line in lines:
        for number, piece in enumerate(chop_cells(line, width) or [""]):
            bar = _CONTINUED if number or continued else _BAR
            console.print(Text.assemble((bar, "yellow"), "  ", (piece, style)), soft_wrap=True)


def call_line(question: Question) -> str:
    """The call on one line, shortened."""
    arguments = (f"{reveal(name)}={_as_json(value)}" for name, value in arguments_of(question).items())
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
    """One line for each standing answer."""
    rows = [
        (
            Text(str(grant.id)),
            Text(reveal(f"{grant.agent} · {grant.tool}")),
            Text(pattern_text(grant.pattern) or "no target"),
            Text(f"session {reveal(grant.session_id)}" if grant.session_id else "always", style="dim"),
            Text(age(grant.granted_at), style="dim"),
        )
        for grant in grants
    ]
    for line in align(rows):
        print_line(console, line)


def describe_question(question: Question) -> dict[str, object]:
    """A question as JSON: its own columns, with arguments, pattern and sources as values."""
    described: dict[str, object] = as_dict(question)
    for name in ("arguments", "pattern", "sources"):
        described[name] = json.loads(str(described[name]))
    return described


def describe_grant(grant: Grant) -> dict[str, object]:
    return {**as_dict(grant), "pattern": json.loads(grant.pattern), "session_id": grant.session_id or None}


def age(at: float) -> str:
    """``3 min ago``"""
    seconds = max(0, int(time.time() - at))
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds // unit} {name} ago"
    return "just now"
