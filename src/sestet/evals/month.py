"""A month of one person's life as a set: what they tell, change, forget and ask, day by day."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from sestet.core.errors import PersonError
from sestet.core.schema import JsonObject
from sestet.evals.sets import parse_object, read_lines, shipped_set

Kind: TypeAlias = Literal["tell", "update", "forget", "ask", "chat"]
#: How a question asks: in the words of the fact, in others, for a time, for what was before, for a yes or no;
#: ``none`` has no answer.
Asks: TypeAlias = Literal["direct", "paraphrase", "time", "history", "yesno", "none"]
_KINDS: tuple[Kind, ...] = get_args(Kind)
_ASKS: tuple[Asks, ...] = get_args(Asks)
#: What a line needs beside its day, kind and words.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "tell": ("id", "holds"),
    "update": ("id", "holds", "replaces"),
    "forget": ("forgets",),
    "ask": ("asks", "answer"),
    "chat": (),
}
_PROBLEMS_SHOWN = 10


class Line(NamedTuple):
    """One message of the person."""

    day: date
    kind: Kind
    say: str
    #: A told fact: its name in the set, and a pattern of its value.
    id: str = ""
    holds: str = ""
    replaces: tuple[str, ...] = ()
    forgets: tuple[str, ...] = ()
    #: A question: how it asks, and the facts that answer it.
    asks: Asks = "direct"
    answer: tuple[str, ...] = ()
    #: A pattern of a right reply, where the values of the facts do not say enough.
    right: str = ""
    #: Facts that were forgotten, which the reply must not show.
    forgotten: tuple[str, ...] = ()


def shipped_month() -> Path:
    """The file of the month that ships."""
    return shipped_set("routing").with_name("memory.jsonl")


def read_month(file: Path) -> list[Line]:
    """The lines of a file; all problems are raised as one error."""
    lines: list[Line] = []
    problems: list[str] = []
    told: set[str] = set()
    for number, text in enumerate(read_lines(file), 1):
        if not text.strip():
            continue
        row = parse_object(text)
        found = [row] if isinstance(row, str) else [*_problems(row, told)]
        problems += (f"{file}, line {number}: {problem}" for problem in found)
        if not isinstance(row, str) and not found:
            lines.append(_line(row))
            told.add(lines[-1].id)
    if len(problems) > _PROBLEMS_SHOWN:
        problems[_PROBLEMS_SHOWN:] = [f"and {len(problems) - _PROBLEMS_SHOWN} more"]
    if not lines and not problems:
        problems = [f"{file}: the set is empty"]
    if problems:
        raise PersonError("\n".join(problems))
    return lines


def _problems(row: JsonObject, told: set[str]) -> Iterator[str]:
    kind = row.get("kind")
    if kind not in _KINDS:
        yield f"kind: {kind!r} is none of {', '.join(_KINDS)}"
        return
    for key in ("day", "say", *_NEEDED[str(kind)]):
        if row.get(key) is None:
            yield f"{key}: is missing"
            return
    try:
        date.fromisoformat(str(row["day"]))
    except ValueError:
        yield f"day: {row['day']!r} is no day such as 2026-03-31"
    for key in ("holds", "right"):
        try:
            re.compile(str(row.get(key, "")))
        except re.error as error:
            yield f"{key}: is not a regular expression: {error}"
    if kind == "ask" and row["asks"] not in _ASKS:
        yield f"asks: {row['asks']!r} is none of {', '.join(_ASKS)}"
    if "id" in row and row["id"] in told:
        yield f"id: {row['id']!r} stands twice"
    for key in ("replaces", "forgets", "answer", "forgotten"):
        for name in _names(row, key):
            if name not in told:
                yield f"{key}: no line above tells {name!r}"


def _names(row: JsonObject, key: str) -> tuple[str, ...]:
    return tuple(cast("Sequence[str]", row.get(key, ())))


def _line(row: JsonObject) -> Line:
    return Line(
        date.fromisoformat(str(row["day"])),
        cast("Kind", row["kind"]),
        str(row["say"]),
        str(row.get("id", "")),
        str(row.get("holds", "")),
        _names(row, "replaces"),
        _names(row, "forgets"),
        cast("Asks", row.get("asks", "direct")),
        _names(row, "answer"),
        str(row.get("right", "")),
        _names(row, "forgotten"),
    )
