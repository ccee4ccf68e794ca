"""``sestet export``: everything in open formats."""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sestet.cli.options import AS_JSON, new_program, stoppable
from sestet.cli.show.console import open_bar, print_json
from sestet.cli.show.export_files import write_export
from sestet.cli.stored import open_stored
from sestet.core.clean import clean
from sestet.core.errors import PersonError

program = new_program()


@program.command()
def export(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A directory that is new or empty.")],
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Write everything that Sestet has stored in open formats: Markdown, JSON, CSV.

    Settings and keys are not in it. To move to another machine, use 'sestet backup'.
    """
    with (
        stoppable("Stopped. Nothing was exported."),
        open_stored(context) as data,
        _new_directory(directory) as part,
        open_bar("conversations", hidden=as_json) as watch,
    ):
        counts = write_export(data, part, watch)
    if as_json:
        print_json({"directory": str(directory), **counts})
        return
    there = ", ".join(f"{name} {number:,}" for name, number in counts.items() if number)
    typer.echo(f"{clean(str(directory))}: written; README.md in it says what is where", err=True)
    typer.echo(f"  {there or 'nothing is stored yet'}", err=True)


@contextmanager
def _new_directory(directory: Path) -> Generator[Path]:
    """An empty private directory to fill. It gets its name afterwards, and after an error it is gone."""
    if directory.exists() and not (directory.is_dir() and not any(directory.iterdir())):
        raise PersonError(f"'{directory}' is there already; name a directory that is new or empty")
    place = directory.absolute()
    if not place.parent.is_dir():
        raise PersonError(f"'{directory}' cannot be written: there is no directory '{place.parent}'")
    part = Path(tempfile.mkdtemp(".part", f".{place.name[:100]}.", place.parent))
    try:
        yield part
        part.rename(place)
    except OSError as error:
        raise PersonError(f"'{directory}' cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
