"""``sestet prompt``: the prompt of an agent."""

from typing import Annotated

import typer

from sestet.cli.assistant import open_app, run
from sestet.cli.names import agent_names
from sestet.cli.options import new_program
from sestet.cli.show.console import echo
from sestet.core.agent import normalise_name
from sestet.core.clean import clean
from sestet.core.errors import PersonError
from sestet.core.schema import suggest

program = new_program()


@program.command()
def prompt(
    context: typer.Context,
    agent: Annotated[
        str,
        typer.Option(metavar="NAME", help="A specialist; else the orchestrator.", autocompletion=agent_names),
    ] = "",
) -> None:
    """Print an agent's prompt, as its model gets it."""
    run(_prompt(context, agent))


async def _prompt(context: typer.Context, name: str) -> None:
    async with open_app(context) as app:
        root = app.root
        agent = root if normalise_name(name) in ("", normalise_name(root.name)) else root.sub_agent(name)
        if agent is None:
            names = [root.name, *(child.name for child in root.sub_agents)]
            near = suggest(name, names) or f"; there are {', '.join(names)}"
            raise PersonError(f"there is no agent '{name}'{near}")
        if agent.remote is not None:
            raise PersonError(f"'{agent.name}' is a remote agent: its prompt is not known here")
        echo(clean(agent.instruction).rstrip("\n"))
