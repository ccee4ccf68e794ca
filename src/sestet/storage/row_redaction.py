"""Removes words from every table except the journal."""

import json
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from sestet.storage.database import Database, Value
from sestet.storage.forgetting_scan import ForgettingScan
from sestet.storage.forgotten_words import ForgottenWords, blank, change_stored

#: Columns without words of a person: keys, choices from a list, names from the runtime, names of files.
WORDLESS = frozenset(
    {
        *("id", "session_id", "turn_id", "delegation_id", "kind", "author", "agent", "tool", "model"),
        *("state", "scope", "category", "collection", "stage", "made_by", "proposed_by", "space"),
        *("call_id", "caller", "client", "client_key", "context_id", "digest", "path", "source", "why"),
    }
)
#: ``events``: ``EventRedaction`` rewrites them. ``nodes``: a node is deleted with its last fact.
_OTHERWISE = ("events", "nodes")
#: A fact or a standing answer with a hole says something else, so it is deleted. Slots are read again.
_DELETED = ("triples", "proposals", "grants", "fact_slots")


class _Table(NamedTuple):
    name: str
    keys: tuple[str, ...]
    texts: tuple[str, ...]


class RowRedaction:
    """Reads the schema, so that a table or column that is added later is covered too."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def blank_words(self, words: ForgottenWords, scan: ForgettingScan) -> None:
        """Inside a transaction: replace some words in every text column, or delete the row."""
        for table in self._tables():
            for keys, texts in self._rows_with(table, words, scan):
                changed = [change_stored(text, words.blanked) for text in texts]
                if table.name in _DELETED:
                    if changed != texts or words.are_in(" ".join(texts).replace("_", " ")):
                        self._delete(table, keys)
                elif changed != texts:
                    self._write(table, keys, changed)

    def blank_questions(self, turn_id: str) -> None:
        """Inside a transaction: remove all words from the questions of a turn."""
        table = self._table("approvals")
        for keys, texts in self._rows(table, "turn_id = ?", turn_id):
            self._write(table, keys, [change_stored(text, blank) for text in texts])

    def _tables(self) -> list[_Table]:
        # Passages last: those of the other tables are written anew when their rows change.
        names = self._database.execute(
            """SELECT name FROM pragma_table_list
               WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
               ORDER BY name = 'passages', name"""
        )
        tables = [self._table(name) for (name,) in names if name not in _OTHERWISE]
        return [table for table in tables if table.texts]

    def _table(self, name: str) -> _Table:
        columns = self._database.execute("SELECT name, type, pk FROM pragma_table_info(?)", (name,))
        keys = tuple(column for column, _, place in columns if place) or ("rowid",)
        texts = (column for column, kind, _ in columns if kind == "TEXT" and column not in keys)
        return _Table(name, keys, tuple(text for text in texts if text not in WORDLESS))

    def _rows_with(
        self, table: _Table, words: ForgottenWords, scan: ForgettingScan
    ) -> list[tuple[list[Value], list[str]]]:
        if table.name == "passages":
            # The only other table that grows with every document; its rows never change.
            scan.catch_up_passages(self._database)
            return self._rows(table, "id IN (SELECT value FROM json_each(?))", json.dumps(scan.passages))
        return self._rows(table, " || ' ' || ".join(table.texts) + " LIKE ?", words.like)

    def _rows(self, table: _Table, condition: str, value: Value) -> list[tuple[list[Value], list[str]]]:
        rows = self._database.execute(
            f"SELECT {', '.join((*table.keys, *table.texts))} FROM {table.name} WHERE {condition}",  # noqa: S608 - names of the schema
            (value,),
        )
        split = len(table.keys)
        return [(list(row[:split]), list(row[split:])) for row in rows]

    def _write(self, table: _Table, keys: Sequence[Value], texts: Sequence[str]) -> None:
        if table.name == "passages":
            self._replace_passage(table, keys, texts)
            return
        values = dict(zip(table.texts, texts, strict=True))
        if table.name == "knowledge":
            values["key"] = self._free_key(values["key"], keys)
        if table.name == "approvals":
            # A hash of the words would let anybody check a guess.
            values["digest"] = ""
            values["changes"] = ""
        assigned = ", ".join(f"{name} = ?" for name in values)
        done = self._database.execute(
            f"UPDATE OR IGNORE {table.name} SET {assigned} WHERE {_equal(table.keys)}",  # noqa: S608 - names of the schema
            (*values.values(), *keys),
        )
        if not done.rowcount:
            self._delete(table, keys)  # without the words it equals another row

    def _replace_passage(self, table: _Table, keys: Sequence[Value], texts: Sequence[str]) -> None:
        """Passages never change, so that their vectors and index entries fit: a new one is written."""
        rows = self._database.execute("SELECT name FROM pragma_table_info('passages') WHERE name <> 'id'")
        names = [str(name) for (name,) in rows]
        joined = ", ".join(names)
        old = self._database.execute(f"SELECT {joined} FROM passages WHERE id = ?", keys).only()  # noqa: S608 - names of the schema
        new = dict(zip(names, old, strict=True)) | dict(zip(table.texts, texts, strict=True))
        self._delete(table, keys)
        marks = ", ".join("?" for _ in names)
        self._database.execute(
            f"INSERT INTO passages ({joined}) VALUES ({marks})",  # noqa: S608 - names of the schema
            tuple(new.values()),
        )

    def _delete(self, table: _Table, keys: Sequence[Value]) -> None:
        self._database.execute(f"DELETE FROM {table.name} WHERE {_equal(table.keys)}", keys)  # noqa: S608 - names of the schema

    def _free_key(self, key: str, own: Sequence[Value]) -> str:
        """A key that no other entry has: two titles may become the same without the forgotten words."""
        others = "SELECT 1 FROM knowledge WHERE key = ? AND id <> ?"
        names = (key if number == 1 else f"{key} {number}" for number in count(1))
        return next(name for name in names if not self._database.execute(others, (name, *own)))


def _equal(names: Sequence[str]) -> str:
    return " AND ".join(f"{name} = ?" for name in names)
