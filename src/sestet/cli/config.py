"""``sestet config``: the settings in force, the check of a settings file, and its schema."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from sestet.cli.assistant import load
from sestet.cli.options import AS_JSON, new_program
from sestet.cli.show.console import align, open_console, print_json, print_line
from sestet.config import Loaded, settings_schema
from sestet.config.listing import describe_settings, iter_values
from sestet.core.clean import clean, one_line

program = new_program("Show, check and describe the settings.")
#: The width of a value, and of the spaces and the word "default" beside it.
_VALUE_WIDTH, _LEAST_VALUE, _REST_WIDTH = 60, 20, 11
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@program.command("show")
def show(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Show the settings in force, and where each comes from. Secrets are masked."""
    loaded = load(context)
    if as_json:
        print_json(describe_settings(loaded))
    else:
        _print(loaded)


@program.command("validate")
def validate(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="The file; else the one that would be used.")] = None,
) -> None:
    """Check a settings file; every problem is listed at once."""
    loaded = load(context, file)
    where = clean(str(loaded.file)) if loaded.file else "no file was found, so the defaults apply"
    typer.echo(f"{where}: no problems")


@program.command("schema")
def schema() -> None:
    """Print the JSON Schema of the settings file."""
    print_json({"$schema": _DIALECT, "title": "sestet.yaml", **settings_schema()})


def _print(loaded: Loaded) -> None:
    console = open_console()
    file = str(loaded.file) if loaded.file else "no settings file, so the defaults apply"
    print_line(console, Text(f"# {clean(file)}", style="dim"))
    settings = list(iter_values(loaded))
    longest = max(len(key) for key, _, _ in settings)
    width = min(_VALUE_WIDTH, max(_LEAST_VALUE, console.width - longest - _REST_WIDTH))
    rows = [
        (
            Text(clean(key)),
            Text(one_line(json.dumps(value, ensure_ascii=False), width)),
            Text(clean(source), style="dim" if source == "default" else "cyan"),
        )
        for key, value, source in settings
    ]
    for line in align(rows):
        print_line(console, line)
