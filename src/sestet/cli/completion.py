"""``sestet completion``: the script that lets a shell complete commands, options and names."""

from typing import Annotated, Literal

import typer
from typer.completion import shell_complete

from sestet.cli.options import new_program

program = new_program()

#: The shell sets it when it asks for completions; typer answers.
_VARIABLE = "_SESTET_COMPLETE"


@program.command()
def completion(
    context: typer.Context,
    shell: Annotated[
        Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")
    ],
) -> None:
    """Print the script that lets your shell complete commands, options and names.

    bash: put this line into ~/.bashrc: eval "$(sestet completion bash)". zsh: the same line with zsh, in
    ~/.zshrc, after compinit. fish: sestet completion fish > ~/.config/fish/completions/sestet.fish
    """
    program = context.find_root().command
    raise typer.Exit(shell_complete(program, {}, "sestet", _VARIABLE, f"source_{shell}"))
