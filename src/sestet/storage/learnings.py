"""Lessons: a trigger, the fix that helped, and the cause."""

import time

from sestet.core.label import Label, Origin
from sestet.core.record import Record
from sestet.storage.database import Database, Rows, label_columns, label_from
from sestet.storage.full_text import match_any


class LearningRow(Record):
    id: int
    trigger: str
    fix: str
    cause: str
    session_id: str
    turn_id: str
    created_at: float
    label: Label


class LearningStore:
    """Each lesson once; its trigger and its fix identify it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, trigger: str, fix: str, cause: str, origin: Origin) -> LearningRow:
        """Store a lesson. The same lesson again changes nothing, unless only the new one is trusted."""
        values = (cause, origin.session_id, origin.turn_id, time.time(), *label_columns(origin.label))
        with self._database.transaction():
            stored = self._database.execute(
                "SELECT * FROM learnings WHERE trigger = ? AND fix = ?", (trigger, fix)
            )
            if not stored:
                stored = self._database.execute(
                    "INSERT INTO learnings VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
                    (trigger, fix, *values),
                )
            elif _rows(stored)[0].label.untrusted and not origin.label.untrusted:
                stored = self._database.execute(
                    """UPDATE learnings SET trigger = ?, cause = ?, session_id = ?, turn_id = ?,
                           created_at = ?, untrusted = ?, private = ?, sources = ?
                       WHERE trigger = ? AND fix = ? RETURNING *""",
                    (trigger, *values, trigger, fix),
                )
        return _rows(stored)[0]

    def search(self, query: str, limit: int) -> list[LearningRow]:
        """The best matches first. A query of only common words finds the latest lessons."""
        if not (expression := match_any(query)):
            return self.latest(limit)
        rows = self._database.execute(
            """SELECT learnings.* FROM passages_index JOIN passages ON passages.id = passages_index.rowid
               JOIN learnings ON collection = 'learnings' AND learnings.id = item_id
               WHERE passages_index MATCH ?
               ORDER BY bm25(passages_index, 3.0, 1.0), item_id DESC LIMIT ?""",
            (expression, limit),
        )
        return _rows(rows)

    def latest(self, limit: int) -> list[LearningRow]:
        return _rows(self._database.execute("SELECT * FROM learnings ORDER BY id DESC LIMIT ?", (limit,)))

    def forget(self, learning_id: int) -> bool:
        """Remove a lesson; False if there is none with this id."""
        return self._database.execute("DELETE FROM learnings WHERE id = ?", (learning_id,)).rowcount > 0

    def count(self) -> int:
        (number,) = self._database.execute("SELECT count(*) FROM learnings").only()
        return number


def _rows(rows: Rows) -> list[LearningRow]:
    return [LearningRow(*row[:-3], label=label_from(*row[-3:])) for row in rows]
