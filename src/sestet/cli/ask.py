"""``sestet ask``: one message, one answer."""

import sys
from typing import Annotated

import typer


def ask(
    context: typer.Context,
    message: Annotated[
        list[str], typer.Argument(metavar="MESSAGE...", help="What to ask; - reads it from stdin.")
    ],
    session: Annotated[
        str, typer.Option("--session", "-s", metavar="ID", help="Ask in this session, or begin it.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the turn as one JSON object.")] = False,
) -> None:
    """Ask one thing. Only the answer goes to stdout; who is working, to stderr."""
    from sestet.cli.opening import run

    text = sys.stdin.read() if message == ["-"] else " ".join(message)
    if not text.strip():
        raise typer.BadParameter("the message is empty")
    raise typer.Exit(run(_ask(context, text.strip(), session, as_json)))


async def _ask(context: typer.Context, text: str, session: str, as_json: bool) -> int:
    from sestet.cli.opening import open_app
    from sestet.cli.show.console import print_json
    from sestet.cli.talk.session import name_session, new_session_id
    from sestet.cli.talk.turns import answer_plainly, describe_turn, exit_code, follow_turn, warn
    from sestet.core.event import Event

    async with open_app(context) as app:
        session_id = name_session(app.journal, session) if session else new_session_id(app.journal)
        warn(app)
        if not as_json:
            return exit_code(await answer_plainly(app, session_id, text))
        events: list[Event] = []
        end = await follow_turn(app, session_id, text, events.append)
        print_json(describe_turn(events))
        return exit_code(end)
