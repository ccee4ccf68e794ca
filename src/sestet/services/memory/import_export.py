"""Exports memories as JSON lines, and imports them into another database."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, cast

from sestet.core.errors import PersonError
from sestet.core.label import Label, Origin
from sestet.core.record import replace
from sestet.core.schema import JsonValue, find_problems, object_schema
from sestet.services.memory.catalog import MemoryCatalog, MemoryItem, Sort, is_storable, split_id
from sestet.storage.database import Database
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ReflectionSources

_TEXT: JsonValue = {"type": "string"}
_IDS: JsonValue = {"type": "array", "items": {"type": "string"}}
#: The last second of the year 9999, the latest time that SQLite knows.
_END_OF_TIME = 253_402_300_799
_LINE = object_schema(
    {
        "id": _TEXT,
        "sort": {"type": "string", "enum": ["fact", "observation", "reflection"]},
        "text": _TEXT,
        "at": {"type": "number", "minimum": 0, "maximum": _END_OF_TIME},
        "session": _TEXT,
        "turn": _TEXT,
        "turn_number": {"type": "integer"},
        "by": _TEXT,
        "untrusted": {"type": "boolean"},
        "private": {"type": "boolean"},
        "sources": _IDS,
        "level": {"type": "integer", "minimum": 0, "maximum": 100},
        "rests_on": _IDS,
        "used_by": _IDS,
    },
    ["id", "sort", "text", "at"],
)
_LONGEST = 10_000
_FILE = "an imported file"
_EVERYTHING = 10_000_000


class Imported(NamedTuple):
    added: int
    #: Lines whose sort and text are already stored.
    known: int


def export_lines(catalog: MemoryCatalog) -> Iterator[str]:
    """One JSON object for each line, the oldest memory first."""
    for item in sorted(catalog.items(_EVERYTHING), key=lambda item: (item.at, item.id)):
        yield json.dumps(describe_item(item), ensure_ascii=False)


def describe_item(item: MemoryItem) -> dict[str, JsonValue]:
    """A memory as JSON, with its origin."""
    return {
        "id": item.id,
        "sort": item.sort,
        "text": item.text,
        "at": item.at,
        "session": item.session_id,
        "turn": item.turn_id,
        "turn_number": item.turn_number,
        "by": item.made_by,
        "untrusted": item.label.untrusted,
        "private": item.label.private,
        "sources": item.label.sources,
        "level": item.level,
        "rests_on": item.rests_on,
        "used_by": item.used_by,
    }


def import_lines(database: Database, lines: Iterable[str], *, mine: bool = False) -> Imported:
    """Add all memories of the lines, or none and raise PersonError that names the first bad line.

    The labels in the file are believed only if it is ``mine``; else every row is untrusted.
    """
    items = _read(lines)
    if not mine:
        items = [_doubted(item) for item in items]
    catalog = MemoryCatalog(database)
    #: Id in the file → number in the database.
    numbers = _known(items, catalog.items(_EVERYTHING))
    new = [item for item in items if item.id not in numbers]
    with database.transaction():
        # A turn that forgetting has ended takes no further rows; the person adds this one anew.
        ended = database.execute("SELECT turn_id FROM forgotten_turns WHERE ended")
        new = [item if (item.turn_id,) not in ended else replace(item, turn_id="") for item in new]
        for item in new:
            numbers[item.id] = _add(catalog, item, numbers)
            database.execute(_SET_TIME[item.sort], (item.at, numbers[item.id]))
        for item in items:
            catalog.trust_again(f"{item.id[0]}{numbers[item.id]}", item.label, item.made_by)
            if item.sort == "fact" and item.used_by:
                _supersede(catalog.memories, numbers[item.id], numbers[item.used_by[0]], mine)
    return Imported(len(new), len(items) - len(new))


def _doubted(item: MemoryItem) -> MemoryItem:
    """A row of a file that anybody may have written.

    It belongs to no turn: forgetting it would take the person's observations of that turn along.
    """
    label = Label(untrusted=True, private=item.label.private, sources=(_FILE, *item.label.sources))
    return replace(item, label=label, made_by="import", session_id="", turn_id="")


def _known(items: Iterable[MemoryItem], rows: Iterable[MemoryItem]) -> dict[str, int]:
    """The lines whose sort and text are already stored, each matched with a row of its own.

    Rows of the same time are matched first: a file may contain a text twice, such as a fact that was
    replaced and then told again.
    """
    free: dict[tuple[Sort, str], list[MemoryItem]] = {}
    for row in rows:
        free.setdefault((row.sort, row.text), []).append(row)
    numbers: dict[str, int] = {}
    for any_moment in (False, True):
        for item in items:
            same = free.get((item.sort, item.text), [])
            row = next((row for row in same if any_moment or row.at == item.at), None)
            if row is not None and item.id not in numbers:
                same.remove(row)
                numbers[item.id] = split_id(row.id)[1]
    return numbers


_SET_TIME = {
    "fact": "UPDATE memories SET created_at = ? WHERE id = ?",
    "observation": "UPDATE observations SET created_at = ? WHERE id = ?",
    "reflection": "UPDATE reflections SET created_at = ? WHERE id = ?",
}


def _add(catalog: MemoryCatalog, item: MemoryItem, numbers: Mapping[str, int]) -> int:
    origin = Origin(item.session_id, item.turn_id, item.label)
    if item.sort == "fact":
        return catalog.memories.add(item.text, origin, item.made_by).id
    if item.sort == "observation":
        return catalog.observations.add_observation(item.text, origin, item.made_by).id
    sources = ReflectionSources(
        [numbers[name] for name in item.rests_on if name[0] == "o"],
        [numbers[name] for name in item.rests_on if name[0] == "r"],
    )
    return catalog.observations.add_reflection(item.text, origin, item.level, sources, item.made_by).id


def _supersede(memories: MemoryStore, old: int, later: int, mine: bool) -> None:
    """Mark a fact as replaced, unless untrusted text or a file of others would replace the person's words."""
    replaced, replacing = memories.get(old), memories.get(later)
    assert replaced is not None  # both were found or added in this transaction
    assert replacing is not None
    if replaced.label.untrusted or (mine and not replacing.label.untrusted):
        memories.supersede(old, later)


def _read(lines: Iterable[str]) -> list[MemoryItem]:
    """Check every line; order the memories so that each comes after those it sums up."""
    items: dict[str, tuple[int, MemoryItem]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        item = _item(number, line)
        if item.id in items:
            raise PersonError(f"line {number}: '{item.id}' is already in line {items[item.id][0]}")
        items[item.id] = (number, item)
    for number, item in items.values():
        _check_links(number, item, items.__contains__)
        lower = [items[name][1] for name in item.rests_on if name[0] == "r"]
        if item.sort == "reflection" and any(other.level >= item.level for other in lower):
            raise PersonError(f"line {number}: '{item.id}' sums up a reflection that is not below its level")
    return [item for _, item in sorted(items.values(), key=lambda pair: (pair[1].level, pair[1].at))]


def _item(number: int, line: str) -> MemoryItem:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise PersonError(
            f"line {number}: not JSON ({error}); name a file that 'sestet memory export' has written"
        ) from error
    if problems := find_problems(_LINE, values):
        raise PersonError(" ".join(f"line {number}: {problems[0].where} {problems[0].message}".split()))
    if not is_storable(json.dumps(values, ensure_ascii=False)):
        raise PersonError(f"line {number}: it has characters that cannot be stored")
    value = cast("dict[str, JsonValue]", values)
    text, at = str(value["text"]), float(cast("float", value["at"]))
    if not text.strip() or len(text) > _LONGEST or not math.isfinite(at):
        raise PersonError(
            f"line {number}: 'text' must have 1 to {_LONGEST:,} characters, and 'at' must be a time"
        )
    letter = str(value["sort"])[0].replace("f", "m")
    if not str(value["id"]).startswith(letter):
        raise PersonError(f"line {number}: the id of a {value['sort']} must begin with '{letter}'")
    # Without a label the strictest one applies.
    label = Label(
        value.get("untrusted", True) is True,
        value.get("private", True) is True,
        tuple(map(str, cast("list[str]", value.get("sources", ())))),
    )
    return MemoryItem(
        str(value["id"]),
        cast("Sort", value["sort"]),
        text,
        at,
        str(value.get("session", "")),
        str(value.get("turn", "")),
        0,
        str(value.get("by", "")) or "import",
        label,
        int(cast("int", value.get("level", 0))) or (1 if letter == "r" else 0),
        tuple(dict.fromkeys(map(str, cast("list[str]", value.get("rests_on", ()))))),
        tuple(map(str, cast("list[str]", value.get("used_by", ())))),
    )


def _check_links(number: int, item: MemoryItem, is_there: Callable[[str], bool]) -> None:
    """Raise PersonError if a memory refers to an id that is missing in the file or has the wrong sort."""
    needed = item.used_by[:1] if item.sort == "fact" else item.rests_on
    for name in needed:
        if not is_there(name):
            raise PersonError(f"line {number}: '{item.id}' refers to '{name}', which is not in the file")
        if (item.sort == "fact") != (name[0] == "m") or name == item.id:
            raise PersonError(f"line {number}: '{item.id}' cannot refer to '{name}'")
