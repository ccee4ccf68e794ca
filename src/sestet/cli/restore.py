"""``sestet restore``: a backup in the place of what Sestet has stored."""

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from sestet.cli.options import AS_JSON, confirmed, new_program, stoppable
from sestet.cli.show.backup import describe_contents, open_copy_bar, print_contents
from sestet.cli.show.console import echo, print_json, shorten_home
from sestet.config import data_directory
from sestet.core.clean import clean
from sestet.services.restoring import Restore, Restored, open_restore

program = new_program()


@program.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that 'sestet backup' has written.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Put a backup in the place of everything that Sestet has stored, also while it runs.

    The file is checked first. A copy of the present data is kept. No turn may be running.
    """
    with ExitStack() as stack, stoppable("Stopped. Nothing was changed."):
        with open_copy_bar("checking", hidden=as_json) as watch:
            ready = stack.enter_context(open_restore(data_directory(), file, watch))
        if not yes:
            _print_plan(ready)
            if not confirmed("Put the backup in the place of the present data?"):
                typer.echo("nothing was changed", err=True)
                raise typer.Exit(1)
        # From here on it is all or nothing; stopped by Ctrl-C, nobody could say which.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with open_copy_bar("restoring", hidden=as_json) as watch:
            done = ready.install(watch)
    if as_json:
        print_json({"file": str(file), **_described(ready, done)})
    else:
        _print_restored(file, ready, done)


def _print_plan(ready: Restore) -> None:
    typer.echo("the backup:", err=True)
    print_contents(ready.contents)
    if ready.is_first:
        return
    typer.echo("the present data, of which a copy is kept:", err=True)
    if present := ready.present():
        print_contents(present)
    else:
        typer.echo("  damaged: it cannot be read", err=True)


def _print_restored(file: Path, ready: Restore, done: Restored) -> None:
    typer.echo(f"{clean(str(file))}: restored", err=True)
    print_contents(ready.contents)
    if done.safety_copy:
        echo(f"  the data from before is kept in {shorten_home(clean(str(done.safety_copy)))}", err=True)
    if number := done.grants_left_out:
        many = f"{number} standing approvals were" if number > 1 else "1 standing approval was"
        typer.echo(f"  {many} left out: Sestet asks you again", err=True)


def _described(ready: Restore, done: Restored) -> dict[str, object]:
    kept = str(done.safety_copy) if done.safety_copy else None
    return {
        **describe_contents(ready.contents),
        "safety_copy": kept,
        "grants_left_out": done.grants_left_out,
    }
