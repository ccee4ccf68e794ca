"""Shared by the declarations of commands: the program of a module, options, exit codes."""

import sys
from enum import IntEnum

import typer

LIMIT = typer.Option(min=1, max=100_000, metavar="N", help="How many at most.")
MINE = typer.Option("--mine", help="The text on stdin is in your own words; else it is untrusted.")
AS_JSON = typer.Option("--json", help="Print JSON.")
#: The largest number that SQLite stores.
LARGEST = 2**63 - 1


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
        return typer.Typer(rich_markup_mode=None, add_completion=False)
    return typer.Typer(help=group_help, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


def is_typed() -> bool:
    """Whether stdin is a terminal: then a person types what is read from it."""
    return sys.stdin.isatty()


def confirmed(question: str) -> bool:
    """Ask the person; no when stdin is not a terminal."""
    if not is_typed():
        typer.echo(f"{question} (not a terminal: pass --yes)", err=True)
        return False
    return typer.confirm(question)
