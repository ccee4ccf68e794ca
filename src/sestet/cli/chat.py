"""``sestet chat``: a conversation in the terminal, or line by line through a pipe."""

import signal
import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from sestet.app import App
from sestet.cli.assistant import open_app, run
from sestet.cli.names import session_names
from sestet.cli.options import MINE, ExitCode, is_typed, new_program, stdin_lines
from sestet.cli.talk.turns import answer_plainly, warn
from sestet.services.sessions import last_session, open_session

program = new_program()


@program.command()
def chat(
    context: typer.Context,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            "-s",
            metavar="ID",
            help="Go on in this session, or begin it; 'last': the latest.",
            autocompletion=session_names,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", "-r", help="Go on in the session that was used last.")
    ] = False,
    mine: Annotated[bool, MINE] = False,
) -> None:
    """Talk with the assistant. A new session, unless you name one.

    In a pipe, each line of stdin is a message, and only the answers go to stdout. The lines are untrusted,
    unless you pass --mine.
    """
    if session is not None and resume:
        raise typer.BadParameter("give --session or --resume, not both")
    first = ""
    if is_at_terminal():
        # Only a terminal needs rich and prompt_toolkit.
        from sestet.cli.setup_dialogue import offer_setup
        from sestet.cli.trust import offer_trust

        offer_trust(cast("Path | None", context.obj))
        first = offer_setup(context)
    raise typer.Exit(run(_chat(context, session, resume, first, mine=mine)))


def is_at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


async def _chat(context: typer.Context, session: str | None, resume: bool, first: str, *, mine: bool) -> int:
    async with open_app(context) as app:
        app.models.warm_up()
        if resume and (row := last_session(app.journal)):
            session = row.id
        session_id = open_session(app.journal, session)
        if not is_at_terminal():
            return await talk_in_pipe(app, session_id, mine=mine or is_typed())
        from sestet.cli.talk.terminal import talk_at_terminal

        await talk_at_terminal(app, session_id, first)
        return 0


async def talk_in_pipe(app: App, session_id: str, *, mine: bool) -> int:
    """Talk until stdin ends; returns the exit code of the last turn."""
    # While the program waits for a line, Ctrl-C ends it as usual.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = ExitCode.OK
    warn(app)
    for line in stdin_lines():
        if line.strip():
            code = await answer_plainly(app, session_id, line.strip(), mine=mine)
            # Ctrl-C ends the conversation: the next line is not asked.
            if code is ExitCode.STOPPED:
                break
    return code
