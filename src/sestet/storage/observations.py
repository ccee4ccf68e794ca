"""What was observed in conversations, and the reflections that sum observations up."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from sestet.storage.database import Database


class ObservationRow(NamedTuple):
    id: int
    text: str
    session_id: str
    turn_id: str
    created_at: float


class ReflectionRow(NamedTuple):
    """A summary; ``covers`` are the observations it rests on, which stay where they are."""

    id: int
    text: str
    session_id: str
    turn_id: str
    created_at: float
    level: int
    covers: tuple[int, ...]


class ObservationStore:
    """Observations and reflections, each with the turn it came from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_observation(self, text: str, session_id: str, turn_id: str) -> ObservationRow:
        cursor = self._database.execute(
            "INSERT INTO observations VALUES (NULL, ?, ?, ?, ?) RETURNING *",
            (text, session_id, turn_id, time.time()),
        )
        return ObservationRow(*cursor.only())

    def add_reflection(
        self, text: str, session_id: str, turn_id: str, level: int, covers: Sequence[int]
    ) -> ReflectionRow:
        """Store a summary with what it covers, both or neither."""
        with self._database.transaction():
            cursor = self._database.execute(
                "INSERT INTO reflections VALUES (NULL, ?, ?, ?, ?, ?) RETURNING *",
                (text, session_id, turn_id, time.time(), level),
            )
            row = ReflectionRow(*cursor.only(), covers=tuple(sorted(covers)))
            for observation_id in row.covers:
                self._database.execute("INSERT INTO covered VALUES (?, ?)", (row.id, observation_id))
        return row

    def observations(self, limit: int, session_id: str = "") -> list[ObservationRow]:
        """The latest first; of one session, or of all."""
        rows = self._database.execute(
            "SELECT * FROM observations WHERE ?1 IN ('', session_id) ORDER BY id DESC LIMIT ?2",
            (session_id, limit),
        )
        return [ObservationRow(*row) for row in rows]

    def reflections(self, limit: int, session_id: str = "") -> list[ReflectionRow]:
        """The latest first; of one session, or of all."""
        rows = self._database.execute(
            "SELECT * FROM reflections WHERE ?1 IN ('', session_id) ORDER BY id DESC LIMIT ?2",
            (session_id, limit),
        )
        return [ReflectionRow(*row, covers=self._covers(row[0])) for row in rows]

    def _covers(self, reflection_id: int) -> tuple[int, ...]:
        rows = self._database.execute(
            "SELECT observation_id FROM covered WHERE reflection_id = ? ORDER BY observation_id",
            (reflection_id,),
        )
        return tuple(observation_id for (observation_id,) in rows)
