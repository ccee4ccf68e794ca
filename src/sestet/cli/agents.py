"""``sestet agents``: the agents, and the tools of each."""

from typing import Annotated

import typer

from sestet.api import default_specs, tool_owners
from sestet.cli.assistant import open_app, run
from sestet.cli.options import AS_JSON, new_program
from sestet.cli.show.clean import clean
from sestet.cli.show.console import open_console, print_json
from sestet.cli.show.tree import describe_agents, print_tree
from sestet.cli.talk.turns import warn
from sestet.core.agent import UNMATCHED
from sestet.core.tool import Tool

program = new_program()


@program.command()
def agents(
    context: typer.Context,
    owner: Annotated[str, typer.Option(metavar="TOOL", help="Print who owns the tool of this name.")] = "",
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show the agents and who owns which tool."""
    if owner:
        raise typer.Exit(_show_owner(owner, as_json))
    run(_agents(context, as_json))


def _show_owner(tool_name: str, as_json: bool) -> int:
    """The owner of a name, by its prefix: the tool itself need not exist yet."""
    (found,) = (name for name, tools in tool_owners([Tool(tool_name)], default_specs()).items() if tools)
    owner = None if found == UNMATCHED else found
    if as_json:
        print_json({"tool": tool_name, "owner": owner})
    else:
        typer.echo(owner or f"no agent would own '{clean(tool_name)}': it begins with no agent's prefix")
    return 0 if owner else 1


async def _agents(context: typer.Context, as_json: bool) -> None:
    async with open_app(context) as app:
        if as_json:
            print_json(describe_agents(app))
        else:
            print_tree(open_console(), app)
        warn(app)
