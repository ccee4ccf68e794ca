"""The ways out: a console that takes text as it is, and JSON."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import typer

from sestet.cli.show.clean import escape_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_ENDLESS = 10_000


def open_console(*, stderr: bool = False) -> "Console":
    """A console on stdout or stderr that reads no markup out of what it is given."""
    from rich.console import Console

    # A pipe has no edge at which lines would have to be broken.
    width = None if (sys.stderr if stderr else sys.stdout).isatty() else _ENDLESS
    return Console(highlight=False, markup=False, emoji=False, width=width, stderr=stderr)


def print_json(value: object) -> None:
    """One JSON document on stdout."""
    typer.echo(escape_json(json.dumps(value, indent=2, ensure_ascii=False)))


def print_line(console: "Console", line: "Text") -> None:
    """One line, cut at the edge of a terminal."""
    console.print(line, no_wrap=True, overflow="ellipsis")


def align(rows: Iterable[Sequence["Text"]]) -> "list[Text]":
    """Rows of cells as lines, each column as wide as its widest cell."""
    from rich.text import Text

    table = [list(row) for row in rows]
    widths = [max((cell.cell_len for cell in column), default=0) for column in zip(*table, strict=True)]
    lines: list[Text] = []
    for row in table:
        line = Text()
        for cell, width in zip(row, widths, strict=True):
            line.append_text(cell).append(" " * (width - cell.cell_len + 2))
        line.rstrip()
        lines.append(line)
    return lines
