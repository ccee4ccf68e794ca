"""``sestet memory``: what is remembered, to be read, corrected, traced and deleted."""

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Literal

import typer

from sestet.cli.options import LIMIT

program = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Read, correct, trace and delete what is remembered."
)

_AS_JSON = typer.Option("--json", help="Print JSON.")
_ID = typer.Argument(metavar="ID", help="m3 is a fact, o3 an observation, r3 a reflection.")


@program.command("list")
def list_items(
    context: typer.Context,
    sort: Annotated[
        Literal["fact", "observation", "reflection"] | None, typer.Option(help="Only these.")
    ] = None,
    session: Annotated[str, typer.Option(metavar="ID", help="Only those of one session.")] = "",
    limit: Annotated[int, LIMIT] = 50,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """List what is remembered, the latest first, each row with where it came from."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.memory import print_items, print_work
    from sestet.services.memory.catalog import MemoryCatalog

    with open_storage(context) as (_, database):
        nothing = "Nothing that is remembered fits." if sort or session else "Nothing is remembered yet."
        print_items(MemoryCatalog(database).items(limit, sort, session), as_json, nothing)
        if not as_json:
            print_work(database)


@program.command("show")
def show_item(
    context: typer.Context, item: Annotated[str, _ID], as_json: Annotated[bool, _AS_JSON] = False
) -> None:
    """Show one row whole: its text, where it came from, what it rests on and what became of it."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.memory import print_item
    from sestet.services.memory.catalog import MemoryCatalog

    with open_storage(context) as (_, database):
        print_item(MemoryCatalog(database).require(item), as_json)


@program.command("search")
def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="WORDS...", help="What the rows are about.")],
    limit: Annotated[int, LIMIT] = 10,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Find what is remembered by its words; facts that were replaced are left out."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.memory import print_items
    from sestet.services.memory.catalog import MemoryCatalog

    words = " ".join(query).strip()
    if not words:
        raise typer.BadParameter("the query is empty")
    with open_storage(context) as (_, database):
        found = MemoryCatalog(database).find(words, limit)
        print_items(found, as_json, "Nothing that is remembered has these words.")


@program.command("edit")
def edit(
    context: typer.Context,
    item: Annotated[str, _ID],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it shall say.")] = "",
    restore: Annotated[
        bool, typer.Option("--restore", help="Let a fact count again that a later one has replaced.")
    ] = False,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Correct a row in your own words, or restore a fact that was replaced."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.memory import print_item
    from sestet.services.memory.catalog import MemoryCatalog

    with open_storage(context) as (_, database):
        ledger = MemoryCatalog(database)
        print_item(ledger.restore(item) if restore and not text else ledger.edit(item, text), as_json)


@program.command("forget")
def forget(
    context: typer.Context,
    item: Annotated[str, _ID],
    everywhere: Annotated[
        bool,
        typer.Option(
            "--everywhere", help="Also blank the turn in which it was said, and its words elsewhere."
        ),
    ] = False,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Remove a row for good, with what was made of it, from every index and from the file."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.memory import print_forgotten
    from sestet.services.forgetting import Forgetting

    with open_storage(context) as (_, database):
        forgetting = Forgetting(database)
        done = forgetting.forget(item, everywhere=everywhere)
        print_forgotten(done, forgetting.scrub(), as_json)


@program.command("export")
def export(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Where to write; else to the standard output.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines, as without it.")] = False,
) -> None:
    """Write everything that is remembered as JSON lines."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.clean import escape_json
    from sestet.services.memory.catalog import MemoryCatalog
    from sestet.services.memory.import_export import export_lines

    with open_storage(context) as (_, database):
        lines = [escape_json(line) for line in export_lines(MemoryCatalog(database))]
    if file is None:
        for line in lines:
            typer.echo(line)
        return
    # It holds private things: for its owner alone, and never in the place of another file.
    with _new_private_file(file) as stream:
        stream.writelines(f"{line}\n" for line in lines)
    typer.echo(f"{len(lines)} row{'' if len(lines) == 1 else 's'} in {file}", err=True)


@program.command("import")
def import_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines of an export; - is the input.")],
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Add the rows of an export. One bad line, and nothing is added."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.console import print_json
    from sestet.core.errors import PersonError
    from sestet.services.memory.import_export import import_lines

    try:
        lines = sys.stdin.readlines() if str(file) == "-" else file.read_text("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise PersonError(f"{file}: not text in UTF-8: {error}") from error
    with open_storage(context) as (_, database):
        done = import_lines(database, lines)
    if as_json:
        print_json(done._asdict())
    else:
        typer.echo(f"{done.added} added, {done.known} known already", err=True)


def _new_private_file(file: Path) -> TextIOWrapper:
    from sestet.core.errors import PersonError

    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError as error:
        raise PersonError(f"'{file}' is there already; name another file, or remove it") from error
    return open(descriptor, "w", encoding="utf-8")
