"""``sestet sessions``: the list of conversations, and the turns of one."""

from typing import Annotated

import typer

from sestet.cli.assistant import open_app, run
from sestet.cli.options import AS_JSON, LIMIT, new_program
from sestet.cli.show.console import open_console, print_json
from sestet.cli.show.history import print_sessions, print_turns
from sestet.cli.show.turn_summary import describe_turn
from sestet.cli.talk.unfinished import open_questions
from sestet.services.sessions import read_turns, require_session

program = new_program()


@program.callback(invoke_without_command=True)
def list_sessions(
    context: typer.Context,
    as_json: Annotated[bool, AS_JSON] = False,
    limit: Annotated[int, LIMIT] = 20,
) -> None:
    """List the conversations; 'sessions show ID' shows one."""
    if context.invoked_subcommand is None:
        run(_list(context, as_json, limit))


@program.command("show")
def show_session(
    context: typer.Context,
    session: Annotated[str, typer.Argument(metavar="ID", help="The session, or the part after its dash.")],
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show a conversation with its agents and their tool calls."""
    run(_show(context, session, as_json))


async def _list(context: typer.Context, as_json: bool, limit: int) -> None:
    async with open_app(context) as app:
        rows = app.journal.sessions(limit)
        if as_json:
            print_json([row._asdict() for row in rows])
        elif rows:
            print_sessions(open_console(), rows)
        else:
            typer.echo("There is no session yet; 'sestet chat' begins one.", err=True)


async def _show(context: typer.Context, wanted: str, as_json: bool) -> None:
    async with open_app(context) as app:
        row = require_session(app.journal, wanted)
        turns = read_turns(app.journal, row.id)
        if as_json:
            described = [describe_turn(turn, open_questions(app, turn[0].stamp.turn_id)) for turn in turns]
            print_json({"session": row.id, "title": row.title, "turns": described})
        else:
            print_turns(open_console(), turns, markdown=False)
