"""``sestet knowledge``: what was saved, learned and ingested, and where each of it came from."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sestet.cli.options import LARGEST, LIMIT

if TYPE_CHECKING:
    from sestet.storage.knowledge import KnowledgeRow, KnowledgeStore

program = typer.Typer(
    rich_markup_mode=None,
    help="Knowledge, lessons and documents: read, add, correct, trace and forget them.",
    no_args_is_help=True,
)

_AS_JSON = typer.Option("--json", help="Print JSON.")
_KEY = typer.Argument(metavar="KEY", help="The entry, by its title.")


@program.command("list")
def list_entries(
    context: typer.Context,
    tag: Annotated[str, typer.Option(metavar="TAG", help="Only entries with this tag.")] = "",
    limit: Annotated[int, LIMIT] = 50,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """List the saved entries, the latest first."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.knowledge import print_entries
    from sestet.storage.knowledge import KnowledgeStore

    nothing = "Nothing is saved yet; 'sestet knowledge save KEY TEXT' saves an entry."
    if tag:
        nothing = "No entry has this tag; 'sestet knowledge list' shows those that there are."
    with open_storage(context) as storage:
        rows = KnowledgeStore(storage.database).latest(limit, tag.strip().lower())
        print_entries(rows, as_json, nothing)


@program.command("show")
def show(
    context: typer.Context, key: Annotated[str, _KEY], as_json: Annotated[bool, _AS_JSON] = False
) -> None:
    """Show one entry whole, with where it came from."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.knowledge import print_entry
    from sestet.storage.knowledge import KnowledgeStore

    with open_storage(context) as storage:
        print_entry(_require(KnowledgeStore(storage.database), key), as_json)


@program.command("search")
def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="The words to look for.")],
    limit: Annotated[int, LIMIT] = 5,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Search entries, lessons and documents by words and by meaning, each passage with its source."""
    from sestet.cli.opening import run

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
        Literal["fact", "note", "document", "procedure"], typer.Option(help="What kind of text it is.")
    ] = "note",
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="A word to find it by; may be repeated.")
    ] = None,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Save an entry in your own words; the same KEY again makes a new version."""
    from sestet.agents.librarian.knowledge import entry_of
    from sestet.cli.opening import open_storage
    from sestet.cli.show.knowledge import print_saved
    from sestet.core.errors import PersonError, ToolError
    from sestet.core.label import CLEAN, Origin
    from sestet.storage.knowledge import KnowledgeStore

    text = sys.stdin.read() if content == ["-"] else " ".join(content)
    try:
        entry = entry_of(text, key, tag or ())
    except ToolError as error:
        raise PersonError(str(error)) from error
    with open_storage(context) as storage:
        row = KnowledgeStore(storage.database).save(
            entry.key, entry.content, category, Origin("", "", CLEAN), entry.tags
        )
        print_saved(row, as_json)


@program.command("history")
def history(
    context: typer.Context, key: Annotated[str, _KEY], as_json: Annotated[bool, _AS_JSON] = False
) -> None:
    """Show every version of an entry, the latest first."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.knowledge import print_versions
    from sestet.storage.knowledge import KnowledgeStore

    with open_storage(context) as storage:
        knowledge = KnowledgeStore(storage.database)
        row = _require(knowledge, key)
        print_versions(row, knowledge.history(key), as_json)


@program.command("undo")
def undo(
    context: typer.Context,
    key: Annotated[str, _KEY],
    to: Annotated[
        int | None,
        typer.Option(
            min=1, max=LARGEST, metavar="N", help="Go to this version; else to the one before the present."
        ),
    ] = None,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Go back to an earlier version of an entry; none is lost."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.knowledge import print_saved
    from sestet.core.errors import PersonError
    from sestet.storage.knowledge import KnowledgeStore

    with open_storage(context) as storage:
        knowledge = KnowledgeStore(storage.database)
        present = _require(knowledge, key)
        versions = {version.version: version for version in knowledge.history(key)}
        wanted = to or versions[present.version].previous
        if wanted is None:
            raise PersonError(
                f"{present.key!r} is at its first version; 'sestet knowledge forget' removes it altogether"
            )
        row = knowledge.restore(key, wanted)
        if row is None:
            raise PersonError(
                f"{present.key!r} has no version {wanted}; 'sestet knowledge history' lists them"
            )
        print_saved(row, as_json)


@program.command("learnings")
def learnings(
    context: typer.Context, limit: Annotated[int, LIMIT] = 50, as_json: Annotated[bool, _AS_JSON] = False
) -> None:
    """List the lessons: what happened, and what helped."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.knowledge import print_learnings
    from sestet.storage.learnings import LearningStore

    with open_storage(context) as storage:
        print_learnings(LearningStore(storage.database).latest(limit), as_json)


@program.command("documents")
def documents(
    context: typer.Context, limit: Annotated[int, LIMIT] = 200, as_json: Annotated[bool, _AS_JSON] = False
) -> None:
    """List the documents that were ingested."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.knowledge import print_documents
    from sestet.storage.documents import DocumentStore

    with open_storage(context) as storage:
        print_documents(DocumentStore(storage.database).list(limit), as_json)


@program.command("forget")
def forget(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="[KEY]", help="The entry, by its title.")] = "",
    learning: Annotated[
        int | None, typer.Option(min=1, max=LARGEST, metavar="N", help="A lesson instead, by its number.")
    ] = None,
    document: Annotated[
        str | None, typer.Option(metavar="PATH", help="Instead a document, or all below a directory.")
    ] = None,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Remove an entry with its history, a lesson, or documents: from tables, index, vectors and file."""
    from sestet.cli.opening import open_storage
    from sestet.cli.show.console import print_json
    from sestet.core.errors import PersonError
    from sestet.services.forgetting import UnwantedEntries, forget_entries

    if sum((bool(key), learning is not None, document is not None)) != 1:
        raise typer.BadParameter("name exactly one thing: a KEY, --learning N or --document PATH")
    with open_storage(context) as storage:
        path = str(_path(document).absolute()) if document is not None else ""
        resolved = str(Path(path).resolve()) if path else ""
        forgotten = forget_entries(storage.database, UnwantedEntries(key, learning, (path, resolved)))
    if not forgotten.names:
        what = repr(key) if key else f"lesson {learning}" if learning else f"document {path!r}"
        raise PersonError(f"there is no {what}; see 'sestet knowledge list', 'learnings' and 'documents'")
    if as_json:
        print_json({"forgotten": forgotten.names, "traces_wiped": forgotten.wiped})
        return
    from sestet.cli.show.clean import clean

    for name in forgotten.names:
        typer.echo(f"forgotten: {clean(name)}")
    if not forgotten.wiped:
        typer.echo(
            "Another Sestet has the file open: traces stay in it until something is forgotten without it.",
            err=True,
        )


@program.command("ingest")
def ingest(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files and directories.")],
    prune: Annotated[
        bool, typer.Option("--prune", help="Also forget documents below PATH whose files are gone.")
    ] = False,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> None:
    """Read documents (markdown, text, html, pdf, code) to be found again; unchanged files are skipped."""
    from sestet.cli.ingesting import ingest_paths

    raise typer.Exit(ingest_paths(context, [_path(path) for path in paths], prune, as_json))


@program.command("embed")
def embed(context: typer.Context, as_json: Annotated[bool, _AS_JSON] = False) -> None:
    """Give every passage its vector now; after a change of embedding.provider, all of them anew."""
    from sestet.cli.ingesting import embed_all

    raise typer.Exit(embed_all(context, as_json))


async def _search(context: typer.Context, query: str, limit: int, as_json: bool) -> None:
    from sestet.cli.opening import open_storage
    from sestet.cli.show.knowledge import print_passages
    from sestet.services.embedding.index import open_embedding
    from sestet.services.retrieval import Retrieval
    from sestet.storage.passages import PassageStore

    with open_storage(context) as storage:
        embedding = open_embedding(storage.settings.embedding, storage.database)
        retrieval = Retrieval(PassageStore(storage.database), embedding=embedding)
        found = await retrieval.retrieve(query, limit, ("knowledge", "learnings", "documents"))
    print_passages(found, query, as_json)


def _path(given: str) -> Path:
    """What an unset variable leaves is no path; for ``Path`` it would be the working directory."""
    if not given.strip():
        raise typer.BadParameter("the path is empty; write . for the working directory")
    return Path(given)


def _require(knowledge: "KnowledgeStore", key: str) -> "KnowledgeRow":
    from sestet.core.errors import PersonError
    from sestet.core.schema import suggest

    row = knowledge.get(key)
    if row is None:
        known = [other.key for other in knowledge.latest(1_000)]
        raise PersonError(f"there is no entry {key!r}{suggest(key, known)}")
    return row
