"""``sestet ask``: one message, one answer."""

from typing import Annotated, NamedTuple

import typer

from sestet.cli.assistant import open_app, run, warn_once
from sestet.cli.names import session_names, specialist_names
from sestet.cli.options import MINE, has_waiting_input, is_typed, new_program, read_stdin
from sestet.cli.show.console import print_json
from sestet.cli.talk.turns import (
    answer_plainly,
    exit_code,
    follow_turn,
    print_open_questions,
    warn,
)
from sestet.core.event import Event, TurnPaused
from sestet.runtime.answer import denied_name
from sestet.services.sessions import open_session
from sestet.services.turn_summary import describe_turn

program = new_program()


@program.command()
def ask(
    context: typer.Context,
    message: Annotated[
        list[str], typer.Argument(metavar="MESSAGE...", help="What to ask; - reads it from stdin.")
    ],
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            "-s",
            metavar="ID",
            help="Ask in this session, or begin it; 'last': the latest.",
            autocompletion=session_names,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the turn as one JSON object.")] = False,
    wait_for_approval: Annotated[
        bool,
        typer.Option(
            "--wait-for-approval",
            help="Let a call that needs your approval wait, and exit with 3; else it is denied.",
        ),
    ] = False,
    mine: Annotated[bool, MINE] = False,
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="The specialist that answers; else the orchestrator chooses.",
            autocompletion=specialist_names,
        ),
    ] = "",
) -> None:
    """Ask one thing. Only the answer goes to stdout; who is working and what was changed, to stderr.

    A message from stdin is untrusted, unless you type it or pass --mine: it chooses no receiver.
    """
    is_piped = message == ["-"]
    if not is_piped and has_waiting_input():
        warn_once("stdin is not read, because the message is given; 'sestet ask -' reads a message from it")
    mine = mine or not is_piped or is_typed()
    text = (read_stdin() if is_piped else " ".join(message)).strip()
    if not text:
        raise typer.BadParameter("the message is empty")
    how = _How(wait_for_approval, mine, agent)
    raise typer.Exit(run(_ask(context, text, session, how, as_json=as_json)))


class _How(NamedTuple):
    """How the turn runs."""

    can_ask: bool
    mine: bool
    agent: str


async def _ask(context: typer.Context, text: str, session: str | None, how: _How, *, as_json: bool) -> int:
    can_ask, mine, agent = how
    async with open_app(context) as app:
        session_id = open_session(app.journal, session)
        warn(app)
        if not as_json:
            return await answer_plainly(app, session_id, text, can_ask=can_ask, mine=mine, agent=agent)
        events: list[Event] = []
        end = await follow_turn(app, session_id, text, events.append, can_ask=can_ask, mine=mine, agent=agent)
        print_json(describe_turn(events, app.approvals.pending(end.stamp.turn_id)))
        if isinstance(end, TurnPaused):
            print_open_questions(app, end.stamp.turn_id)
        return exit_code(end, denied=any(map(denied_name, events)))
