"""Groups of commands: their help, and the errors of a command line, fit a terminal."""

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from sestet.cli.show.console import fitted, width_of

#: Longer than any first sentence, so that none is cut.
_WHOLE = 1_000
_HEAD = "Error: "


class Group(TyperGroup):
    """A group whose help has the whole first sentence of each command, on two lines if need be."""

    # Any, here and below: typer's classes Context and HelpFormatter are private.
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        rows = [(name, self.commands[name].get_short_help_str(_WHOLE)) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[:1] == ["list"] and "list" not in self.commands and self.invoke_without_command:
            ctx.fail(f"No such command 'list': '{ctx.command_path}' alone shows the list.")
        return super().resolve_command(ctx, args)


class Program(Group):
    """The group of all commands. It breaks a long error between words."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            raise _FittedError(error.format_message(), error.ctx) from None


class _FittedError(typer.BadParameter):
    """An error that is already a whole sentence."""

    def format_message(self) -> str:
        if not sys.stderr.isatty():
            return self.message
        return fitted(f"{_HEAD}{self.message}", width_of(sys.stderr)).removeprefix(_HEAD)
