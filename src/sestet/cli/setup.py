"""``sestet setup``: lists the models that can be chosen, and tries one before it writes the settings."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sestet.cli.options import AS_JSON, ExitCode, new_program
from sestet.cli.setup_dialogue import ask_and_set_up, print_choices
from sestet.cli.setup_steps import run_attempt, trial_facts
from sestet.cli.show.console import echo, open_console, print_json
from sestet.cli.show.progress import progress_line
from sestet.config.edit import file_to_edit, own_file
from sestet.config.load import first_set
from sestet.config.vendors import VENDORS
from sestet.core.clean import clean
from sestet.core.errors import PersonError
from sestet.core.event import Event
from sestet.setup.choices import (
    Choice,
    describe_choice,
    find_choices,
    known_providers,
    known_variables,
    vendor_choice,
    why_no_key,
)
from sestet.setup.choices import choose as pick_choice
from sestet.setup.server_address import KeyWantedError
from sestet.setup.trial import REQUEST, Trial, attempt_both_ways, describe_trial

program = new_program()


@program.command()
def setup(
    context: typer.Context,
    choose: Annotated[
        str, typer.Option(metavar="N|ID", help="Take this choice instead of asking: its number or its name.")
    ] = "",
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Use this model of the provider instead of the suggested one.")
    ] = "",
    vendor: Annotated[
        str, typer.Option(metavar="NAME", help=f"Use a model of this vendor: {', '.join(VENDORS)}.")
    ] = "",
    server: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Look for a server there instead of at the usual ports."),
    ] = None,
    key_stdin: Annotated[
        bool,
        typer.Option("--key-stdin", help="Read the key of the vendor or the server from stdin: one line."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take the first choice, and ask nothing.")] = False,
    only_list: Annotated[bool, typer.Option("--list", help="Show the choices and change nothing.")] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Choose a model: one that runs here, one you have a key for, or the built-in one.

    At a terminal you can also type a key, name a server, or fetch a model. The model is tried in one real
    turn with a tool before it is written into the settings.
    """
    if vendor and (choose or server):
        raise typer.BadParameter("give --vendor, or --server and --choose")
    if key_stdin and not (vendor or server):
        raise typer.BadParameter("--key-stdin needs --vendor or --server: whose key is it?")
    key = _read_key() if key_stdin else ""
    file = _file_to_write(context.obj, key)
    if vendor:
        choice = _choose_vendor(file, vendor, key)._replace(**({"model": model} if model else {}))
        raise typer.Exit(_set_up(file, choice, as_json=as_json))
    choices = _find_choices(file, server, key)
    chosen = choose or (choices[0].id if yes or model else "")
    if chosen and not only_list:
        raise typer.Exit(_set_up(file, pick_choice(choices, chosen, model), as_json=as_json))
    if as_json:
        rows = [describe_choice(each) for each in choices]
        print_json({"choices": rows, "variables": known_variables(), "file": str(file)})
        return
    if only_list:
        _print_list(choices)
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        _print_list(choices)
        typer.echo("sestet: not a terminal: pass --choose N, or --yes for the first choice", err=True)
        raise typer.Exit(ExitCode.MISTAKE)
    raise typer.Exit(0 if ask_and_set_up(open_console(), file, choices) is None else 1)


def _find_choices(file: Path, servers: Sequence[str] | None, key: str) -> list[Choice]:
    try:
        return find_choices(servers, known_providers(file), key)
    except KeyWantedError as error:
        raise PersonError(f"{error}: pass a valid one with --key-stdin") from None


def _read_key() -> str:
    """The key on stdin. It is never an argument: other users of the machine can read those."""
    key = sys.stdin.readline().strip()
    if why := why_no_key(key):
        raise PersonError(f"the key on stdin cannot be used: {why}")
    if not key:
        raise PersonError("there is no key on stdin")
    return key


def _file_to_write(named: Path | None, key: str) -> Path:
    """The settings to change; a key goes into the person's own ones alone."""
    if not key:
        return file_to_edit(named).absolute()
    own = own_file().absolute()
    if named and named.resolve() != own.resolve():
        raise PersonError(f"a key is written only into {own}: leave out --config, or set a variable instead")
    return own


def _choose_vendor(file: Path, vendor: str, key: str) -> Choice:
    if vendor not in VENDORS:
        raise PersonError(f"there is no vendor '{vendor}'; known are {', '.join(VENDORS)}")
    if not key:
        variables = VENDORS[vendor].variables
        if not (variable := first_set(variables)):
            raise PersonError(f"there is no key: set {' or '.join(variables)}, or pass it with --key-stdin")
        key = f"${{{variable}}}"
    return vendor_choice(vendor, known_providers(file), key)


def _print_list(choices: Sequence[Choice]) -> None:
    print_choices(open_console(), choices)
    echo(f"Keys are looked for in {', '.join(known_variables())}.", err=True)


def _set_up(file: Path, choice: Choice, *, as_json: bool) -> int:
    """For scripts: the progress goes to stderr, the result to stdout."""

    def show(event: Event) -> None:
        if not as_json and (line := progress_line(event, REQUEST)):
            typer.echo(line.text, err=True)

    def tell(text: str) -> None:
        if not as_json:
            echo(text, err=True)

    choice, trial = attempt_both_ways(choice, lambda each: run_attempt(file, each, show), tell)
    if as_json:
        print_json(describe_trial(file, choice, trial))
    else:
        _print(file, choice, trial)
    return 1 if trial.problem else 0


def _print(file: Path, choice: Choice, trial: Trial) -> None:
    if trial.problem:
        told = (trial.answer, trial.verdict, trial.way_out and f"→ {trial.way_out}")
        echo(clean("\n".join(filter(None, told))), err=True)
    else:
        echo(f"ready: {trial_facts(trial, choice)}")
        echo(
            f"written to {file}"
            if trial.written
            else "the built-in model answers, as before: nothing was written"
        )
    if trial.warning:
        echo(f"warning: {clean(trial.warning)}", err=True)
