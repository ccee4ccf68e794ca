"""The program's commands and the options that stand before them."""

from pathlib import Path
from typing import Annotated

import typer

from sestet.cli import (
    agents,
    approvals,
    ask,
    chat,
    config,
    doctor,
    evals,
    graph,
    knowledge,
    memory,
    models,
    prompt,
    route,
    sessions,
    setup,
    tools,
    trust,
)

# Plain help: with rich, the help alone would cost thirteen times the start of Python.
program = typer.Typer(
    name="sestet",
    help="A self-hosted assistant: one orchestrator that talks with you, and specialists that do the work.",
    epilog="Start with: sestet chat",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
program.command("chat")(chat.chat)
program.command("ask")(ask.ask)
program.command("setup")(setup.setup)
program.add_typer(agents.program, name="agents")
program.add_typer(tools.program, name="tools")
program.command("trust")(trust.trust)
program.command("prompt")(prompt.prompt)
program.command("route")(route.route)
program.add_typer(sessions.program, name="sessions")
program.add_typer(knowledge.program, name="knowledge")
program.add_typer(memory.program, name="memory")
program.add_typer(approvals.program, name="approvals")
program.add_typer(graph.program, name="graph")
program.add_typer(models.program, name="models")
program.add_typer(config.program, name="config")
program.add_typer(evals.program, name="eval")
program.command("doctor")(doctor.doctor)


def _show_version(wanted: bool) -> None:
    if wanted:
        from sestet import __version__

        typer.echo(f"sestet {__version__}")
        raise typer.Exit


@program.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Settings; else an accepted ./sestet.yaml, else the one in ~/.config/sestet."
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    context.obj = config
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def put_config_first(arguments: list[str]) -> list[str]:
    """Let ``--config FILE`` stand after the command as well: people write it there."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for position, argument in enumerate(arguments[:end]):
        if argument == "--config" or argument.startswith("--config="):
            length = 1 if "=" in argument else 2
            if position + length > end:
                # Alone, so that the parser says what is missing.
                return [argument]
            found = arguments[position : position + length]
            return [*found, *arguments[:position], *arguments[position + length :]]
    return arguments
