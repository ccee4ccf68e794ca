"""What is remembered, as lines for the person and as JSON."""

import time
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.text import Text

from sestet.cli.show.clean import clean, one_line
from sestet.cli.show.console import align, open_console, print_json, print_line
from sestet.services.forgetting import ForgottenMemory
from sestet.services.memory.catalog import MemoryItem
from sestet.services.memory.import_export import describe_item
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from sestet.storage.observation_progress import ObservationProgress

_TEXT_WIDTH = 100
#: What a narrow screen cuts off is where a row came from, and not what it says.
_LEAST_TEXT = 45
#: The other columns beside it.
_REST_WIDTH = 72


def print_items(items: Sequence[MemoryItem], as_json: bool, nothing: str) -> None:
    """One line a row, with where it came from."""
    if as_json:
        print_json([describe_item(item) for item in items])
        return
    if not items:
        typer.echo(nothing, err=True)
        return
    console = open_console()
    width = min(_TEXT_WIDTH, max(_LEAST_TEXT, console.width - _REST_WIDTH))
    table = [
        (
            Text(item.id, style="bold"),
            Text(_day(item.at), style="dim"),
            Text(_trust(item), style="yellow" if item.label.untrusted else "dim"),
            Text(one_line(item.text, width) + _fate(item), style="" if item.counts else "strike"),
            Text(one_line(_origin(item), 60), style="dim"),
            Text(clean(item.made_by), style="dim"),
        )
        for item in items
    ]
    for line in align(table):
        print_line(console, line)


def print_item(item: MemoryItem, as_json: bool) -> None:
    """One row whole."""
    if as_json:
        print_json(describe_item(item))
        return
    console = open_console()
    console.print(Text(clean(item.text)))
    facts = {
        "id": f"{item.id}, {item.sort}{f' of level {item.level}' if item.level else ''}",
        "from": _origin(item),
        "day": time.strftime("%Y-%m-%d %H:%M", time.localtime(item.at)),
        "by": item.made_by,
        "label": _label(item),
        "replaces" if item.sort == "fact" else "rests on": ", ".join(item.rests_on),
        "replaced by" if item.sort == "fact" else "covered by": ", ".join(item.used_by),
    }
    for name, value in facts.items():
        if value:
            console.print(Text.assemble((f"  {name:12}", "dim"), clean(value)))


def print_forgotten(done: ForgottenMemory, scrubbed: bool, as_json: bool) -> None:
    """What is gone, and honestly what is not."""
    if as_json:
        print_json(
            {
                "forgotten": [done.item.id, *done.with_it],
                "counts_again": done.counts_again,
                "still_said": done.still_said,
                "scrubbed": scrubbed,
            }
        )
        return
    console = open_console(stderr=True)
    _say(console, f"{done.item.id}: forgotten")
    if done.with_it:
        _say(console, f"with it, since they came from the same words: {', '.join(done.with_it)}")
    for name in done.counts_again:
        _say(console, f"{name}, which it had replaced, counts again")
    if done.still_said:
        where = _origin(done.item)
        _say(console, f"the conversation still holds what was said ({where}); --everywhere blanks that too")
    if not scrubbed:
        _say(console, "another process has the file open: old pages leave it when that has ended")


def print_work(database: Database) -> None:
    """What the work in the background has done, and what it used."""
    done = ObservationProgress(database, Journal(database)).work_sum()
    if not done.runs:
        return
    tokens = done.usage.input_tokens + done.usage.output_tokens
    dollars = f", {done.usage.nano_dollars / 1e9:.4f} dollars" if done.usage.nano_dollars else ""
    times = "once" if done.runs == 1 else f"{done.runs} times"
    text = f"observed and reflected {times}, {tokens:,} tokens{dollars}"
    typer.echo(
        f"\n{text}{f'; the last time failed: {clean(done.problem)}' if done.problem else ''}", err=True
    )


def _say(console: Console, text: str) -> None:
    console.print(Text(clean(text)))


def _origin(item: MemoryItem) -> str:
    if not item.session_id:
        return "several sessions" if item.sort == "reflection" else "no session"
    return f"session {item.session_id}{f', turn {item.turn_number}' if item.turn_number else ''}"


def _trust(item: MemoryItem) -> str:
    return "untrusted" if item.label.untrusted else "yours"


def _label(item: MemoryItem) -> str:
    flags = [name for name in ("untrusted", "private") if getattr(item.label, name)]
    sources = f", read before: {', '.join(item.label.sources)}" if item.label.sources else ""
    return f"{' and '.join(flags) or 'none'}{sources}"


def _fate(item: MemoryItem) -> str:
    if not item.used_by:
        return ""
    return f" ({'replaced by' if item.sort == 'fact' else 'in'} {', '.join(item.used_by)})"


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))
