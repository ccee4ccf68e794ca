"""Observations from conversations, and the reflections that sum them up."""

import time
from collections.abc import Sequence
from typing import Any

from sestet.core.label import Label, Origin
from sestet.core.record import Record
from sestet.storage.database import Database, Value, label_columns, label_from

_OBSERVATION = """SELECT id, text, session_id, turn_id, created_at, made_by, untrusted, private, sources
    FROM observations"""
_REFLECTION = """SELECT id, text, session_id, turn_id, created_at, level, made_by,
    untrusted, private, sources FROM reflections"""


class ObservationRow(Record):
    id: int
    text: str
    session_id: str
    #: The last of the turns it was observed in.
    turn_id: str
    created_at: float
    #: The name of an agent or a model, ``rules``, or ``you``.
    made_by: str
    label: Label


class ReflectionRow(Record):
    """A summary; the rows that it sums up are kept."""

    id: int
    text: str
    #: Empty if it sums up several sessions.
    session_id: str
    turn_id: str
    created_at: float
    level: int
    made_by: str
    label: Label
    #: Ids of the observations it sums up.
    covers: tuple[int, ...]
    #: Ids of the reflections of the level below it sums up.
    gathers: tuple[int, ...]


class ReflectionSources(Record):
    """The ids of the rows that a reflection sums up."""

    observations: Sequence[int] = ()
    reflections: Sequence[int] = ()


class ObservationStore:
    """Observations and reflections, each with its origin."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_observation(
        self, text: str, origin: Origin, made_by: str = "chronicler", turns: Sequence[str] = ()
    ) -> ObservationRow:
        """Store an observation of one turn or several."""
        with self._database.join_transaction():
            observation_id = self._insert_observation(text, origin, made_by)
            for turn_id in dict.fromkeys(turns or (origin.turn_id,)):
                self._database.execute("INSERT INTO observed_in VALUES (?, ?)", (observation_id, turn_id))
        row = self.observation(observation_id)
        assert row is not None  # stored above
        return row

    def _insert_observation(self, text: str, origin: Origin, made_by: str) -> int:
        (observation_id,) = self._database.execute(
            """INSERT INTO observations (text, session_id, turn_id, created_at, untrusted, private, sources,
               made_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
            (text, origin.session_id, origin.turn_id, time.time(), *label_columns(origin.label), made_by),
        ).only()
        return observation_id

    def add_reflection(
        self,
        text: str,
        origin: Origin,
        level: int,
        sources: ReflectionSources,
        made_by: str = "chronicler",
    ) -> ReflectionRow:
        """Store a summary with its sources, in one transaction."""
        with self._database.join_transaction():
            (reflection_id,) = self._database.execute(
                """INSERT INTO reflections (text, session_id, turn_id, created_at, level, untrusted, private,
                   sources, made_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
                (
                    text,
                    origin.session_id,
                    origin.turn_id,
                    time.time(),
                    level,
                    *label_columns(origin.label),
                    made_by,
                ),
            ).only()
            for source in sources.observations:
                self._database.execute("INSERT INTO covered VALUES (?, ?)", (reflection_id, source))
            for source in sources.reflections:
                self._database.execute("INSERT INTO gathered VALUES (?, ?)", (reflection_id, source))
        row = self.reflection(reflection_id)
        assert row is not None  # stored above
        return row

    def observation(self, observation_id: int) -> ObservationRow | None:
        found = self._observations("WHERE id = ?", (observation_id,))
        return found[0] if found else None

    def reflection(self, reflection_id: int) -> ReflectionRow | None:
        found = self._reflections("WHERE id = ?", (reflection_id,))
        return found[0] if found else None

    def observations(self, limit: int, session_id: str = "") -> list[ObservationRow]:
        """The latest first, of one session or of all."""
        return self._observations("WHERE ? IN ('', session_id) ORDER BY id DESC LIMIT ?", (session_id, limit))

    def reflections(self, limit: int, session_id: str = "") -> list[ReflectionRow]:
        """The latest first, of one session or of all."""
        return self._reflections("WHERE ? IN ('', session_id) ORDER BY id DESC LIMIT ?", (session_id, limit))

    def uncovered(self, *, untrusted: bool, after: int = 0) -> list[ObservationRow]:
        """Observations after this one that no reflection sums up yet, the oldest first.

        An untrusted reflection does not count for a trusted observation.
        """
        return self._observations(
            """WHERE id > ? AND untrusted = ? AND NOT EXISTS
                   (SELECT 1 FROM covered JOIN reflections ON reflections.id = reflection_id
                    WHERE observation_id = observations.id AND reflections.untrusted <= ?) ORDER BY id""",
            (after, untrusted, untrusted),
        )

    def ungathered(self, *, untrusted: bool) -> list[ReflectionRow]:
        """Reflections that no higher one of the same trust sums up yet, by level, the oldest first."""
        return self._reflections(
            """WHERE id NOT IN (SELECT source_id FROM gathered JOIN reflections ON id = reflection_id
                                WHERE untrusted <= ?) AND untrusted = ? ORDER BY level, id""",
            (untrusted, untrusted),
        )

    def covering(self, observation_id: int) -> list[int]:
        """The ids of the reflections that sum up an observation."""
        rows = self._database.execute(
            "SELECT reflection_id FROM covered WHERE observation_id = ? ORDER BY 1", (observation_id,)
        )
        return [reflection_id for (reflection_id,) in rows]

    def gathering(self, source_id: int) -> list[int]:
        """The ids of the higher reflections that sum up a reflection."""
        rows = self._database.execute(
            "SELECT reflection_id FROM gathered WHERE source_id = ? ORDER BY 1", (source_id,)
        )
        return [reflection_id for (reflection_id,) in rows]

    def seen_in(self, turn_id: str) -> list[int]:
        """The ids of the observations of a turn."""
        rows = self._database.execute("SELECT observation_id FROM observed_in WHERE turn_id = ?", (turn_id,))
        return [observation_id for (observation_id,) in rows]

    def turns_of(self, observation_id: int) -> list[str]:
        rows = self._database.execute(
            "SELECT turn_id FROM observed_in WHERE observation_id = ?", (observation_id,)
        )
        return [turn_id for (turn_id,) in rows]

    def rewrite_observation(self, observation_id: int, text: str, label: Label, made_by: str) -> None:
        self._database.execute(
            """UPDATE observations SET text = ?, untrusted = ?, private = ?, sources = ?, made_by = ?
               WHERE id = ?""",
            (text, *label_columns(label), made_by, observation_id),
        )

    def rewrite_reflection(self, reflection_id: int, text: str, label: Label, made_by: str) -> None:
        self._database.execute(
            """UPDATE reflections SET text = ?, untrusted = ?, private = ?, sources = ?, made_by = ?
               WHERE id = ?""",
            (text, *label_columns(label), made_by, reflection_id),
        )

    def remove_observation(self, observation_id: int) -> None:
        self._database.execute("DELETE FROM observations WHERE id = ?", (observation_id,))

    def remove_reflection(self, reflection_id: int) -> None:
        """Delete a reflection; another one may sum up its sources."""
        self._database.execute("DELETE FROM reflections WHERE id = ?", (reflection_id,))

    def _observations(self, condition: str, values: Sequence[Value]) -> list[ObservationRow]:
        rows = self._database.execute(f"{_OBSERVATION} {condition}", values)
        return [ObservationRow(*row[:-3], label=label_from(*row[-3:])) for row in rows]

    def _reflections(self, condition: str, values: Sequence[Value]) -> list[ReflectionRow]:
        rows = self._database.execute(f"{_REFLECTION} {condition}", values)
        return [self._reflection(row) for row in rows]

    def _reflection(self, row: tuple[Any, ...]) -> ReflectionRow:  # Any: the columns of _REFLECTION
        covers = self._database.execute(
            "SELECT observation_id FROM covered WHERE reflection_id = ? ORDER BY 1", (row[0],)
        )
        gathers = self._database.execute(
            "SELECT source_id FROM gathered WHERE reflection_id = ? ORDER BY 1", (row[0],)
        )
        return ReflectionRow(
            *row[:-3],
            label=label_from(*row[-3:]),
            covers=tuple(number for (number,) in covers),
            gathers=tuple(number for (number,) in gathers),
        )
