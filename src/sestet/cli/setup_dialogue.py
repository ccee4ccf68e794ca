"""``sestet setup`` as a dialogue at the terminal, and the offer of it before the first conversation."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from sestet.cli import setup_steps
from sestet.cli.assistant import load
from sestet.cli.setup_prompts import LeftError, ask, note
from sestet.cli.show.console import open_console, print_table
from sestet.config.edit import file_to_edit
from sestet.config.vendors import VENDORS
from sestet.core.clean import clean
from sestet.core.errors import PersonError
from sestet.models.files.catalogue import catalogue
from sestet.models.files.download import in_megabytes
from sestet.setup.choices import Choice, choose, find_choices, is_offer_due, known_variables, mark_offered

#: With more models than that, a server is one row, and its models are a list of their own.
_MOST_OF_A_SERVER = 5


class Row(NamedTuple):
    """One line of the list: a model that was found, or another way to one."""

    id: str
    name: str
    place: str
    note: str
    #: Returns whether a model works now.
    run: Callable[[], bool]


def offer_setup(context: typer.Context) -> str:
    """Ask once which model to use, when one is found and none was chosen. Enter: the built-in one.

    An answer that names no choice is returned: it is the person's first message.
    """
    if not is_offer_due(load(context)):
        return ""
    choices = find_choices()
    if not any(choice.is_found for choice in choices):
        # Not marked as offered: there may be a model the next time.
        return ""
    mark_offered()
    console = open_console()
    said = ask_and_set_up(console, file_to_edit().absolute(), choices, leave="go on with the built-in one")
    if said is not None:
        console.print("'sestet setup' asks again whenever you like.\n", style="dim")
    return said or ""


def print_choices(console: Console, choices: Sequence[Choice]) -> None:
    """The choices, numbered."""
    _print_rows(console, [(choice.model or choice.provider, choice.place, choice.note) for choice in choices])


def ask_and_set_up(console: Console, file: Path, choices: Sequence[Choice], leave: str = "") -> str | None:
    """Ask until a choice works (None), or the person leaves (what they said instead of a choice).

    ``leave`` says what Enter does; when it is empty, Enter takes the first choice.
    """
    try:
        said = _ask(console, file, choices, leave)
    except (LeftError, KeyboardInterrupt):
        said = ""
    if said == "" and not leave:
        note(console, "No settings were changed.")
    return said


def _ask(console: Console, file: Path, choices: Sequence[Choice], leave: str) -> str | None:
    found, others = list(_of_choices(console, file, choices)), list(_other_ways(console, file))
    rows = [*found, *others]
    default = "" if leave else rows[0].id
    while True:
        note(console, f"\n{_heading(choices)}\n", "bold")
        _print_rows(console, [(row.name, row.place, row.note) for row in found])
        console.print()
        _print_rows(console, [(row.name, row.place, row.note) for row in others], len(found) + 1)
        note(console, f"\nKeys are looked for in {', '.join(known_variables())}.")
        said = ask(f"Which? Enter: {default or leave or 'leave it as it is'} ") or default
        if not said:
            return ""
        row = _find(console, file, rows, choices, said)
        if row is None:
            if leave and not said.isdecimal():
                return said
            note(console, f"there is no choice '{said}': write a number from 1 to {len(rows)}", "yellow")
            continue
        default = ""
        try:
            if row.run():
                return None
        except PersonError as error:
            note(console, f"It does not work. {error}", "red")


def _find(
    console: Console, file: Path, rows: Sequence[Row], choices: Sequence[Choice], said: str
) -> Row | None:
    if said.isdecimal():
        return rows[int(said) - 1] if 1 <= int(said) <= len(rows) else None
    if found := next((row for row in rows if said == row.id or said.casefold() == row.name.casefold()), None):
        return found
    try:
        # A model of a server that is one row can be named as well.
        return _row(console, file, choose(choices, said))
    except PersonError:
        return None


def _heading(choices: Sequence[Choice]) -> str:
    if any(choice.is_found for choice in choices):
        return "You can choose:"
    return "No model server was found at the usual ports, and no key. You can choose:"


def _of_choices(console: Console, file: Path, choices: Sequence[Choice]) -> Iterator[Row]:
    """A row for each choice. The models to fetch have a row of their own below."""
    for server, group in groupby(choices, key=lambda choice: choice.server):
        served = [choice for choice in group if not choice.absent]
        if server and len(served) > _MOST_OF_A_SERVER:
            run = partial(setup_steps.choose_served, console, file, served)
            yield Row(served[0].provider, f"{len(served)} models", served[0].place, "", run)
        else:
            yield from (_row(console, file, choice) for choice in served)


def _row(console: Console, file: Path, choice: Choice) -> Row:
    step = setup_steps.try_choice
    if choice.open:
        step = setup_steps.choose_model
    elif not choice.model:
        step = setup_steps.keep_built_in
    run = partial(step, console, file, choice)
    return Row(choice.id, choice.model or choice.provider, choice.place, choice.note, run)


def _other_ways(console: Console, file: Path) -> Iterator[Row]:
    vendors = ", ".join(vendor.name for vendor in VENDORS.values())
    sizes = sorted(entry.bytes for entry in catalogue().values())
    ways = (
        ("key", "type a key", vendors, setup_steps.type_key),
        ("address", "name a server", "any that speaks OpenAI's protocol", setup_steps.name_server),
        (
            "fetch",
            "fetch a model",
            f"to run in this program: {in_megabytes(sizes[0])} to {in_megabytes(sizes[-1])}",
            setup_steps.fetch,
        ),
    )
    return (Row(each, name, place, "", partial(step, console, file)) for each, name, place, step in ways)


def _print_rows(console: Console, rows: Sequence[tuple[str, str, str]], first: int = 1) -> None:
    cells = [
        (
            Text(f"{number:>3}", style="bold cyan"),
            Text(clean(name)),
            Text(clean(place)),
            Text(clean(about), style="dim"),
        )
        for number, (name, place, about) in enumerate(rows, first)
    ]
    print_table(console, cells)
