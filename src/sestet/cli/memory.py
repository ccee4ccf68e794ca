"""``sestet memory``: remembered facts, observations and reflections, to be read, corrected and deleted."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from sestet.cli.options import ANYWAY, AS_JSON, LIMIT, new_program, refuse_secret
from sestet.cli.private_file import new_private_file
from sestet.cli.show.console import align, open_bar, open_console, print_json, print_line
from sestet.cli.stored import open_stored
from sestet.core.clean import clean, escape_json, one_line
from sestet.core.errors import PersonError
from sestet.core.words import day, written_time
from sestet.data import WorkSum
from sestet.services.forgetting import UNWIPED, ForgottenMemory, Wipe, describe_forgotten
from sestet.services.memory.catalog import MemoryItem, is_id
from sestet.services.memory.import_export import describe_item, export_lines

program = new_program("Read, correct, trace and delete what is remembered.")

_ID = typer.Argument(metavar="ID", help="m3 is a fact, o3 an observation, r3 a reflection.")
_FORGET_WORDS = "sestet memory forget --everywhere 'WORDS'"
_TEXT_WIDTH = 100
#: A narrow screen cuts off the origin of a row before its text.
_LEAST_TEXT = 45
#: The other columns beside it.
_REST_WIDTH = 72


@program.command("list")
def list_items(
    context: typer.Context,
    sort: Annotated[
        Literal["fact", "observation", "reflection"] | None, typer.Option(help="Only rows of this kind.")
    ] = None,
    session: Annotated[str, typer.Option(metavar="ID", help="Only rows of this session.")] = "",
    limit: Annotated[int, LIMIT] = 50,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """List the remembered rows, the latest first, each with its origin."""
    with open_stored(context) as data:
        nothing = "No remembered row fits." if sort or session else "Nothing is remembered yet."
        _print_items(data.memory.items(limit, sort, session), as_json, nothing)
        if not as_json:
            _print_work(data.observing())


@program.command("show")
def show_item(
    context: typer.Context, item: Annotated[str, _ID], as_json: Annotated[bool, AS_JSON] = False
) -> None:
    """Show one whole row: its text, its origin, the rows it rests on and those that replaced it."""
    with open_stored(context) as data:
        _print_item(data.memory.require(item), as_json)


@program.command("search")
def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="WORDS...", help="Words of the rows to find.")],
    limit: Annotated[int, LIMIT] = 10,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Find remembered rows by their words; replaced facts are left out."""
    words = " ".join(query).strip()
    if not words:
        raise typer.BadParameter("the query is empty")
    with open_stored(context) as data:
        found = data.memory.find(words, limit)
        _print_items(found, as_json, "No remembered row has these words.")


@program.command("edit")
def edit(
    context: typer.Context,
    item: Annotated[str, _ID],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The new text.")] = "",
    restore: Annotated[
        bool, typer.Option("--restore", help="Restore a fact that a later one has replaced.")
    ] = False,
    anyway: Annotated[bool, ANYWAY] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Correct a row in your own words, or restore a fact that was replaced."""
    refuse_secret(text, anyway)
    with open_stored(context) as data:
        edited = data.memory.restore(item) if restore and not text else data.memory.edit(item, text)
        _print_item(edited, as_json)


@program.command("forget")
def forget(
    context: typer.Context,
    item: Annotated[
        str,
        typer.Argument(metavar="ID", help=f"{_ID.help} With --everywhere also words, in quotes."),
    ],
    everywhere: Annotated[
        bool,
        typer.Option(
            "--everywhere", help="Also blank the turn in which you said it, and the same words elsewhere."
        ),
    ] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Remove a row for good, with every row made from it, from all indexes and from the file."""
    with open_stored(context) as data:
        if everywhere and not is_id(item):
            with open_bar("looking for the words", hidden=as_json) as watch:
                done = data.forgetting.forget_words(item, watch)
            _print_forgotten(done, data.forgetting.wipe(), as_json)
            return
        if data.forgetting.is_forgotten(item):
            # An earlier process may have been killed before it had wiped the file.
            _print_known(item, data.forgetting.wipe(), everywhere, as_json)
            return
        with open_bar("looking for its words", hidden=as_json) as watch:
            done = data.forgetting.forget(item, everywhere=everywhere, watch=watch)
        _print_forgotten(done, data.forgetting.wipe(), as_json)


@program.command("export")
def export(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The file to write; else stdout.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="No effect: it prints JSON lines anyway.")] = False,
) -> None:
    """Write everything that is remembered as JSON lines."""
    with open_stored(context) as data:
        lines = [escape_json(line) for line in export_lines(data.memory)]
    if file is None:
        for line in lines:
            typer.echo(line)
        return
    with new_private_file(file) as stream:
        stream.writelines(f"{line}\n" for line in lines)
    typer.echo(f"{len(lines)} row{'' if len(lines) == 1 else 's'} in {file}", err=True)


@program.command("import")
def import_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines of an export; - reads stdin.")],
    mine: Annotated[
        bool, typer.Option("--mine", help="It is an export of yours: keep its labels. Else it is untrusted.")
    ] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Add the rows of an export. One bad line, and nothing is added."""
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        lines = content.decode("utf-8-sig").splitlines()
    except FileNotFoundError as error:
        raise PersonError(f"'{file}' does not exist") from error
    except OSError as error:
        raise PersonError(f"'{file}' cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PersonError(f"{file}: not text in UTF-8: {error}") from error
    with open_stored(context) as data:
        done = data.import_memory(lines, mine=mine)
    if as_json:
        print_json(done._asdict())
    else:
        doubt = "" if mine else "; the new rows are untrusted, --mine keeps their labels"
        typer.echo(f"{done.added} added, {done.known} known already{doubt if done.added else ''}", err=True)


def _print_items(items: Sequence[MemoryItem], as_json: bool, nothing: str) -> None:
    """One line for each row, with its origin."""
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
            Text(day(item.at), style="dim"),
            Text(_trust(item), style="yellow" if item.label.untrusted else "dim"),
            Text(one_line(item.text, width) + _fate(item), style="" if item.counts else "strike"),
            Text(one_line(_origin(item), 60), style="dim"),
            Text(clean(item.made_by), style="dim"),
        )
        for item in items
    ]
    for line in align(table):
        print_line(console, line)


def _print_item(item: MemoryItem, as_json: bool) -> None:
    """One whole row."""
    if as_json:
        print_json(describe_item(item))
        return
    console = open_console()
    console.print(Text(clean(item.text)))
    facts = {
        "id": f"{item.id}, {item.sort}{f' of level {item.level}' if item.level else ''}",
        "from": _origin(item),
        "day": written_time(item.at),
        "by": item.made_by,
        "label": _label(item),
        "replaces" if item.sort == "fact" else "rests on": ", ".join(item.rests_on),
        "replaced by" if item.sort == "fact" else "covered by": ", ".join(item.used_by),
    }
    for name, value in facts.items():
        if value:
            console.print(Text.assemble((f"  {name:12}", "dim"), clean(value)))


def _print_known(item: str, wipe: Wipe, everywhere: bool, as_json: bool) -> None:
    """The row was forgotten before."""
    if as_json:
        print_json({"forgotten": [], "already": item, "scrubbed": wipe == "wiped", "wipe": wipe})
        return
    console = open_console(stderr=True)
    _say(console, f"{item}: already forgotten")
    if everywhere:
        _say(console, f"Sestet no longer knows its words; to blank them too: {_FORGET_WORDS}")
    _say(console, UNWIPED.get(wipe, "the file holds no traces of what was forgotten"))


def _print_forgotten(done: ForgottenMemory, wipe: Wipe, as_json: bool) -> None:
    """What was removed, and what still holds it."""
    if as_json:
        print_json(describe_forgotten(done, wipe))
        return
    console = open_console(stderr=True)
    _say(console, f"{done.item.id if done.item else 'these words'}: forgotten")
    if done.with_it:
        _say(console, f"made of the same words, and forgotten too: {', '.join(done.with_it)}")
    for name in done.counts_again:
        _say(console, f"{name}, which it had replaced, counts again")
    if done.item and done.still_said:
        where = _origin(done.item)
        _say(console, f"the conversation still holds what was said ({where}); --everywhere blanks that too")
    for name in done.ended:
        _say(console, f"{name} was still open; it is ended now, because it would bring the words back")
    if wipe in UNWIPED:
        _say(console, UNWIPED[wipe])


def _print_work(done: WorkSum) -> None:
    """How often observing and reflecting ran, and what they used."""
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
