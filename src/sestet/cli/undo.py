"""``sestet undo``: takes back the file changes of a turn."""

from typing import Annotated

import typer

from sestet.cli.assistant import run
from sestet.cli.options import AS_JSON, confirmed, new_program, whole_number
from sestet.cli.show.console import open_console, print_json, print_line
from sestet.cli.show.undo import plan_lines, set_lines
from sestet.cli.stored import open_stored
from sestet.services.file_changes.undo import describe_plan, describe_set

program = new_program()


@program.command()
def undo(
    context: typer.Context,
    changes: Annotated[
        int | None,
        typer.Argument(
            parser=whole_number(), metavar="N", help="Its number in 'sestet undo --list'; else the last turn."
        ),
    ] = None,
    only_list: Annotated[bool, typer.Option("--list", help="List what can be undone.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Put the files back as they were before the last turn that changed some.

    It lists what it will do, and asks. If one of the files has changed since, it changes nothing. An undo
    can be undone: 'sestet undo --list' has its number.
    """
    with open_stored(context) as data:
        if only_list:
            sets = data.undo.sets()
            if as_json:
                print_json([describe_set(each) for each in sets])
                return
            for line in set_lines(sets):
                print_line(open_console(), line)
            if not sets:
                typer.echo("There is nothing to undo.", err=True)
            return
        plan = run(data.undo.plan(changes))
        for line in () if as_json else plan_lines(plan):
            open_console().print(line, soft_wrap=True)
        data.undo.require_unchanged(plan)
        if not yes and not confirmed("Undo this?"):
            typer.echo("nothing was undone", err=True)
            raise typer.Exit(1)
        run(data.undo.run(plan))
    if as_json:
        print_json(describe_plan(plan, undone=True))
    else:
        typer.echo("undone", err=True)
