"""Output: a console that takes text as it is, aligned columns, a progress bar, dates, and JSON."""

import json
import os
import sys
import textwrap
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, TypeAlias

import typer

from sestet.core.clean import escape_json, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: Called with how much is done, of how much, and the name of the present item.
Watch: TypeAlias = Callable[[int, int, str], None]

_ENDLESS = 10_000
_USUAL_WIDTH = 80
#: In markdown, a line with this many blanks before it is code.
_CODE_INDENT = 4
_NAME_WIDTH = 40
#: With fewer columns for it, the last cell of a row is cut instead of broken.
_LEAST_ROOM = 20


def open_console(*, stderr: bool = False) -> "Console":
    """A console on stdout or stderr that reads no markup out of its texts."""
    # Rich is imported where something is drawn: JSON and pipes go without it.
    from rich.console import Console

    # A pipe has no edge, so lines are not wrapped.
    width = None if (sys.stderr if stderr else sys.stdout).isatty() else _ENDLESS
    return Console(highlight=False, markup=False, emoji=False, width=width, stderr=stderr)


def print_json(value: object) -> None:
    """One JSON document on stdout."""
    typer.echo(escape_json(as_json_text(value)))


def as_json_text(value: object) -> str:
    """One JSON document, to be escaped before it is shown."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def shorten_home(text: str) -> str:
    """The text with '~' in place of the home directory, so that paths fit on a line."""
    home = os.path.expanduser("~")
    return text.replace(f"{home}/", "~/") if len(home) > 1 else text


def break_lines(text: str, width: int) -> list[str]:
    """The lines of a text for a terminal: it breaks between words, and a path stays whole."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def echo(text: str, *, err: bool = False) -> None:
    """Write a text to stdout or stderr; at a terminal its long lines break between words."""
    stream = sys.stderr if err else sys.stdout
    typer.echo(fitted(text, width_of(stream)) if stream.isatty() else text, err=err)


def width_of(stream: TextIO) -> int:
    """The columns of a terminal."""
    # One that does not know its width says 0.
    return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH


def fitted(text: str, width: int) -> str:
    """The text with its long lines broken; code and tables stay as they are."""
    lines: list[str] = []
    in_code = False
    for line in text.split("\n"):
        is_fence = line.lstrip().startswith("```")
        in_code ^= is_fence
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        is_prose = not (in_code or is_fence or words.startswith("|") or len(indent) >= _CODE_INDENT)
        parts = break_lines(words, width - len(indent)) if is_prose and len(line) > width else [words]
        lines += [f"{indent}{part}" for part in parts]
    return "\n".join(lines)


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


def print_table(console: "Console", rows: Iterable[Sequence["Text"]]) -> None:
    """Rows of cells; the last cell of a row breaks between words, below itself."""
    from rich.text import Text

    table = [list(row) for row in rows]
    for row, line in zip(table, align(table), strict=True):
        last = next((cell for cell in reversed(row) if cell.plain.strip()), Text())
        text = last.plain.rstrip()
        head = line[: len(line.plain) - len(text)]
        if console.width - head.cell_len < _LEAST_ROOM:
            # One long cell must not take the room of all rows.
            head.rstrip()
            head.append("  ")
        indent, room = head.cell_len, console.width - head.cell_len
        for part in (break_lines(text, room) if room >= _LEAST_ROOM else [text]) or [""]:
            print_line(console, Text.assemble(head, (part, last.style)))
            head = Text(" " * indent)


@contextmanager
def open_bar(what: str, *, hidden: bool = False) -> Generator[Watch | None]:
    """A progress bar on stderr; None when stderr is not a terminal."""
    console = open_console(stderr=True)
    if hidden or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Without markup: a name may have brackets of its own.
    name_column = TextColumn("{task.fields[name]}", markup=False)
    with Progress(*columns, name_column, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, name="")

        def watch(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, name=one_line(name, _NAME_WIDTH))

        yield watch
