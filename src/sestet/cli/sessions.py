"""``sestet sessions``: the list of conversations, and what can be done with one."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from sestet.cli.assistant import open_app, run
from sestet.cli.names import session_names
from sestet.cli.options import AS_JSON, LIMIT, ExitCode, confirmed, new_program
from sestet.cli.private_file import new_private_file
from sestet.cli.show.console import as_json_text, open_bar, open_console, print_json
from sestet.cli.show.history import print_sessions, print_turns
from sestet.cli.show.sessions import deletion_lines, preview_lines, print_exchanges
from sestet.cli.stored import open_stored
from sestet.cli.talk.unfinished import open_questions
from sestet.core.clean import clean, escape_json
from sestet.services.session_deletion import describe_deleted
from sestet.services.session_markdown import session_markdown
from sestet.services.sessions import read_turns, rename_session, require_session
from sestet.services.turn_summary import (
    describe_conversation,
    describe_exchange,
    describe_session,
    describe_turn,
)

program = new_program()

_ID = typer.Argument(
    metavar="ID",
    help="The session: its id, the beginning of it, the part after its dash, or 'last'.",
    autocompletion=session_names,
)


@program.callback(invoke_without_command=True)
def list_sessions(
    context: typer.Context,
    as_json: Annotated[bool, AS_JSON] = False,
    limit: Annotated[int, LIMIT] = 20,
) -> None:
    """List the conversations; show, search, rename, export and delete them."""
    if context.invoked_subcommand is not None:
        return
    with open_stored(context) as data:
        rows = data.journal.sessions(limit)
        if as_json:
            print_json([describe_session(row) for row in rows])
        elif rows:
            print_sessions(open_console(), rows)
        else:
            typer.echo("There is no session yet; 'sestet chat' begins one.", err=True)


@program.command("show")
def show_session(
    context: typer.Context,
    session: Annotated[str, _ID],
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show a conversation with its agents and their tool calls."""
    run(_show(context, session, as_json))


@program.command("search")
def search_sessions(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="Words of messages and answers.")],
    limit: Annotated[int, LIMIT] = 10,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Find the turns in which these words were said, the best matches first."""
    query = " ".join(words).strip()
    if not query:
        raise typer.BadParameter("give the words to look for")
    with open_stored(context) as data:
        found = data.search_sessions(query, limit)
        titles = {row.id: row.title for row in data.journal.sessions(1_000_000)}
    if as_json:
        print_json([describe_exchange(each, query, titles) for each in found])
    elif found:
        print_exchanges(open_console(), found, query, titles)
    else:
        typer.echo(f"No conversation has these words: {clean(query)}", err=True)


@program.command("rename")
def rename(
    context: typer.Context,
    session: Annotated[str, _ID],
    title: Annotated[list[str], typer.Argument(metavar="TITLE...", help="The new title.")],
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Give a conversation a title of your own; by default it is the first message."""
    with open_stored(context) as data:
        row = require_session(data.journal, session)
        given = rename_session(data.journal, row.id, " ".join(title))
    if as_json:
        print_json(describe_session(row._replace(title=given)))
    else:
        typer.echo(f"{clean(row.id)}: {clean(given)}", err=True)


@program.command("delete")
def delete(
    context: typer.Context,
    session: Annotated[str, _ID],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    with_memories: Annotated[
        bool,
        typer.Option("--with-memories", help="Also delete what you told Sestet to remember in it."),
    ] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Delete a conversation for good, with what Sestet noticed in it; its costs stay in the sums.

    What you told Sestet to remember stays, unless you say --with-memories.
    """
    with open_stored(context) as data:
        row = require_session(data.journal, session)
        preview = data.session_deletion.preview(row)
        if not yes:
            for line in preview_lines(row, preview, with_memories=with_memories):
                typer.echo(line, err=True)
            if not confirmed("Delete it for good?"):
                typer.echo("nothing was deleted", err=True)
                raise typer.Exit(ExitCode.FAILED)
        with open_bar("looking for what cites it", hidden=as_json) as watch:
            done = run(data.session_deletion.delete(row, with_memories=with_memories, watch=watch))
        wipe = data.forgetting.wipe()
    if as_json:
        print_json(describe_deleted(done, preview, wipe))
        return
    for line in deletion_lines(done, preview, wipe, with_memories=with_memories):
        typer.echo(line, err=True)


@program.command("export")
def export(
    context: typer.Context,
    session: Annotated[str, _ID],
    form: Annotated[
        Literal["markdown", "json"], typer.Option("--format", help="To read, or complete for a program.")
    ] = "markdown",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write; else stdout. It must be new.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Write a conversation as Markdown that reads well, or as JSON with every event."""
    with open_stored(context) as data:
        row = require_session(data.journal, session)
        turns = read_turns(data.journal, row.id)
    if form == "json" or as_json:
        text = escape_json(as_json_text(describe_conversation(row, turns)))
    else:
        text = session_markdown(row, turns)
    if out is None:
        typer.echo(text)
        return
    with new_private_file(out) as stream:
        stream.write(f"{text}\n")
    typer.echo(f"{clean(row.id)}: written to {clean(str(out))}", err=True)


async def _show(context: typer.Context, wanted: str, as_json: bool) -> None:
    async with open_app(context) as app:
        row = require_session(app.journal, wanted)
        turns = read_turns(app.journal, row.id)
        if as_json:
            described = [describe_turn(turn, open_questions(app, turn[0].stamp.turn_id)) for turn in turns]
            print_json({"session": row.id, "title": row.title, "turns": described})
        else:
            print_turns(open_console(), turns, markdown=False)
