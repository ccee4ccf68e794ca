"""What a backup holds, in lines for a person and as JSON, and how far a copy is."""

from collections.abc import Generator
from contextlib import contextmanager

import typer

from sestet.cli.show.console import open_bar
from sestet.core.words import written_time
from sestet.services.backup import Contents, CopyWatch
from sestet.services.files import human_size

_MEGABYTE = 1_000_000
#: What a person counts, as one and as several.
_COUNTS = {
    "sessions": ("conversation", "conversations"),
    "memories": ("memory", "memories"),
    "entries": ("entry", "entries"),
    "lessons": ("lesson", "lessons"),
    "documents": ("document", "documents"),
    "facts": ("graph fact", "graph facts"),
}


@contextmanager
def open_copy_bar(what: str, *, hidden: bool) -> Generator[CopyWatch | None]:
    """A bar in megabytes; None when nobody sees it."""
    with open_bar(f"{what}, MB", hidden=hidden) as bar:
        yield (lambda done, total: bar(done // _MEGABYTE, total // _MEGABYTE, "")) if bar else None


def print_contents(contents: Contents) -> None:
    numbers = contents._asdict()
    there = [(numbers[name], words) for name, words in _COUNTS.items() if numbers[name]]
    counts = [f"{number:,} {words[number > 1]}" for number, words in there]
    used = f", last used {written_time(contents.last_used)}" if contents.last_used else ""
    typer.echo(f"  {', '.join(counts) or 'nothing yet'}", err=True)
    typer.echo(f"  {human_size(contents.size)}, schema {contents.schema}{used}", err=True)


def describe_contents(contents: Contents) -> dict[str, object]:
    values = contents._asdict()
    return {"bytes": values.pop("size"), **values}
