"""Looks for damage in the whole database: pages, schema, rows, links between rows, indexes, events."""

import json
import re
import sqlite3
from contextlib import closing

from sestet.core.errors import BusyError, StorageError
from sestet.core.event import Stamp
from sestet.storage.database import FULL_TEXT_INDEXES, SCHEMA, Database, from_json
from sestet.storage.event_json import decode

_BATCH = 2_000
#: Columns that hold JSON, in whatever table they are, and the kind of their values.
_JSON_COLUMNS = {"sources": "array", "tags": "array", "arguments": "object"}
_PYTHON = {"array": list, "object": dict}


def find_damage(database: Database) -> str:
    """The first damage in the file; empty if the file is sound. Reads everything."""
    (verdict,) = database.execute("PRAGMA integrity_check(1)").only()
    if verdict != "ok":
        return str(verdict)
    if name := _damaged_definition(database):
        return f"the definition of {name} is not as Sestet wrote it"
    if broken := database.execute("PRAGMA foreign_key_check").fetchone():
        table, row, parent, _ = broken
        return f"row {row} of {table} belongs to a row of {parent} that is missing"
    for index in FULL_TEXT_INDEXES:
        try:
            database.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")  # noqa: S608 - names above
        except BusyError:
            raise
        except StorageError as error:
            return f"the full-text index {index}: {error.__cause__}"
    return _damaged_event(database) or _damaged_list(database)


def _damaged_definition(database: Database) -> str:
    """The first table, view, index or trigger that is missing or not as in a new file, or a strange trigger.

    SQLite reads a definition with a flipped bit as another one, and calls the file sound.
    """
    definitions = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    found = {name: _plain(sql) for name, sql in database.execute(definitions)}
    with closing(sqlite3.connect(":memory:")) as new:
        new.executescript(SCHEMA.read_text(encoding="utf-8"))
        expected = new.execute(definitions).fetchall()
    # A strange trigger changes rows while they are written. Tables, views and indexes change nothing.
    triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
    strange = (name for (name,) in triggers if name not in dict(expected))
    return next((name for name, sql in expected if found.get(name) != _plain(sql)), next(strange, ""))


def _plain(sql: str) -> str:
    """Without blanks and quotation marks, which another version of SQLite may write in another way."""
    return re.sub("[\\s\"'`]", "", sql)


def _damaged_event(database: Database) -> str:
    last = ("", -1)
    while rows := database.execute(
        """SELECT session_id, turn_id, seq, author, delegation_id, at, kind, data FROM log
           WHERE (turn_id, seq) > (?, ?) ORDER BY turn_id, seq LIMIT ?""",
        (*last, _BATCH),
    ):
        for *stamp, kind, data in rows:
            try:
                decode(Stamp(*stamp), kind, data)
            except StorageError as error:
                return str(error)
        last = (rows[-1][1], rows[-1][2])
    return ""


def _damaged_list(database: Database) -> str:
    columns = database.execute(
        """SELECT tables.name, columns.name
           FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
           WHERE tables.type = 'table' AND columns.name IN (SELECT value FROM json_each(?))""",
        (json.dumps([*_JSON_COLUMNS]),),
    )
    for table, column in columns:
        # SQLite's JSON reader is a little stricter than ours, so we read the values again that it refuses.
        suspects = database.execute(
            f"""SELECT {column} FROM {table}
                WHERE iif(json_valid({column}), json_type({column}) != ?, 1) LIMIT ?""",  # noqa: S608 - names of the schema
            (_JSON_COLUMNS[column], _BATCH),
        )
        try:
            fits = [isinstance(from_json(value, ""), _PYTHON[_JSON_COLUMNS[column]]) for (value,) in suspects]
        except StorageError:
            fits = [False]
        if not all(fits):
            return f"the {column} in a row of {table} cannot be read"
    return ""
