"""The work of ``sestet knowledge ingest`` and ``embed``: bars, and a summary that names what was left out."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from sestet.cli.opening import Storage, open_storage, run
from sestet.cli.show.bar import Watch, open_bar
from sestet.cli.show.clean import clean
from sestet.cli.show.console import print_json
from sestet.core.errors import EmbeddingError, PersonError
from sestet.services.documents.ingestion import FileProblem, Ingestion, IngestionProgress, IngestionSummary
from sestet.services.embedding.index import open_embedding
from sestet.storage.documents import DocumentStore

_INTERRUPTED = 130
_NAMES_SHOWN = 5


def ingest_paths(context: typer.Context, paths: Sequence[Path], prune: bool, as_json: bool) -> int:
    """0 when all went well, 1 when a file was broken."""
    with open_storage(context) as storage:
        try:
            with open_bar("files", hidden=as_json) as bar:
                watch = _watching_files(bar) if bar else None
                summary = Ingestion(DocumentStore(storage.database)).run(paths, prune=prune, watch=watch)
            _, problem = run(_embed(storage, as_json))
        except KeyboardInterrupt:
            typer.echo("Stopped. What was read is kept; run it again to go on.", err=True)
            return _INTERRUPTED
    if as_json:
        print_json({**_described(summary), "embedding_problem": problem})
    else:
        _print(summary)
        if problem:
            typer.echo(f"Found by words alone for now: {clean(problem)}", err=True)
    return 1 if summary.broken else 0


def embed_all(context: typer.Context, as_json: bool) -> int:
    """0 when every passage has its vector afterwards."""
    with open_storage(context) as storage:
        if storage.settings.embedding.provider == "none":
            raise PersonError(
                "embedding.provider is none, so there are no vectors; set it to local or openai"
            )
        try:
            done, problem = run(_embed(storage, as_json))
        except KeyboardInterrupt:
            typer.echo("Stopped. The vectors so far are kept; run it again to go on.", err=True)
            return _INTERRUPTED
    if as_json:
        print_json({"embedded": done, "embedding_problem": problem})
    elif problem:
        typer.echo(f"{done} passages embedded, then: {clean(problem)}", err=True)
    else:
        typer.echo(f"{done} passages embedded; every passage has its vector.")
    return 1 if problem else 0


async def _embed(storage: Storage, as_json: bool) -> tuple[int, str]:
    """Give every passage its vector now, while somebody watches; how many got one, and why no more did."""
    embedding = open_embedding(storage.settings.embedding, storage.database)
    if embedding is None:
        return 0, ""
    before = embedding.pending()
    try:
        with open_bar("vectors", hidden=as_json) as bar:
            await embedding.catch_up(bar and (lambda done, total: bar(done, total, "")))
    except EmbeddingError as error:
        return before - embedding.pending(), str(error)
    finally:
        await embedding.close()
    return before - embedding.pending(), ""


def _watching_files(bar: Watch) -> Callable[[IngestionProgress], None]:
    return lambda now: bar(now.done, now.total, now.path.rpartition("/")[2])


def _described(summary: IngestionSummary) -> Mapping[str, object]:
    named = {name: [entry._asdict() for entry in getattr(summary, name)] for name in ("skipped", "broken")}
    return asdict(summary) | named


def _print(summary: IngestionSummary) -> None:
    counts = ("added", "changed", "unchanged", "removed")
    shown = [f"{getattr(summary, name)} {name}" for name in counts if getattr(summary, name)]
    chunks = f" in {summary.chunks} chunk{'' if summary.chunks == 1 else 's'}" if summary.chunks else ""
    typer.echo(f"Documents: {', '.join(shown) or 'none found'}{chunks}.")
    _print_skipped(summary.skipped)
    for path, reason in summary.broken:
        typer.echo(f"broken: {clean(path)}: {clean(reason)}", err=True)


def _print_skipped(skipped: Sequence[FileProblem]) -> None:
    """How many for each reason, with the first names."""
    for reason, number in Counter(entry.reason for entry in skipped).most_common():
        names = [clean(entry.path) for entry in skipped if entry.reason == reason]
        more = f" and {number - _NAMES_SHOWN} more" if number > _NAMES_SHOWN else ""
        typer.echo(f"skipped, {clean(reason)}: {', '.join(names[:_NAMES_SHOWN])}{more}", err=True)
