"""``sestet models``: models that run on this machine, without a key and without a server."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from sestet.cli.names import model_names
from sestet.cli.options import AS_JSON, ExitCode, confirmed, new_program
from sestet.cli.show.console import echo, open_console, print_json, print_table
from sestet.config import load_settings
from sestet.config.edit import edit_settings, file_to_edit
from sestet.config.installation import install_command
from sestet.config.vendors import LOCAL
from sestet.core.clean import clean
from sestet.core.errors import PersonError
from sestet.core.schema import suggest
from sestet.models.files.catalogue import (
    Entry,
    catalogue,
    delete_model,
    describe_models,
    is_begun,
    model_file,
    models_directory,
)
from sestet.models.files.download import Progress, in_megabytes
from sestet.models.files.download import pull as download
from sestet.models.provider import LOCAL_PACKAGE, is_installed

program = new_program("Fetch and choose models that run on this machine, without a key and without a server.")
_NAME = typer.Argument(metavar="NAME", help="A name from 'sestet models list'.", autocompletion=model_names)
_YES = typer.Option("--yes", "-y", help="Do not ask.")
_SETTING = ("agent", "provider"), ("agent", "model")


@program.command("list")
def list_models(as_json: Annotated[bool, AS_JSON] = False) -> None:
    """List the models that can be fetched, and those that are here."""
    _print_models(as_json)


@program.command("pull")
def pull(name: Annotated[str, _NAME], yes: Annotated[bool, _YES] = False) -> None:
    """Fetch a model: its size, memory and licence are shown, and you are asked first.

    A download that was broken off goes on where it ended. Only the file with the pinned SHA-256 is kept.
    """
    if not fetch_model(name, yes=yes):
        raise typer.Exit(ExitCode.FAILED)
    typer.echo(f"To use it: sestet models use {name}", err=True)


def fetch_model(name: str, *, yes: bool = False) -> bool:
    """Show what a model takes, and fetch it if the person agrees."""
    entry = _known(name)
    if model_file(name).is_file():
        typer.echo(f"{name} is here already", err=True)
    else:
        _print_offer(entry)
        if not yes and not confirmed("Fetch it?"):
            return False
    with _downloading(entry) as watch:
        file = download(entry, watch)
    echo(f"{name}: {file}")
    return True


@program.command("remove")
def remove(name: Annotated[str, _NAME], yes: Annotated[bool, _YES] = False) -> None:
    """Delete a model file, also one that was fetched only in part."""
    file = model_file(name)
    if file.parent != models_directory():
        raise PersonError(f"{file} is not among the models of Sestet: delete it by hand")
    if not is_begun(file):
        raise PersonError(f"the model {name!r} is not here; 'sestet models list' shows which are")
    if not yes and not confirmed(f"Delete {clean(file.name)}?"):
        raise typer.Exit(ExitCode.FAILED)
    delete_model(file)
    typer.echo(f"{clean(name)}: deleted")


@program.command("use")
def use(context: typer.Context, name: Annotated[str, _NAME]) -> None:
    """Write into sestet.yaml that this model answers; everything else there stays as it is."""

    if not model_file(name).is_file():
        _known(name)
        raise PersonError(f"the model {name!r} is not here yet: sestet models pull {name}")
    file = file_to_edit(cast("Path | None", context.obj))
    if file.is_file() and LOCAL in load_settings(file).settings.providers:
        raise PersonError(f"{file}: providers.{LOCAL} has that name already; rename it there first")
    edit_settings(file, dict(zip(_SETTING, (LOCAL, name), strict=True)))
    typer.echo(f"{clean(str(file))}: {clean(name)} answers now")
    if not is_installed(LOCAL_PACKAGE):
        typer.echo(f"It needs a package that is not installed: {install_command('local')}", err=True)
    for variable in load_settings(file).overrides:
        if variable in ("SESTET_AGENT__PROVIDER", "SESTET_AGENT__MODEL"):
            typer.echo(f"The environment variable {variable} still sets another value.", err=True)


def _known(name: str) -> Entry:
    if name not in catalogue():
        near = suggest(name, list(catalogue()))
        raise PersonError(f"there is no model {name!r}{near or '; see sestet models list'}")
    return catalogue()[name]


def _print_models(as_json: bool) -> None:
    rows = describe_models()
    if as_json:
        print_json(rows)
        return
    console = open_console()
    cells = [
        (
            Text(clean(str(row["name"])), style="bold" if row["here"] else ""),
            Text("here" if row["here"] else "-", style="green" if row["here"] else "dim"),
            Text(in_megabytes(int(str(row["bytes"])))),
            Text(str(row.get("license", ""))),
            Text(clean(str(row["about"])), style="dim"),
        )
        for row in rows
    ]
    print_table(console, cells)


def _print_offer(entry: Entry) -> None:
    """What the model is, and what it takes."""
    typer.echo(f"{entry.about}", err=True)
    size, memory = in_megabytes(entry.bytes), in_megabytes(entry.memory_megabytes * 1_000_000)
    typer.echo(f"{size} on disk, {memory} of memory while it runs, licence {entry.license}", err=True)


@contextmanager
def _downloading(entry: Entry) -> Generator[Callable[[Progress], None]]:
    """A progress bar, when stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=open_console(stderr=True), transient=True) as bar:
        task = bar.add_task(entry.name, total=entry.bytes)

        def watch(progress: Progress) -> None:
            bar.update(task, completed=progress.done, description=f"{entry.name} {progress.what}")

        yield watch
