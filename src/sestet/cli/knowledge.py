"""``sestet knowledge``: saved entries, lessons and documents, each with its origin."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from sestet.agents.librarian.knowledge import entry_of
from sestet.cli.assistant import run
from sestet.cli.options import (
    ANYWAY,
    AS_JSON,
    LIMIT,
    MINE,
    ExitCode,
    is_typed,
    new_program,
    read_stdin,
    refuse_secret,
    whole_number,
)
from sestet.cli.show.console import Watch, open_bar, print_json
from sestet.cli.show.knowledge import (
    print_documents,
    print_entries,
    print_entry,
    print_learnings,
    print_passages,
    print_saved,
    print_summary,
    print_versions,
)
from sestet.cli.stored import open_stored
from sestet.core.clean import clean
from sestet.core.errors import PersonError, ToolError
from sestet.services.documents.ingestion import IngestionProgress, describe_summary
from sestet.services.embedding.progress import Progress
from sestet.services.forgetting import UNWIPED
from sestet.services.library import Embedded, Library

program = new_program("Knowledge, lessons and documents: read, add, correct, trace and forget them.")

_KEY = typer.Argument(metavar="KEY", help="The entry, by its title.")
#: The next question gives so many passages their vectors unnoticed.
_FEW = 8


@program.command("list")
def list_entries(
    context: typer.Context,
    tag: Annotated[str, typer.Option(metavar="TAG", help="Only entries with this tag.")] = "",
    limit: Annotated[int, LIMIT] = 50,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """List the saved entries, the latest first."""
    nothing = "Nothing is saved yet; 'sestet knowledge save KEY TEXT' saves an entry."
    if tag:
        nothing = "No entry has this tag; 'sestet knowledge list' shows all entries."
    with open_stored(context) as data:
        print_entries(data.library.entries(limit, tag), as_json, nothing)


@program.command("show")
def show(
    context: typer.Context, key: Annotated[str, _KEY], as_json: Annotated[bool, AS_JSON] = False
) -> None:
    """Show one whole entry, with its origin."""
    with open_stored(context) as data:
        print_entry(data.library.entry(key), as_json)


@program.command("search")
def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="The words to look for.")],
    limit: Annotated[int, LIMIT] = 5,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Search entries, lessons and documents by words and by meaning, each passage with its source."""
    words = " ".join(query).strip()
    if not words:
        raise typer.BadParameter("the query is empty")
    run(_search(context, words, limit, as_json))


@program.command("save")
def save(
    context: typer.Context,
    key: Annotated[str, _KEY],
    content: Annotated[list[str], typer.Argument(metavar="TEXT...", help="The text; - reads it from stdin.")],
    category: Annotated[
        Literal["fact", "note", "document", "procedure"] | None,
        typer.Option(help="What kind of text it is; else as before, or note."),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="A word to find it by; may be repeated. Else as before."),
    ] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Remove its tags.")] = False,
    mine: Annotated[bool, MINE] = False,
    anyway: Annotated[bool, ANYWAY] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Save an entry in your own words; the same KEY again makes a new version.

    Text from stdin is untrusted, unless you type it or pass --mine. It never replaces an entry of yours.
    """
    if tag and no_tags:
        raise typer.BadParameter("give either --tag or --no-tags")
    is_piped = content == ["-"]
    mine = mine or not is_piped or is_typed()
    text = read_stdin() if is_piped else " ".join(content)
    try:
        entry = entry_of(text, key, tag or ())
    except ToolError as error:
        raise PersonError(str(error)) from error
    refuse_secret(f"{entry.key}: {entry.content}", anyway)
    with open_stored(context) as data:
        tags = entry.tags if tag or no_tags else None
        saved = data.library.save(entry.key, entry.content, category, tags, mine=mine)
    print_saved(saved, as_json)
    if saved.key.casefold() != entry.key.casefold():
        typer.echo(
            f"{clean(repr(entry.key))} is yours and stays as it is; pass --mine to save the text as yours",
            err=True,
        )


@program.command("history")
def history(
    context: typer.Context, key: Annotated[str, _KEY], as_json: Annotated[bool, AS_JSON] = False
) -> None:
    """Show every version of an entry, the latest first."""
    with open_stored(context) as data:
        print_versions(data.library.entry(key), data.library.versions(key), as_json)


@program.command("undo")
def undo(
    context: typer.Context,
    key: Annotated[str, _KEY],
    to: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(), metavar="N", help="Go to this version; else to the previous one."
        ),
    ] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Go back to an earlier version of an entry; none is lost."""
    with open_stored(context) as data:
        print_saved(data.library.undo(key, to), as_json)


@program.command("learnings")
def learnings(
    context: typer.Context, limit: Annotated[int, LIMIT] = 50, as_json: Annotated[bool, AS_JSON] = False
) -> None:
    """List the lessons: what happened, and what helped."""
    with open_stored(context) as data:
        print_learnings(data.library.lessons(limit), as_json)


@program.command("documents")
def documents(
    context: typer.Context, limit: Annotated[int, LIMIT] = 200, as_json: Annotated[bool, AS_JSON] = False
) -> None:
    """List the documents that were ingested."""
    with open_stored(context) as data:
        print_documents(data.library.documents(limit), as_json)
        _tell_progress(None if as_json else data.library.progress())


@program.command("forget")
def forget(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="[KEY]", help="The entry, by its title.")] = "",
    learning: Annotated[
        int | None, typer.Option(parser=whole_number(), metavar="N", help="A lesson instead, by its number.")
    ] = None,
    document: Annotated[
        str | None, typer.Option(metavar="PATH", help="Instead a document, or all below a directory.")
    ] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Remove an entry with its history, a lesson, or documents: from tables, index, vectors and file."""
    if sum((bool(key), learning is not None, document is not None)) != 1:
        raise typer.BadParameter("name exactly one thing: a KEY, --learning N or --document PATH")
    with open_stored(context) as data:
        if document is not None:
            path = _path(document).absolute()
            what, forgotten = f"document {str(path)!r}", data.library.forget_documents(path)
        elif learning is not None:
            what, forgotten = f"lesson {learning}", data.library.forget_lesson(learning)
        else:
            what, forgotten = repr(key), data.library.forget_entry(key)
    if not forgotten.names:
        raise PersonError(f"there is no {what}; see 'sestet knowledge list', 'learnings' and 'documents'")
    if as_json:
        print_json({"forgotten": forgotten.names, "traces_wiped": forgotten.wipe == "wiped"})
        return
    for name in forgotten.names:
        typer.echo(f"forgotten: {clean(name)}")
    if forgotten.wipe in UNWIPED:
        typer.echo(UNWIPED[forgotten.wipe], err=True)


@program.command("ingest")
def ingest(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files and directories.")],
    prune: Annotated[
        bool, typer.Option("--prune", help="Also forget documents below PATH whose files are gone.")
    ] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Read documents (markdown, text, html, pdf, code) to be found again; unchanged files are skipped."""
    given = [_path(path) for path in paths]
    with open_stored(context) as data:
        try:
            with open_bar("files", hidden=as_json) as bar:
                watch = _watching_files(bar) if bar else None
                summary = data.library.ingest(given, prune=prune, watch=watch)
            embedded = run(_embed(data.library, as_json, quickly=True))
            progress = data.library.progress()
        except KeyboardInterrupt:
            typer.echo("Stopped. The documents read so far are kept; run it again to go on.", err=True)
            raise typer.Exit(ExitCode.STOPPED) from None
    if as_json:
        print_json({**describe_summary(summary), "embedding_problem": embedded.problem})
    else:
        print_summary(summary)
        if embedded.problem:
            typer.echo(f"Found by words alone for now: {clean(embedded.problem)}", err=True)
        _tell_progress(progress)
    raise typer.Exit(1 if summary.broken else 0)


@program.command("embed")
def embed(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Give every passage its vector now; after a change of embedding.provider, all of them anew."""
    with open_stored(context) as data:
        if data.settings.embedding.provider == "none":
            raise PersonError(
                "embedding.provider is none, so there are no vectors; set it to local or openai"
            )
        try:
            embedded = run(_embed(data.library, as_json))
        except KeyboardInterrupt:
            typer.echo("Stopped. The vectors so far are kept; run it again to go on.", err=True)
            raise typer.Exit(ExitCode.STOPPED) from None
    if as_json:
        print_json({"embedded": embedded.done, "embedding_problem": embedded.problem})
    elif embedded.problem:
        typer.echo(f"{embedded.done} passages embedded, then: {clean(embedded.problem)}", err=True)
    else:
        typer.echo(f"{embedded.done} passages embedded; every passage has its vector.")
    raise typer.Exit(1 if embedded.problem else 0)


async def _search(context: typer.Context, query: str, limit: int, as_json: bool) -> None:
    with open_stored(context) as data:
        found = await data.library.search(query, limit)
    print_passages(found, query, as_json)


async def _embed(library: Library, as_json: bool, *, quickly: bool = False) -> Embedded:
    with open_bar("vectors", hidden=as_json) as bar:
        return await library.embed(bar and (lambda done, total: bar(done, total, "")), quickly=quickly)


def _tell_progress(progress: Progress | None) -> None:
    """Say how far the vectors are, if passages wait for theirs."""
    if progress and progress.waiting > _FEW:
        told = f"{progress.done:,} of {progress.total:,} passages have their best vector."
        how = "An open assistant gives it to the others in the background"
        typer.echo(f"{told} {how}; 'sestet knowledge embed' does it now.", err=True)


def _watching_files(bar: Watch) -> Callable[[IngestionProgress], None]:
    return lambda now: bar(now.done, now.total, now.path.rpartition("/")[2])


def _path(given: str) -> Path:
    """A path; empty text, as an unset variable leaves it, is an error and not the working directory."""
    if not given.strip():
        raise typer.BadParameter("the path is empty; write . for the working directory")
    return Path(given)
