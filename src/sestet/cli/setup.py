"""``sestet setup``: finds the models of this machine, tries the chosen one, and writes the settings."""

import sys
from typing import Annotated

import typer


def setup(
    context: typer.Context,
    choose: Annotated[
        str, typer.Option(metavar="N|ID", help="Take this choice instead of asking: its number or its name.")
    ] = "",
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Another model of that provider than the one it suggests.")
    ] = "",
    server: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Look for a server there instead of at the usual ports."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take the first choice, and ask nothing.")] = False,
    only_list: Annotated[bool, typer.Option("--list", help="Show the choices and change nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Choose a model: what runs here, what you have keys for, or the built-in one.

    The model is tried in one real turn with a tool before it is written into the settings.
    """
    from sestet.cli.setting_up.attempt import known_providers
    from sestet.cli.setting_up.choices import find_choices
    from sestet.cli.setting_up.person import ask_and_set_up, print_choices, set_up_without_asking
    from sestet.cli.show.console import open_console, print_json
    from sestet.config.edit import file_to_edit

    file = file_to_edit(context.obj).absolute()
    choices = find_choices(server, known_providers(file))
    chosen = choose or (choices[0].id if yes or model else "")
    if chosen and not only_list:
        raise typer.Exit(set_up_without_asking(file, choices, chosen, model, as_json=as_json))
    if as_json:
        rows = [{"id": each.id, "place": each.place, "note": each.note} for each in choices]
        print_json({"choices": rows, "file": str(file)})
        return
    if only_list:
        print_choices(open_console(), choices)
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print_choices(open_console(), choices)
        typer.echo("sestet: nobody is there to choose: say --choose N, or --yes for the first", err=True)
        raise typer.Exit(2)
    raise typer.Exit(0 if ask_and_set_up(open_console(), file, choices) is None else 1)
