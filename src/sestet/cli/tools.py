"""``sestet tools``: lists every tool with its owner and origin, and writes the skeleton of a new one."""

from typing import Annotated

import typer
from rich.text import Text

from sestet.cli.agents import print_written
from sestet.cli.assistant import load, open_app, run
from sestet.cli.options import AS_JSON, new_program
from sestet.cli.show.console import align, open_console, print_json, print_line, shorten_home
from sestet.cli.talk.turns import warn
from sestet.core.clean import clean, one_line
from sestet.core.tool import Tool
from sestet.description import describe_tool, origin_of
from sestet.plugins.find import find_plugins
from sestet.plugins.skeleton import new_tool

program = new_program()


@program.callback(invoke_without_command=True)
def tools(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """List every tool with the agent that owns it, and the file of each plug-in."""
    if context.invoked_subcommand is None:
        run(_tools(context, as_json))


@program.command("new")
def new(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, such as exec_load.")],
    agent: Annotated[
        str,
        typer.Option(
            metavar="AGENT", help="The agent that gets it; by default the owner of the prefix in NAME."
        ),
    ] = "",
    workspace: Annotated[
        bool, typer.Option("--workspace", help="Write below ./.agents instead of the config directory.")
    ] = False,
) -> None:
    """Write the skeleton of a tool for an agent that exists, and a test that passes."""
    files = new_tool(name, agent, find_plugins(load(context)), workspace=workspace)
    # The file has the name of the tool, which may have got the prefix of its agent.
    print_written(files, f"use {files[0].stem} to count the letters in tea")


async def _tools(context: typer.Context, as_json: bool) -> None:
    async with open_app(context) as app:
        agents = (app.root, *app.root.sub_agents)
        owners = {tool.name: agent.name for agent in agents for tool in agent.tools or ()}
        tools = (*app.tools, *(tool for tool in app.unmatched if tool.outside))
        if as_json:
            rows = [{**describe_tool(tool, app.plugins), "owner": owners.get(tool.name)} for tool in tools]
            print_json(rows)
        else:
            console = open_console()
            lines = align(
                (
                    Text(clean(tool.name)),
                    Text(clean(owners.get(tool.name, "no agent"))),
                    _describe(tool, origin_of(tool, app.plugins)),
                )
                for tool in tools
            )
            for line in lines:
                print_line(console, line)
        warn(app)


def _describe(tool: Tool, origin: str) -> Text:
    """The file of a plug-in, and the first sentence of the description."""
    summary = one_line(tool.description, 1_000).partition(". ")[0].rstrip(".")
    where = (f"{shorten_home(clean(origin))}  " if origin else "", "cyan")
    return Text.assemble(where, (summary, "dim"))
