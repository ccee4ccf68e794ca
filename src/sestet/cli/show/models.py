"""Models of this machine on the screen: which there are, what one would cost, and how far a download is."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

import typer

from sestet.cli.show.clean import clean
from sestet.cli.show.console import align, open_console, print_json, print_line
from sestet.models.files.catalogue import Entry, catalogue, model_file, own_files
from sestet.models.files.download import Progress, in_megabytes


def print_models(as_json: bool) -> None:
    rows = [_row(entry) for entry in catalogue().values()]
    rows += [
        {"name": file.stem, "bytes": file.stat().st_size, "here": True, "file": str(file), "about": "yours"}
        for file in own_files()
    ]
    if as_json:
        print_json(rows)
        return
    from rich.text import Text

    console = open_console()
    cells = [
        (
            Text(clean(str(row["name"])), style="bold" if row["here"] else ""),
            Text("here" if row["here"] else "-", style="green" if row["here"] else "dim"),
            Text(in_megabytes(int(str(row["bytes"])))),
            Text(str(row.get("license", ""))),
            Text(clean(str(row["about"])), style="dim"),
        )
        for row in rows
    ]
    for line in align(cells):
        print_line(console, line)


def _row(entry: Entry) -> dict[str, object]:
    file = model_file(entry.name)
    return {
        "name": entry.name,
        "about": entry.about,
        "license": entry.license,
        "bytes": entry.bytes,
        "memory_megabytes": entry.memory_megabytes,
        "sha256": entry.sha256,
        "url": entry.url,
        "here": file.is_file(),
        "file": str(file),
    }


def print_offer(entry: Entry) -> None:
    """What fetching it means, before it starts."""
    typer.echo(f"{entry.about}", err=True)
    size, memory = in_megabytes(entry.bytes), in_megabytes(entry.memory_megabytes * 1_000_000)
    typer.echo(f"{size} on disk, {memory} of memory while it runs, licence {entry.license}", err=True)


@contextmanager
def downloading(entry: Entry) -> Generator[Callable[[Progress], None]]:
    """A progress bar on stderr, where there is somebody to see it."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=open_console(stderr=True), transient=True) as bar:
        task = bar.add_task(entry.name, total=entry.bytes)

        def watch(progress: Progress) -> None:
            bar.update(task, completed=progress.done, description=f"{entry.name} {progress.what}")

        yield watch
