"""``sestet chat``: a conversation in the terminal, or line by line through a pipe."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

if TYPE_CHECKING:
    from sestet.app import App


def chat(
    context: typer.Context,
    session: Annotated[
        str | None, typer.Option("--session", "-s", metavar="ID", help="Go on in this session, or begin it.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", "-r", help="Go on in the session that was used last.")
    ] = False,
) -> None:
    """Talk with the assistant. A new session, unless you name one.

    In a pipe, each line of stdin is a message, and only the answers go to stdout.
    """
    from sestet.cli.opening import load, run

    if session is not None and resume:
        raise typer.BadParameter("give --session or --resume, not both")
    first = ""
    if is_at_terminal():
        from sestet.cli.setting_up.offer import offer_setup
        from sestet.cli.trust import offer_trust

        offer_trust(cast("Path | None", context.obj))
        first = offer_setup(load(context))
    raise typer.Exit(run(_chat(context, session, resume, first)))


def is_at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


async def _chat(context: typer.Context, session: str | None, resume: bool, first: str) -> int:
    from sestet.cli.opening import open_app
    from sestet.cli.talk.session import last_session, open_session

    async with open_app(context) as app:
        app.models.warm_up()
        if resume and (row := last_session(app.journal)):
            session = row.id
        session_id = open_session(app.journal, session)
        if is_at_terminal():
            await talk_at_terminal(app, session_id, first)
            return 0
        return await talk_in_pipe(app, session_id)


async def talk_at_terminal(app: "App", session_id: str, first: str = "") -> None:
    """Until the person leaves; ``first`` is a message that they have written already, if any."""
    from sestet.cli.show.console import open_console
    from sestet.cli.talk.greeting import greet
    from sestet.cli.talk.line import PromptLine
    from sestet.cli.talk.loop import converse
    from sestet.cli.talk.slash import COMMANDS
    from sestet.cli.talk.state import Talk
    from sestet.config import data_directory

    talk = Talk(app, open_console(), session_id)
    greet(talk)
    await converse(talk, PromptLine(data_directory(), COMMANDS), first)


async def talk_in_pipe(app: "App", session_id: str) -> int:
    """Until stdin ends; the exit code is that of the last turn."""
    import signal

    from sestet.cli.talk.turns import answer_plainly, exit_code, warn
    from sestet.core.event import TurnCancelled

    # While it waits for a line, the program can be interrupted like any other.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = 0
    warn(app)
    for line in sys.stdin:
        if line.strip():
            end = await answer_plainly(app, session_id, line.strip())
            code = exit_code(end)
            # Whoever presses Ctrl-C does not want the next line to be asked.
            if isinstance(end, TurnCancelled):
                break
    return code
