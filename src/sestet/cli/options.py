"""Shared by the declarations of commands: the program of a module, options, exit codes."""

import sys

import typer

from sestet.core.errors import PersonError
from sestet.core.secret_text import refusal

LIMIT = typer.Option(min=1, max=100_000, metavar="N", help="How many at most.")
MINE = typer.Option("--mine", help="The text on stdin is in your own words; else it is untrusted.")
ANYWAY = typer.Option("--anyway", help="Keep it although it looks like a secret.")
AS_JSON = typer.Option("--json", help="Print JSON.")
#: The largest number that SQLite stores.
LARGEST = 2**63 - 1
#: The exit code of a program that Ctrl-C stopped, as shells have it.
INTERRUPTED = 130


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


def refuse_secret(text: str, anyway: bool) -> None:
    """Raise if a text looks like a secret, unless the person insists."""
    if not anyway and (why := refusal(text)):
        raise PersonError(f"{why}; --anyway keeps it here")


def confirmed(question: str) -> bool:
    """Ask the person; no when stdin is not a terminal."""
    if not is_typed():
        typer.echo(f"{question} (not a terminal: pass --yes)", err=True)
        return False
    return typer.confirm(question)
