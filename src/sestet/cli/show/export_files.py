"""The files of an export of everything: Markdown to read, JSON lines and CSV for programs."""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path

from sestet.cli.private_file import new_private_file
from sestet.cli.show.knowledge import entry_markdown
from sestet.core.clean import clean, escape_json
from sestet.data import Data
from sestet.services.costs import SpendingRow, Spent
from sestet.services.facts import describe_fact
from sestet.services.library import describe_document, describe_history, describe_lesson
from sestet.services.memory.import_export import export_lines
from sestet.services.session_markdown import session_markdown
from sestet.services.sessions import read_turns
from sestet.services.turn_summary import describe_conversation

_README = Path(__file__).with_name("export_readme.md")
_ALL = 1_000_000
#: A character has up to four bytes, and a file name up to 255.
_LONGEST_NAME = 60
#: What a spreadsheet takes for a formula.
_FORMULA = re.compile(r"^[=+\-@\t\r]")


def write_export(
    data: Data, directory: Path, watch: Callable[[int, int, str], None] | None = None
) -> dict[str, int]:
    """Write everything into an empty directory; returns how many things are in each part."""
    conversations = _write_conversations(data, directory, watch)
    entries = _write_entries(data, directory)
    counts = {"conversations": conversations, "knowledge": entries}
    for name, lines in _LINES.items():
        counts[name] = _write_lines(directory / f"{name}.jsonl", lines(data))
    counts["costs"] = _write_costs(data, directory / "costs.csv")
    _write(directory / "README.md", _README.read_text(encoding="utf-8"))
    return counts


#: Parts with one line for each thing.
_LINES: Mapping[str, Callable[[Data], Iterable[str]]] = {
    "memory": lambda data: export_lines(data.memory),
    "lessons": lambda data: map(_line, map(describe_lesson, data.library.lessons(_ALL))),
    "documents": lambda data: map(_line, map(describe_document, data.library.documents(_ALL))),
    "graph": lambda data: map(_line, map(describe_fact, data.graph_facts(_ALL))),
}


def _write_conversations(data: Data, directory: Path, watch: Callable[[int, int, str], None] | None) -> int:
    rows = data.journal.sessions(_ALL)
    names = _file_names(directory / "conversations")

    def lines() -> Iterator[str]:
        for number, row in enumerate(rows, 1):
            turns = read_turns(data.journal, row.id)
            _write(names(row.id), session_markdown(row, turns) + "\n")
            yield _line(describe_conversation(row, turns))
            if watch:
                watch(number, len(rows), row.title)

    return _write_lines(directory / "conversations.jsonl", lines())


def _write_entries(data: Data, directory: Path) -> int:
    names = _file_names(directory / "knowledge")

    def lines() -> Iterator[str]:
        for row in data.library.entries(_ALL):
            _write(names(row.key), entry_markdown(row) + "\n")
            yield _line(describe_history(row, data.library.versions(row.key)))

    return _write_lines(directory / "knowledge.jsonl", lines())


def _write_costs(data: Data, file: Path) -> int:
    rows = data.costs.rows()
    with new_private_file(file) as stream:
        writer = csv.writer(stream)
        writer.writerow((*SpendingRow._fields[:-1], *Spent._fields, "dollars"))
        for *names, spent in rows:
            writer.writerow((*(_FORMULA.sub(r"'\g<0>", str(name)) for name in names), *spent, spent.dollars))
    return len(rows)


def _file_names(directory: Path) -> Callable[[str], Path]:
    """Gives each title a file name of its own that is valid everywhere."""
    directory.mkdir(mode=0o700)
    used: set[str] = set()

    def name(title: str) -> Path:
        plain = re.sub(r"[^\w.-]+", "-", clean(title)).strip("-.")[:_LONGEST_NAME] or "untitled"
        # Some file systems take capital and small letters for the same.
        free = next(each for each in _numbered(plain) if each.casefold() not in used)
        used.add(free.casefold())
        return directory / f"{free}.md"

    return name


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}-{number}" for number in count(2))


def _line(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write_lines(file: Path, lines: Iterable[str]) -> int:
    number = 0
    with new_private_file(file) as stream:
        for line in lines:
            stream.write(f"{escape_json(line)}\n")
            number += 1
    return number


def _write(file: Path, text: str) -> None:
    with new_private_file(file) as stream:
        stream.write(text)
