"""``sestet completion``: the script that lets a shell complete commands, options and names."""

from typing import Annotated, Literal

import typer
from typer.completion import get_completion_script

from sestet.cli.options import new_program

program = new_program()

#: The shell sets it when it asks for completions; typer answers.
_VARIABLE = "_SESTET_COMPLETE"


@program.command()
def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")
    ],
) -> None:
    """Print the script that lets your shell complete commands, options and names.

    bash: put this line into ~/.bashrc: eval "$(sestet completion bash)". zsh: the same line with zsh, in
    ~/.zshrc, after compinit. fish: sestet completion fish > ~/.config/fish/completions/sestet.fish
    """
    typer.echo(get_completion_script(prog_name="sestet", complete_var=_VARIABLE, shell=shell))
