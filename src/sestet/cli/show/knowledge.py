"""Entries, lessons, documents and passages on the terminal or as JSON, each with its origin."""

from collections import Counter
from collections.abc import Iterable, Sequence

import typer
from rich.text import Text

from sestet.cli.show.console import align, echo, open_console, print_json, print_line
from sestet.core.clean import clean, one_line
from sestet.core.label import Label
from sestet.core.words import day
from sestet.services.documents.ingestion import FileProblem, IngestionSummary
from sestet.services.library import (
    DocumentRow,
    KnowledgeRow,
    KnowledgeVersion,
    LearningRow,
    describe_document,
    describe_entry,
    describe_lesson,
    describe_passage,
    describe_versions,
)
from sestet.services.retrieval import Retrieved

_TITLE_WIDTH = 50
_TEXT_WIDTH = 80
_LONGEST_TITLE = 500
_NAMES_SHOWN = 5


def print_entries(rows: Sequence[KnowledgeRow], as_json: bool, nothing: str) -> None:
    if as_json:
        print_json([describe_entry(row) for row in rows])
    elif not rows:
        typer.echo(nothing, err=True)
    else:
        _print_table(
            (
                Text(one_line(row.key, _TITLE_WIDTH), style="bold"),
                Text(", ".join((row.category, *map(clean, row.tags))), style="dim"),
                Text(one_line(row.content, _TEXT_WIDTH)),
                Text(_origin(row.session_id, row.updated_at, row.label), style="dim"),
            )
            for row in rows
        )


def print_entry(row: KnowledgeRow, as_json: bool) -> None:
    if as_json:
        print_json(describe_entry(row))
        return
    about = ", ".join((row.category, *row.tags, f"version {row.version}"))
    typer.echo(f"{clean(row.key)} ({clean(about)})")
    typer.echo(f"{_origin(row.session_id, row.updated_at, row.label)}\n")
    typer.echo(clean(row.content))


def print_saved(row: KnowledgeRow, as_json: bool) -> None:
    if as_json:
        print_json(describe_entry(row))
    else:
        trust = ", untrusted" if row.label.untrusted else ""
        typer.echo(f"{clean(row.key)}: version {row.version}{trust}: {one_line(row.content, _TEXT_WIDTH)}")


def print_versions(row: KnowledgeRow, versions: Sequence[KnowledgeVersion], as_json: bool) -> None:
    if as_json:
        print_json({"key": row.key, "versions": describe_versions(row, versions)})
        return
    _print_table(
        (
            Text("→" if version.version == row.version else " "),
            Text(str(version.version), style="bold"),
            Text(", ".join((version.category, *map(clean, version.tags))), style="dim"),
            Text(one_line(version.content, _TEXT_WIDTH)),
            Text(_origin(version.session_id, version.saved_at, version.label), style="dim"),
        )
        for version in versions
    )


def print_learnings(rows: Sequence[LearningRow], as_json: bool) -> None:
    if as_json:
        print_json([describe_lesson(row) for row in rows])
    elif not rows:
        typer.echo("There is no lesson yet.", err=True)
    else:
        _print_table(
            (
                Text(str(row.id), style="bold"),
                Text(f"when {one_line(row.trigger, _TITLE_WIDTH)}: {one_line(row.fix, _TEXT_WIDTH)}"),
                Text(_origin(row.session_id, row.created_at, row.label), style="dim"),
            )
            for row in rows
        )


def print_documents(rows: Sequence[DocumentRow], as_json: bool) -> None:
    if as_json:
        print_json([describe_document(row) for row in rows])
    elif not rows:
        typer.echo("There are no documents yet; 'sestet knowledge ingest PATH' reads some.", err=True)
    else:
        _print_table(
            (
                Text(clean(row.path), style="bold"),
                Text(row.kind, style="dim"),
                Text(f"{row.chunks} chunk{'' if row.chunks == 1 else 's'}", style="dim"),
                Text(day(row.ingested_at), style="dim"),
            )
            for row in rows
        )


def print_passages(found: Retrieved, query: str, as_json: bool) -> None:
    if as_json:
        print_json([describe_passage(passage) for passage in found.passages])
    elif not found.passages:
        typer.echo(f"Nothing was found about {clean(repr(query))}.", err=True)
    for number, passage in enumerate(() if as_json else found.passages):
        trust = ", untrusted" if passage.label.untrusted else ""
        about = f"{passage.collection}, {day(passage.created_at)}{trust}; {clean(passage.why)}"
        echo(f"{chr(10) if number else ''}{clean(passage.source)} ({about})")
        if passage.title not in ("", passage.source):
            typer.echo(f"  {one_line(passage.title, 100)}")
        for line in clean(passage.text).splitlines():
            typer.echo(f"  {line}".rstrip())
    if found.problem:
        typer.echo(f"Found by words alone: {clean(found.problem)}", err=True)


def print_summary(summary: IngestionSummary) -> None:
    """What became of the files of an ingestion."""
    counts = ("added", "changed", "unchanged", "removed")
    shown = [f"{getattr(summary, name)} {name}" for name in counts if getattr(summary, name)]
    chunks = f" in {summary.chunks} chunk{'' if summary.chunks == 1 else 's'}" if summary.chunks else ""
    typer.echo(f"Documents: {', '.join(shown) or 'none found'}{chunks}.")
    _print_skipped(summary.skipped)
    for path, reason in summary.broken:
        typer.echo(f"broken: {clean(path)}: {clean(reason)}", err=True)


def _print_skipped(skipped: Sequence[FileProblem]) -> None:
    """The number of skipped files for each reason, with the first names."""
    for reason, number in Counter(entry.reason for entry in skipped).most_common():
        names = [clean(entry.path) for entry in skipped if entry.reason == reason]
        more = f" and {number - _NAMES_SHOWN} more" if number > _NAMES_SHOWN else ""
        typer.echo(f"skipped, {clean(reason)}: {', '.join(names[:_NAMES_SHOWN])}{more}", err=True)


def _print_table(rows: Iterable[Sequence[Text]]) -> None:
    console = open_console()
    for line in align(rows):
        print_line(console, line)


def entry_markdown(row: KnowledgeRow) -> str:
    """An entry to be read as a file of its own."""
    about = ", ".join((row.category, *row.tags, f"version {row.version}"))
    origin = _origin(row.session_id, row.updated_at, row.label)
    return f"# {one_line(row.key, _LONGEST_TITLE)}\n\n{clean(about)} · {origin}\n\n{clean(row.content)}"


def _origin(session_id: str, at: float, label: Label) -> str:
    """When it was stored, in which session, and what had been read before."""
    told = f"session {clean(session_id)}" if session_id else "by hand"
    read = f", after reading {one_line(', '.join(label.sources), 60)}" if label.sources else ""
    return f"{day(at)}, {told}{', untrusted' if label.untrusted else ''}{read}"
