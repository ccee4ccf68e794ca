"""``sestet setup``: lists the models that can be chosen, and tries one before it writes the settings."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sestet.cli.options import AS_JSON, new_program
from sestet.cli.setup_dialogue import ask_and_set_up, print_choices, run_attempt, trial_facts
from sestet.cli.show.clean import clean
from sestet.cli.show.console import open_console, print_json
from sestet.cli.show.progress import progress_line
from sestet.config.edit import file_to_edit
from sestet.core.event import Event
from sestet.setup.choices import Choice, find_choices, known_providers
from sestet.setup.choices import choose as pick_choice
from sestet.setup.trial import REQUEST, Trial, attempt_both_ways

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
    server: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Look for a server there instead of at the usual ports."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take the first choice, and ask nothing.")] = False,
    only_list: Annotated[bool, typer.Option("--list", help="Show the choices and change nothing.")] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Choose a model: one that runs here, one you have a key for, or the built-in one.

    The model is tried in one real turn with a tool before it is written into the settings.
    """
    file = file_to_edit(context.obj).absolute()
    choices = find_choices(server, known_providers(file))
    chosen = choose or (choices[0].id if yes or model else "")
    if chosen and not only_list:
        raise typer.Exit(_set_up(file, pick_choice(choices, chosen, model), as_json=as_json))
    if as_json:
        rows = [{"id": each.id, "place": each.place, "note": each.note} for each in choices]
        print_json({"choices": rows, "file": str(file)})
        return
    if only_list:
        print_choices(open_console(), choices)
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print_choices(open_console(), choices)
        typer.echo("sestet: not a terminal: pass --choose N, or --yes for the first choice", err=True)
        raise typer.Exit(2)
    raise typer.Exit(0 if ask_and_set_up(open_console(), file, choices) is None else 1)


def _set_up(file: Path, choice: Choice, *, as_json: bool) -> int:
    """For scripts: the progress goes to stderr, the result to stdout."""

    def show(event: Event) -> None:
        if not as_json and (line := progress_line(event, REQUEST)):
            typer.echo(line.text, err=True)

    def tell(text: str) -> None:
        if not as_json:
            typer.echo(text, err=True)

    choice, trial = attempt_both_ways(choice, lambda each: run_attempt(file, each, show), tell)
    if as_json:
        print_json(_described(file, choice, trial))
    else:
        _print(file, choice, trial)
    return 1 if trial.problem else 0


def _print(file: Path, choice: Choice, trial: Trial) -> None:
    if trial.problem:
        told = (trial.answer, f"It does not work. {trial.problem}", trial.way_out and f"→ {trial.way_out}")
        typer.echo(clean("\n".join(filter(None, told))), err=True)
    else:
        typer.echo(f"ready: {trial_facts(trial, choice)}")
        typer.echo(f"written to {file}")
    if trial.warning:
        typer.echo(f"warning: {clean(trial.warning)}", err=True)


def _described(file: Path, choice: Choice, trial: Trial) -> dict[str, object]:
    usage = trial.usage
    return {
        "ready": not trial.problem,
        "choice": choice.id,
        "tool_calls": choice.entry.get("toolCalls", "native"),
        "file": str(file),
        "answer": trial.answer,
        "problem": trial.problem,
        "way_out": trial.way_out,
        "warning": trial.warning,
        "context": trial.context,
        "delegations": trial.delegations,
        "tools": trial.tools,
        "model_calls": trial.model_calls,
        "milliseconds": round(trial.milliseconds),
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        "dollars": usage.nano_dollars / 10**9,
    }
