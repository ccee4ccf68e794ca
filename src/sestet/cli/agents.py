"""``sestet agents``: who there is, and who owns which tool."""

from typing import Annotated

import typer


def agents(
    context: typer.Context,
    owner: Annotated[str, typer.Option(metavar="TOOL", help="Print who owns the tool of this name.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the agents and who owns which tool."""
    from sestet.cli.opening import run

    if owner:
        raise typer.Exit(_show_owner(owner, as_json))
    run(_agents(context, as_json))


def _show_owner(tool_name: str, as_json: bool) -> int:
    """By its name alone, as any tool is given to its agent: it need not be there yet."""
    from sestet.api import default_specs, tool_owners
    from sestet.cli.show.clean import clean
    from sestet.cli.show.console import print_json
    from sestet.core.agent import UNMATCHED
    from sestet.core.tool import Tool

    (found,) = (name for name, tools in tool_owners([Tool(tool_name)], default_specs()).items() if tools)
    owner = None if found == UNMATCHED else found
    if as_json:
        print_json({"tool": tool_name, "owner": owner})
    else:
        typer.echo(owner or f"'{clean(tool_name)}' would belong to nobody: no agent owns names that begin so")
    return 0 if owner else 1


async def _agents(context: typer.Context, as_json: bool) -> None:
    from sestet.cli.opening import open_app
    from sestet.cli.show.console import open_console, print_json
    from sestet.cli.show.tree import describe_agents, print_tree
    from sestet.cli.talk.turns import warn

    async with open_app(context) as app:
        if as_json:
            print_json(describe_agents(app))
        else:
            print_tree(open_console(), app)
        warn(app)
