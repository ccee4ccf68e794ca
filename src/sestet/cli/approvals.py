"""``sestet approvals``: the calls that wait for a decision, and the standing answers."""

from typing import Annotated

import typer

from sestet.app import App
from sestet.cli.assistant import open_app, run
from sestet.cli.options import AS_JSON, new_program, whole_number
from sestet.cli.show.console import open_console, print_json
from sestet.cli.show.question import print_approval, print_grants, print_questions
from sestet.cli.talk.turns import exit_code, finish_plainly, follow_resumed, print_open_questions
from sestet.cli.talk.unfinished import open_questions
from sestet.core.event import TurnPaused
from sestet.services.approvals import (
    Decision,
    Question,
    Scope,
    describe_grant,
    describe_question,
    pick_question,
    when_free,
)
from sestet.services.turn_summary import describe_turn

program = new_program()

_ID = typer.Argument(metavar="ID", help="The question's id, or its beginning.")
_RESUME = typer.Option("--resume/--no-resume", help="Go on with the turn now, and print its answer.")


@program.callback(invoke_without_command=True)
def list_approvals(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """List the calls that wait for your decision; 'approvals show ID' shows one."""
    if context.invoked_subcommand is None:
        run(_list(context, as_json))


@program.command("show")
def show(
    context: typer.Context, question: Annotated[str, _ID], as_json: Annotated[bool, AS_JSON] = False
) -> None:
    """Show a call with all of its arguments, why it is asked about, and what was read before."""
    run(_show(context, question, as_json))


@program.command("approve")
def approve(
    context: typer.Context,
    question: Annotated[str, _ID],
    scope: Annotated[
        Scope,
        typer.Option(
            help="For this call alone, or for calls with the same targets in this session or always."
        ),
    ] = "once",
    resume: Annotated[bool, _RESUME] = True,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Approve one exact call; then its turn goes on here."""
    raise typer.Exit(run(_decide(context, question, "approve", scope, resume, as_json)))


@program.command("deny")
def deny(
    context: typer.Context,
    question: Annotated[str, _ID],
    resume: Annotated[bool, _RESUME] = True,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Deny one exact call; then its turn goes on here, without it."""
    raise typer.Exit(run(_decide(context, question, "deny", "once", resume, as_json)))


@program.command("grants")
def grants(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """List the standing answers: what you approved for a session or always."""
    run(_grants(context, as_json))


@program.command("revoke")
def revoke(
    context: typer.Context,
    number: Annotated[
        int,
        typer.Argument(parser=whole_number(), metavar="N", help="Its number in 'sestet approvals grants'."),
    ],
) -> None:
    """Take back a standing answer."""
    run(_revoke(context, number))


async def _list(context: typer.Context, as_json: bool) -> None:
    async with open_app(context) as app:
        questions = open_questions(app)
        if as_json:
            print_json([describe_question(question) for question in questions])
        elif questions:
            print_questions(open_console(), questions)
        else:
            typer.echo("Nothing waits for your decision.", err=True)


async def _show(context: typer.Context, wanted: str, as_json: bool) -> None:
    async with open_app(context) as app:
        question = _find(app, wanted)
        if as_json:
            print_json(describe_question(question))
        else:
            print_approval(open_console(), question, app.standing_tool(question), whole=True)


async def _decide(
    context: typer.Context, wanted: str, decision: Decision, scope: Scope, resume: bool, as_json: bool
) -> int:
    async with open_app(context) as app:
        question = _find(app, wanted)
        await when_free(lambda: app.decide(question.id, decision, scope))
        return await _go_on(app, question, as_json) if resume else _say_decided(app, question, as_json)


def _say_decided(app: App, question: Question, as_json: bool) -> int:
    decided = app.approvals.get(question.id) or question
    if as_json:
        print_json(describe_question(decided))
    else:
        typer.echo(f"{decided.id}: {decided.state}; the turn waits until it is resumed", err=True)
    return 0


async def _go_on(app: App, question: Question, as_json: bool) -> int:
    turn = app.journal.turn(question.turn_id)
    assert turn is not None  # a question refers to its turn
    if not as_json:
        return exit_code(await finish_plainly(app, turn))
    end = await follow_resumed(app, turn, lambda _: None)
    print_json(describe_turn(list(app.journal.events_of(turn.id)), open_questions(app, turn.id)))
    if isinstance(end, TurnPaused):
        print_open_questions(app, turn.id)
    return exit_code(end)


async def _grants(context: typer.Context, as_json: bool) -> None:
    async with open_app(context) as app:
        found = app.approvals.grants()
        if as_json:
            print_json([describe_grant(grant) for grant in found])
        elif found:
            print_grants(open_console(), found)
        else:
            typer.echo("There is no standing answer.", err=True)


async def _revoke(context: typer.Context, number: int) -> None:
    async with open_app(context) as app:
        await when_free(lambda: app.approvals.revoke(number))
        typer.echo(f"{number}: revoked", err=True)


def _find(app: App, wanted: str) -> Question:
    return pick_question(app.approvals, open_questions(app), wanted)
