"""Database connections that report each statement before and after it runs."""

import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Literal
from unittest.mock import patch

When = Literal["before", "after"]
Watch = Callable[[When, str, Sequence[object]], None]

_connect = sqlite3.connect


@contextmanager
def watched_connections(watch: Watch) -> Generator[list[sqlite3.Connection]]:
    """Every connection opened inside calls ``watch`` before and after each statement."""
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
    """From some statement on no statement reaches the database, as if the process were dead."""

    def __init__(self) -> None:
        self.is_dead = False

    def watch(self, when: When, sql: str, parameters: Sequence[object]) -> None:
        if self.is_dead or self.strikes(when, sql, parameters):
            self.is_dead = True
            raise sqlite3.OperationalError("the process is dead")

    def strikes(self, when: When, sql: str, parameters: Sequence[object]) -> bool:
        raise NotImplementedError


class DeathAfterEvent(Death):
    """Dies after the n-th event of a kind with a given word is committed."""

    def __init__(self, kind: str, word: str = "", number: int = 1) -> None:
        super().__init__()
        self._kind = kind
        self._word = word
        self._left = number
        self._is_committed = False

    def strikes(self, when: When, sql: str, parameters: Sequence[object]) -> bool:
        if when == "after":
            if is_event(sql) and parameters[2] == self._kind and self._word in str(parameters[6]):
                self._left -= 1
            self._is_committed = self._is_committed or (sql == "COMMIT" and self._left <= 0)
            return False
        # A transaction ends with a setting.
        return self._is_committed and not sql.startswith("PRAGMA")


class DeathAtEvent(Death):
    """Dies right before or after the n-th event, or the n-th event of one kind, is written."""

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
