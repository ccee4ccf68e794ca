"""Connections that say which statement is about to run and which has run: the place to break things."""

import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Literal
from unittest.mock import patch

When = Literal["before", "after"]
Watch = Callable[[When, str, Sequence[object]], None]

_connect = sqlite3.connect
#: They end what has begun, so a process that dies before them has not begun anything else.
_REST_OF_A_TRANSACTION = ("UPDATE", "DELETE", "COMMIT", "PRAGMA")


@contextmanager
def watched_connections(watch: Watch) -> Generator[list[sqlite3.Connection]]:
    """Every connection opened inside tells ``watch`` about each statement, before and after it."""
    opened: list[sqlite3.Connection] = []

    class Watched(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            watch("before", sql, parameters)
            cursor = super().execute(sql, parameters)
            watch("after", sql, parameters)
            return cursor

        def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
            cursor = self.cursor()
            for row in parameters:
                cursor = self.execute(sql, row)
            return cursor

    def connect(*positional: Any, **named: Any) -> sqlite3.Connection:
        opened.append(_connect(*positional, **named, factory=Watched))
        return opened[-1]

    with patch("sqlite3.connect", connect):
        yield opened


def ignore(when: When, sql: str, parameters: Sequence[object]) -> None:
    """Watches without doing anything."""


def is_event(sql: str) -> bool:
    return sql.startswith("INSERT INTO events")


class Death:
    """From some statement on, nothing gets to the database: for the file, its process is dead."""

    def __init__(self) -> None:
        self.is_dead = False

    def watch(self, when: When, sql: str, parameters: Sequence[object]) -> None:
        if self.is_dead or self.strikes(when, sql, parameters):
            self.is_dead = True
            raise sqlite3.OperationalError("the process is dead")

    def strikes(self, when: When, sql: str, parameters: Sequence[object]) -> bool:
        raise NotImplementedError


class DeathAfterEvent(Death):
    """Dies once the n-th event of a kind, with some word in it, is written for good."""

    def __init__(self, kind: str, word: str = "", number: int = 1) -> None:
        super().__init__()
        self._kind = kind
        self._word = word
        self._left = number

    def strikes(self, when: When, sql: str, parameters: Sequence[object]) -> bool:
        if when == "after":
            if is_event(sql) and parameters[2] == self._kind and self._word in str(parameters[6]):
                self._left -= 1
            return False
        return self._left <= 0 and not sql.startswith(_REST_OF_A_TRANSACTION)


class DeathAtEvent(Death):
    """Dies right before or right after the n-th event is written; or the n-th of one kind."""

    def __init__(self, when: When, number: int, kind: str = "") -> None:
        super().__init__()
        self._when = when
        self._left = number
        self._kind = kind

    def strikes(self, when: When, sql: str, parameters: Sequence[object]) -> bool:
        if when == self._when and is_event(sql) and self._kind in ("", parameters[2]):
            self._left -= 1
            return self._left == 0
        return False
