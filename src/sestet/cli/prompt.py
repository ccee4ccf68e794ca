"""``sestet prompt``: what an agent is told."""

from typing import Annotated

import typer


def prompt(
    context: typer.Context,
    agent: Annotated[str, typer.Option(metavar="NAME", help="A specialist; else the orchestrator.")] = "",
) -> None:
    """Print what an agent is told: its prompt, as the model gets it."""
    from sestet.cli.opening import run

    run(_prompt(context, agent))


async def _prompt(context: typer.Context, name: str) -> None:
    from sestet.cli.opening import open_app
    from sestet.cli.show.clean import clean
    from sestet.core.agent import normalise_name
    from sestet.core.errors import PersonError
    from sestet.core.schema import suggest

    async with open_app(context) as app:
        root = app.root
        agent = root if normalise_name(name) in ("", normalise_name(root.name)) else root.sub_agent(name)
        if agent is None:
            names = [root.name, *(child.name for child in root.sub_agents)]
            near = suggest(name, names) or f"; there are {', '.join(names)}"
            raise PersonError(f"there is no agent '{name}'{near}")
        if agent.remote is not None:
            raise PersonError(f"'{agent.name}' lives elsewhere: its prompt is its own")
        typer.echo(clean(agent.instruction).rstrip("\n"))
