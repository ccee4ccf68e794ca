"""The program: the table of its commands, and the options that stand before a command."""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.completion import (
    completion_init,  # pyright: ignore[reportPrivateImportUsage] - else only typer's own options call it
)
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from sestet import __version__
from sestet.cli.groups import Program


class Entry(NamedTuple):
    """A command in the table: its module, which has a ``program``, and its line in ``sestet --help``."""

    module: str
    help: str


#: Every command, in the order of the help. A module is imported when its command is run.
COMMANDS = {
    "chat": Entry("chat", "Talk with the assistant."),
    "ask": Entry("ask", "Ask one thing."),
    "serve": Entry("serve", "Serve the assistant to pages and programs, over HTTP."),
    "acp": Entry("acp", "Be an agent for an editor that speaks ACP, such as Zed."),
    "setup": Entry(
        "setup", "Choose a model: one that runs here, one you have a key for, or the built-in one."
    ),
    "agents": Entry("agents", "Show the agents with their tools, and the folder or file of each plug-in."),
    "tools": Entry("tools", "List every tool with the agent that owns it, and the file of each plug-in."),
    "trust": Entry("trust", "Accept the settings and plug-ins of this folder: its sestet.yaml and .agents/."),
    "skills": Entry("skills", "List the skills; show, trust, import and remove them."),
    "a2a": Entry("a2a", "Look at agents of others, which can join over A2A."),
    "mcp": Entry("mcp", "Add, try, trust and remove MCP servers, whose tools your agents get."),
    "prompt": Entry("prompt", "Print an agent's prompt, as its model gets it."),
    "route": Entry("route", "Show which specialist a request goes to, and why."),
    "doctor": Entry("doctor", "Check the set-up, with the way out of each problem."),
    "undo": Entry("undo", "Put the files back as they were before the last turn that changed some."),
    "docs": Entry("docs", "List the pages of the documentation, or show one."),
    "sessions": Entry("sessions", "List the conversations; show, search, rename, export and delete them."),
    "trace": Entry("trace", "List the model calls of a turn, and show what a model was shown."),
    "costs": Entry("costs", "Show what the models have cost, by day, month, session, agent or model."),
    "payments": Entry(
        "payments", "Look at the wallet, its balance, the limits and the payments in USDC; make a wallet."
    ),
    "knowledge": Entry(
        "knowledge", "Knowledge, lessons and documents: read, add, correct, trace and forget them."
    ),
    "secrets": Entry("secrets", "Keep secrets and keys in the vault: models get references, never values."),
    "memory": Entry("memory", "Read, correct, trace and delete what is remembered."),
    "approvals": Entry(
        "approvals", "List the calls that wait for your decision; 'approvals show ID' shows one."
    ),
    "graph": Entry(
        "graph", "Look at the knowledge graph, correct it, and decide on what was found in saved texts."
    ),
    "models": Entry(
        "models", "Fetch and choose models that run on this machine, without a key and without a server."
    ),
    "tokens": Entry("tokens", "List, make and revoke the tokens of the server's clients."),
    "backup": Entry("backup", "Copy everything that Sestet has stored into one file, also while it runs."),
    "restore": Entry(
        "restore", "Put a backup in the place of everything that Sestet has stored, also while it runs."
    ),
    "export": Entry(
        "export", "Write everything that Sestet has stored in open formats: Markdown, JSON, CSV."
    ),
    "config": Entry("config", "Show, check and describe the settings."),
    "completion": Entry(
        "completion", "Print the script that lets your shell complete commands, options and names."
    ),
    "eval": Entry(
        "evals", "Try routing, tools, retrieval and whole conversations on test sets; compare two runs."
    ),
}


class LazyCommand(TyperCommand):
    """A command whose module is imported when it is run, so that the help of the program needs none."""

    def __init__(self, name: str, entry: Entry) -> None:
        super().__init__(name, help=entry.help)
        self._module = entry.module

    def load(self) -> TyperCommand | TyperGroup:
        """The command itself, with its options and subcommands."""
        program: typer.Typer = import_module(f"sestet.cli.{self._module}").program
        return cast("TyperCommand | TyperGroup", get_command(program))

    # The group runs the command of the context that this returns. Any: typer's class Context is private.
    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        with _left_alone_by_the_collector():
            command = self.load()
        return command.make_context(info_name, args, parent, **extra)


@contextmanager
def _left_alone_by_the_collector() -> Generator[None]:
    """The garbage collector looks at nothing that is made inside, now or later: modules live for good."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


# Plain help: with rich, the help alone would cost thirteen times the start of Python.
_starter = typer.Typer(
    name="sestet",
    cls=Program,
    help="A self-hosted assistant: one orchestrator that talks with you, and specialists that do the work.",
    epilog="Start with: sestet chat",
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sestet {__version__}")
        raise typer.Exit


@_starter.callback(invoke_without_command=True)
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


def build_program() -> TyperGroup:
    """The program with every command of the table."""
    program = get_command(_starter)
    assert isinstance(program, TyperGroup)  # it has a callback
    # Typer answers the shell's questions only after this; the scripts come from 'sestet completion'.
    completion_init()
    for name, entry in COMMANDS.items():
        program.add_command(LazyCommand(name, entry))
    return program


def put_config_first(arguments: list[str]) -> list[str]:
    """Move ``--config FILE`` before the command: people also write it after."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for position, argument in enumerate(arguments[:end]):
        if argument == "--config" or argument.startswith("--config="):
            length = 1 if "=" in argument else 2
            if position + length > end:
                # Without its file: the parser reports what is missing.
                return [argument]
            found = arguments[position : position + length]
            return [*found, *arguments[:position], *arguments[position + length :]]
    return arguments
