"""``sestet doctor``: every check of the set-up, and what to do about each problem."""

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sestet.cli.assistant import run
from sestet.cli.options import AS_JSON, new_program
from sestet.cli.show.console import align, break_lines, open_console, print_json, shorten_home
from sestet.core.clean import clean
from sestet.doctor import Check, Status, examine

program = new_program()

_LEAST_WIDTH = 20
_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


@program.command()
def doctor(
    context: typer.Context,
    probe: Annotated[
        bool,
        typer.Option("--probe", help="Ask a vendor's model too: one tiny question, which costs money."),
    ] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Check the set-up, with the way out of each problem.

    A model on your own machine or network is asked whether it calls tools, and its server how much it reads.
    """
    with _waiting():
        checks = run(examine(context.obj, probe=probe))
    healthy = all(check.status != "problem" for check in checks)
    if as_json:
        print_json({"healthy": healthy, "checks": [check._asdict() for check in checks]})
    else:
        _print(checks)
    raise typer.Exit(0 if healthy else 1)


def _waiting() -> AbstractContextManager[object]:
    """A spinner at a terminal: loading a model takes a while."""
    return open_console(stderr=True).status("examining") if sys.stderr.isatty() else nullcontext()


def _print_beside(console: Console, head: Text, text: str, style: str = "") -> None:
    """The text beside its head; at a terminal, its further lines begin below the first.

    A word that is too wide for that, such as a path, begins further to the left on a line of its own.
    """
    indent = head.cell_len
    for line in break_lines(text, max(console.width - indent, _LEAST_WIDTH)):
        room = max(0, console.width - cell_len(line))
        if head and room < indent:
            console.print(head, soft_wrap=True)
            head = Text()
        start = head or Text(" " * min(indent, room))
        console.print(Text.assemble(start, (line, style)), soft_wrap=True)
        head = Text()


def _print(checks: list[Check]) -> None:
    console = open_console()
    heads = align([(Text(check.status, style=_STYLES[check.status]), Text(check.name)) for check in checks])
    width = max(head.cell_len for head in heads) + 2
    for check, head in zip(checks, heads, strict=True):
        head.pad_right(width - head.cell_len)
        _print_beside(console, head, shorten_home(clean(check.detail)))
        if check.way_out:
            _print_beside(console, Text(" " * width), f"→ {clean(check.way_out)}", "dim")
    problems, warnings = (_count(checks, status) for status in ("problem", "warning"))
    verdict = f"{problems or 'No problem'}, {warnings}." if warnings else f"{problems}."
    if not problems and not warnings:
        verdict = "Everything works."
    console.print(Text(f"\n{verdict}", style="bold red" if problems else "bold"))


def _count(checks: list[Check], status: Status) -> str:
    """``2 warnings``; empty when there is none."""
    number = sum(check.status == status for check in checks)
    return f"{number} {status}{'' if number == 1 else 's'}" if number else ""
