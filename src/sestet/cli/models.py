"""``sestet models``: models that run on this machine, without a key and without a server."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sestet.models.files.catalogue import Entry

program = typer.Typer(
    rich_markup_mode=None,
    help="Fetch and choose models that run on this machine, without a key and without a server.",
    no_args_is_help=True,
)
_NAME = typer.Argument(metavar="NAME", help="A name from 'sestet models list'.")
_YES = typer.Option("--yes", "-y", help="Do not ask.")
_SETTING = ("agent", "provider"), ("agent", "model")


@program.command("list")
def list_models(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the models that can be had, and those that are here."""
    from sestet.cli.show.models import print_models

    print_models(as_json)


@program.command("pull")
def pull(name: Annotated[str, _NAME], yes: Annotated[bool, _YES] = False) -> None:
    """Fetch a model: its size, memory and licence are shown, and you are asked first.

    What was broken off goes on where it ended. Only the file with the pinned SHA-256 is kept.
    """
    if not fetch_model(name, yes=yes):
        raise typer.Exit(1)
    typer.echo(f"To use it: sestet models use {name}", err=True)


def fetch_model(name: str, *, yes: bool = False) -> bool:
    """Fetch a model if the person agrees; what it takes is shown first."""
    from sestet.cli.show.models import downloading, print_offer
    from sestet.models.files.catalogue import model_file
    from sestet.models.files.download import pull as fetch

    entry = _known(name)
    if model_file(name).is_file():
        typer.echo(f"{name} is here already", err=True)
    else:
        print_offer(entry)
        if not yes and not _confirmed("Fetch it?"):
            return False
    with downloading(entry) as watch:
        file = fetch(entry, watch)
    typer.echo(f"{name}: {file}")
    return True


@program.command("remove")
def remove(name: Annotated[str, _NAME], yes: Annotated[bool, _YES] = False) -> None:
    """Delete a model file, and what was kept of it."""
    from sestet.cli.show.clean import clean
    from sestet.core.errors import PersonError
    from sestet.models.files.catalogue import delete_model, is_begun, model_file, models_directory

    file = model_file(name)
    if file.parent != models_directory():
        raise PersonError(f"{file} is not among the models of Sestet: delete it by hand")
    if not is_begun(file):
        raise PersonError(f"the model {name!r} is not here; 'sestet models list' shows which are")
    if not yes and not _confirmed(f"Delete {clean(file.name)}?"):
        raise typer.Exit(1)
    delete_model(file)
    typer.echo(f"{clean(name)}: deleted")


@program.command("use")
def use(context: typer.Context, name: Annotated[str, _NAME]) -> None:
    """Write into sestet.yaml that this model answers; everything else there stays as it is."""
    from pathlib import Path
    from typing import cast

    from sestet.cli.show.clean import clean
    from sestet.config import load_settings
    from sestet.config.edit import edit_settings, file_to_edit
    from sestet.core.errors import PersonError
    from sestet.models.files.catalogue import model_file
    from sestet.models.provider import LOCAL, LOCAL_INSTALL, LOCAL_PACKAGE, is_installed

    if not model_file(name).is_file():
        _known(name)
        raise PersonError(f"the model {name!r} is not here yet: sestet models pull {name}")
    file = file_to_edit(cast("Path | None", context.obj))
    if file.is_file() and LOCAL in load_settings(file).settings.providers:
        raise PersonError(f"{file}: providers.{LOCAL} has that name already; call it otherwise there first")
    edit_settings(file, dict(zip(_SETTING, (LOCAL, name), strict=True)))
    typer.echo(f"{clean(str(file))}: {clean(name)} answers now")
    if not is_installed(LOCAL_PACKAGE):
        typer.echo(f"It needs a package that is not installed: {LOCAL_INSTALL}", err=True)
    for variable in load_settings(file).overrides:
        if variable in ("SESTET_AGENT__PROVIDER", "SESTET_AGENT__MODEL"):
            typer.echo(f"The environment variable {variable} still says something else.", err=True)


def _known(name: str) -> "Entry":
    from sestet.core.errors import PersonError
    from sestet.core.schema import suggest
    from sestet.models.files.catalogue import catalogue

    if name not in catalogue():
        near = suggest(name, list(catalogue()))
        raise PersonError(f"there is no model {name!r}{near or '; see sestet models list'}")
    return catalogue()[name]


def _confirmed(question: str) -> bool:
    """Without anybody to ask, the answer is no."""
    import sys

    if not sys.stdin.isatty():
        typer.echo(f"{question} Nobody is here to answer: give --yes", err=True)
        return False
    return typer.confirm(question)
