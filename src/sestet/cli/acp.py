"""``sestet acp``: conversations in an editor, over the Agent Client Protocol."""

from functools import partial
from importlib import import_module

import typer

from sestet.cli.assistant import open_app, run
from sestet.cli.options import new_program
from sestet.config.installation import install_command
from sestet.core.errors import PersonError

program = new_program()


@program.command()
def acp(context: typer.Context) -> None:
    """Be an agent for an editor that speaks ACP, such as Zed.

    The editor starts this command, and talks with it over stdin and stdout.
    """
    try:
        editor = import_module("sestet.editor.agent")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "acp":
            raise
        raise PersonError(f"ACP needs an extra: {install_command('acp')}") from error
    run(editor.serve_editor(partial(open_app, context)))
