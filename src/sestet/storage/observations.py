"""What was observed in conversations, and the reflections that sum observations up."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from sestet.core.label import Label, Origin
from sestet.storage.database import Database
from sestet.storage.labels import label_columns, label_from


class ObservationRow(NamedTuple):
    id: int
    text: str
    session_id: str
    turn_id: str
    created_at: float
    label: Label


class ReflectionRow(NamedTuple):
    """A summary; ``covers`` are the observations it rests on, which stay where they are."""

    id: int
    text: str
    session_id: str
    turn_id: str
    created_at: float
    level: int
    label: Label
    covers: tuple[int, ...]


class ObservationStore:
    """Observations and reflections, each with the turn it came from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_observation(self, text: str, origin: Origin) -> ObservationRow:
        cursor = self._database.execute(
            "INSERT INTO observations VALUES (NULL, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
            (text, origin.session_id, origin.turn_id, time.time(), *label_columns(origin.label)),
        )
        return _observation(cursor.only())

    def add_reflection(self, text: str, origin: Origin, level: int, covers: Sequence[int]) -> ReflectionRow:
        """Store a summary with what it covers, both or neither."""
        with self._database.transaction():
            cursor = self._database.execute(
                "INSERT INTO reflections VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
                (text, origin.session_id, origin.turn_id, time.time(), level, *label_columns(origin.label)),
            )
            row = _reflection(cursor.only(), tuple(sorted(covers)))
            for observation_id in row.covers:
                self._database.execute("INSERT INTO covered VALUES (?, ?)", (row.id, observation_id))
        return row

    def observations(self, limit: int, session_id: str = "") -> list[ObservationRow]:
        """The latest first; of one session, or of all."""
        rows = self._database.execute(
            "SELECT * FROM observations WHERE ?1 IN ('', session_id) ORDER BY id DESC LIMIT ?2",
            (session_id, limit),
        )
        return [_observation(row) for row in rows]

    def reflections(self, limit: int, session_id: str = "") -> list[ReflectionRow]:
        """The latest first; of one session, or of all."""
        rows = self._database.execute(
            "SELECT * FROM reflections WHERE ?1 IN ('', session_id) ORDER BY id DESC LIMIT ?2",
            (session_id, limit),
        )
        return [_reflection(row, self._covers(row[0])) for row in rows]

    def _covers(self, reflection_id: int) -> tuple[int, ...]:
        rows = self._database.execute(
            "SELECT observation_id FROM covered WHERE reflection_id = ? ORDER BY observation_id",
            (reflection_id,),
        )
        return tuple(observation_id for (observation_id,) in rows)


def _observation(row: tuple[Any, ...]) -> ObservationRow:
    return ObservationRow(*row[:-3], label=label_from(*row[-3:]))


def _reflection(row: tuple[Any, ...], covers: tuple[int, ...]) -> ReflectionRow:
    return ReflectionRow(*row[:-3], label=label_from(*row[-3:]), covers=covers)
