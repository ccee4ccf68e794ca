"""Writes the events as TypeScript types, for the web page: ``web/src/state/event.ts``."""

from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Literal, Union, cast, get_args, get_origin, get_type_hints

from sestet.core.event import EVENTS
from sestet.core.record import Record

FILE = Path("web/src/state/event.ts")

_HEAD = """// Written by `make docs` from core/event.py. Do not edit.

/** What every event has: its place in the session, its turn, its agent and its time. */
export interface Stamp {
  place: string;
  session: string;
  turn: string;
  seq: number;
  author: string;
  delegation: string;
  at: number;
  /** Texts that were cut, with the number of characters that they have in all. */
  clipped?: Record<string, number>;
}
"""
_PLAIN: dict[type, str] = {str: "string", int: "number", float: "number", bool: "boolean"}


def render_event_types() -> str:
    """The whole file."""
    records: dict[str, str] = {}
    events = [_interface(event.__name__, _fields(event, event.kind, records), "Stamp") for event in EVENTS]
    union = " |\n  ".join(event.__name__ for event in EVENTS)
    return "\n".join((_HEAD, *records.values(), *events, f"export type Event =\n  {union};\n"))


def _fields(record: type[Record], kind: str, records: dict[str, str]) -> dict[str, str]:
    hints = get_type_hints(record)
    found = {"kind": f'"{kind}"'} if kind else {}
    for name in (name for name in record.__struct_fields__ if name != "stamp"):
        # A field of a record that leaves its defaults out may be missing.
        optional = NoneType in get_args(hints[name]) or record.__struct_config__.omit_defaults
        found[f"{name}?" if optional else name] = _written(hints[name], records)
    return found


def _interface(name: str, fields: dict[str, str], base: str = "") -> str:
    extends = f" extends {base}" if base else ""
    lines = "".join(f"  {field}: {kind};\n" for field, kind in fields.items())
    return f"export interface {name}{extends} {{\n{lines}}}\n"


def _written(hint: object, records: dict[str, str]) -> str:
    """A type of Python as TypeScript; the records and tuples that it names are added to ``records``."""
    origin, inside = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and (plain := _PLAIN.get(hint)):
        return plain
    if origin is Literal:
        return " | ".join(f'"{choice}"' for choice in inside)
    if origin in (Union, UnionType):
        return " | ".join(_written(each, records) for each in inside if each is not NoneType)
    if origin is tuple:
        return f"readonly {_bracketed(_written(inside[0], records))}[]"
    if origin is Mapping:
        return "Record<string, unknown>"
    if not isinstance(hint, type):
        return "unknown"
    if issubclass(hint, Record):
        if hint.__name__ not in records:
            records[hint.__name__] = ""
            records[hint.__name__] = _interface(hint.__name__, _fields(hint, "", records))
        return hint.__name__
    if issubclass(hint, tuple):
        # A named tuple is a list in JSON.
        items = ", ".join(
            f"{name}: {_written(kind, records)}" for name, kind in get_type_hints(cast("type", hint)).items()
        )
        records.setdefault(hint.__name__, f"export type {hint.__name__} = readonly [{items}];\n")
        return hint.__name__
    return "unknown"


def _bracketed(text: str) -> str:
    return f"({text})" if " " in text else text
