"""``sestet agents``: shows the agents and their tools, and writes the skeleton of a new agent."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from sestet.api import default_specs, tool_owners
from sestet.cli.assistant import load, open_app, run
from sestet.cli.options import AS_JSON, new_program
from sestet.cli.show.console import open_console, print_json, shorten_home
from sestet.cli.show.tree import print_tree
from sestet.cli.talk.turns import warn
from sestet.core.agent import UNMATCHED
from sestet.core.clean import clean
from sestet.core.tool import Tool
from sestet.description import describe_agents, describe_mcp
from sestet.plugins.find import find_plugins
from sestet.plugins.skeleton import new_agent

program = new_program()


@program.callback(invoke_without_command=True)
def agents(
    context: typer.Context,
    owner: Annotated[
        str, typer.Option(metavar="TOOL", help="Print the agent that owns the tool of this name.")
    ] = "",
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show the agents with their tools, and the folder or file of each plug-in."""
    if context.invoked_subcommand is not None:
        return
    if owner:
        raise typer.Exit(_show_owner(context, owner, as_json))
    run(_agents(context, as_json))


@program.command("new")
def new(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, such as gardener.")],
    prefix: Annotated[
        str,
        typer.Option(metavar="PREFIX", help="How the names of its tools begin; by default its name and '_'."),
    ] = "",
    workspace: Annotated[
        bool, typer.Option("--workspace", help="Write below ./.agents instead of the config directory.")
    ] = False,
) -> None:
    """Write the skeleton of an agent: AGENT.md, a tool, and a test that passes."""
    files = new_agent(name, prefix, find_plugins(load(context)), workspace=workspace)
    print_written(files, f"ask the {name} to greet Ann")


def print_written(files: list[Path], request: str) -> None:
    """The new files, and the commands that use and test them."""
    for file in files:
        typer.echo(clean(str(file)))
    # A shell expands '~' only outside of quotes.
    quoted = shlex.quote(str(files[-1]))
    test = quoted if quoted.startswith("'") else shorten_home(quoted)
    typer.echo(f'Try it: sestet ask "{request}"\nTest it: pytest {clean(test)}', err=True)


def _show_owner(context: typer.Context, tool_name: str, as_json: bool) -> int:
    """The owner of a name, by its prefix: the tool itself need not exist yet."""
    specs = (*default_specs(), *find_plugins(load(context)).specs)
    (found,) = (name for name, tools in tool_owners([Tool(tool_name)], specs).items() if tools)
    owner = None if found == UNMATCHED else found
    if as_json:
        print_json({"tool": tool_name, "owner": owner})
    else:
        typer.echo(owner or f"no agent would own '{clean(tool_name)}': it begins with no agent's prefix")
    return 0 if owner else 1


async def _agents(context: typer.Context, as_json: bool) -> None:
    async with open_app(context) as app:
        if as_json:
            described = describe_agents(app.root, app.specs, app.unmatched, app.plugins)
            print_json({**described, "mcp_servers": describe_mcp(app.processes.mcp)})
        else:
            print_tree(open_console(), app)
        warn(app)
