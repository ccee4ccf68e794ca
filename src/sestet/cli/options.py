"""Shared by the declarations of commands: the program of a module, options, exit codes."""

import fcntl
import os
import stat
import sys
import termios
from array import array
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from enum import IntEnum
from itertools import chain

import typer

from sestet.cli.groups import Group
from sestet.core.errors import PersonError
from sestet.core.secret_text import refusal
from sestet.services.text_encoding import decode_text, encoding_by_mark, is_binary

#: No row has a larger number, and SQLite stores it.
LARGEST = 10**9
_SHOWN = 40
#: Enter alone is no, as "[y/N]" says.
_ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "": False}


def whole_number(lowest: int = 1, highest: int = LARGEST) -> Callable[[str], int]:
    """Reads a number of the command line; the error says which numbers are possible."""

    def number(text: str) -> int:
        try:
            read = int(text)
        except ValueError:
            read = None
        if read is None or not lowest <= read <= highest:
            possible = f"a whole number from {lowest:,} to {highest:,}"
            raise typer.BadParameter(f"{str(text)[:_SHOWN]!r} is not {possible}.")
        return read

    return number


LIMIT = typer.Option(parser=whole_number(1, 100_000), metavar="N", help="How many at most.")
MINE = typer.Option("--mine", help="The text on stdin is in your own words; else it is untrusted.")
ANYWAY = typer.Option("--anyway", help="Keep it although it looks like a secret.")
AS_JSON = typer.Option("--json", help="Print JSON.")


class ExitCode(IntEnum):
    """How the program ended, for scripts."""

    OK = 0
    FAILED = 1
    MISTAKE = 2
    WAITS = 3
    DENIED = 4
    #: As shells have it for a program that Ctrl-C stopped.
    STOPPED = 130


#: What docs/cli.md says of each.
EXIT_CODES = {
    ExitCode.OK: "it worked",
    ExitCode.FAILED: "it failed: a turn without a reply, a name that does not exist, a question answered "
    "with no, a broken document, a problem that `sestet doctor` found",
    ExitCode.MISTAKE: "the settings or the command line are wrong, and Sestet wrote nothing; a group without "
    "a command, such as `sestet memory`, prints its help on stderr",
    ExitCode.WAITS: "the turn waits for your decision (`sestet ask --wait-for-approval`, "
    "`sestet approvals approve`)",
    ExitCode.DENIED: "`sestet ask`, or the last message of a pipe, was answered, but a call was denied: it "
    "needed your approval and nobody could be asked, or your policy forbids it",
    ExitCode.STOPPED: "you stopped the turn, an ingest or a trial with Ctrl-C",
}


def new_program(group_help: str = "") -> typer.Typer:
    """The ``program`` of a command's module, with plain help and no completion.

    A group that does nothing by itself has its help here; any other command has it in its function.
    """
    if not group_help:
        return typer.Typer(cls=Group, rich_markup_mode=None, add_completion=False)
    return typer.Typer(
        cls=Group, help=group_help, no_args_is_help=True, rich_markup_mode=None, add_completion=False
    )


def is_typed() -> bool:
    """Whether stdin is a terminal: then a person types what is read from it."""
    return sys.stdin.isatty()


def has_waiting_input() -> bool:
    """Whether a file or a pipe with some text is on stdin. Nothing is read, and nothing is waited for."""
    try:
        descriptor = sys.stdin.fileno()
        found, waiting = os.fstat(descriptor), array("i", [0])
        if stat.S_ISREG(found.st_mode):
            return found.st_size > os.lseek(descriptor, 0, os.SEEK_CUR)
        if stat.S_ISFIFO(found.st_mode):
            fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
        return waiting[0] > 0
    except (OSError, ValueError):
        # There is no stdin.
        return False


def read_stdin() -> str:
    """Everything on stdin as text, whatever its encoding; raise if it is not text."""
    return _decode(sys.stdin.buffer.read())


def stdin_lines() -> Iterator[str]:
    """Each line of stdin as soon as it is there, whatever its encoding; raise if it is not text."""
    stream = sys.stdin.buffer
    first = stream.readline()
    if encoding_by_mark(first):
        # A line end may be several bytes.
        yield from _decode(first + stream.read()).splitlines()
    else:
        yield from map(_decode, chain((first,), stream))


def _decode(data: bytes) -> str:
    if is_binary(data):
        raise PersonError("stdin is not text: it holds binary data")
    return decode_text(data)


@contextmanager
def stoppable(said: str) -> Generator[None]:
    """Ctrl-C ends the work inside with these words and its own exit code."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(said, err=True)
        raise typer.Exit(ExitCode.STOPPED) from None


def refuse_secret(text: str, anyway: bool) -> None:
    """Raise if a text looks like a secret, unless the person insists."""
    if not anyway and (why := refusal(text)):
        raise PersonError(f"{why}; --anyway keeps it here")


def confirmed(question: str) -> bool:
    """Ask the person; no when stdin is not a terminal."""
    if not is_typed():
        typer.echo(f"{question} (not a terminal: pass --yes)", err=True)
        return False
    return ask_yes_or_no(question)


def ask_yes_or_no(question: str, *, err: bool = False) -> bool:
    """Ask until the answer is yes or no; Enter alone is no."""
    while True:
        answer = typer.prompt(f"{question} [y/N]", default="", show_default=False, err=err)
        known = _ANSWERS.get(answer.strip().casefold())
        if known is not None:
            return known
        typer.echo("Please type y for yes or n for no; Enter alone means no.", err=err)
