"""``sestet backup``: everything that Sestet has stored, in one file."""

from pathlib import Path
from typing import Annotated

import typer

from sestet.cli.options import AS_JSON, new_program, stoppable
from sestet.cli.show.backup import describe_contents, open_copy_bar, print_contents
from sestet.cli.show.console import echo, print_json, shorten_home
from sestet.config import config_directory, data_directory
from sestet.core.clean import clean
from sestet.services.backup import back_up

program = new_program()

#: What lies beside the database and is not copied: the files, and the words for them.
_LEFT_OUT = {"sestet.vault": "the vault", "skills": "the skills"}


@program.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there already.")] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Copy everything that Sestet has stored into one file, also while it runs.

    The copy is checked. It holds conversations, memory, knowledge, documents, the graph, approvals and
    costs, not encrypted. Settings, the vault, skills, plug-ins, accepted folders, fetched models and the
    contents that undo keeps are not in it.
    """
    with stoppable("Stopped. No backup was written."), open_copy_bar("copying", hidden=as_json) as watch:
        contents = back_up(data_directory(), file, replace=force, watch=watch)
    if as_json:
        print_json({"file": str(file), **describe_contents(contents)})
        return
    typer.echo(f"{clean(str(file))}: written and checked", err=True)
    print_contents(contents)
    settings = clean(shorten_home(str(config_directory())))
    echo(f"  not in it: your settings, keys and plug-ins ({settings})", err=True)
    if left_out := [name for name in _LEFT_OUT if (data_directory() / name).exists()]:
        data = clean(shorten_home(str(data_directory())))
        echo(f"  nor: {' and '.join(_LEFT_OUT[name] for name in left_out)} ({data})", err=True)
