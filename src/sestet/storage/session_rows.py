"""All rows of one session: what it has saved elsewhere, and the removal of everything else."""

from typing import NamedTuple

from sestet.storage.database import Database
from sestet.storage.payments import PaymentStore
from sestet.storage.spending import SpendingStore

_TURNS = "(SELECT id FROM turns WHERE session_id = ?)"
#: In this order: a row goes before the row that it refers to. The index is told the words that it holds.
_DELETE = (
    f"""INSERT INTO exchanges_index (exchanges_index, rowid, asked, answered)
        SELECT 'delete', id, asked, answered FROM exchanges WHERE turn_id IN {_TURNS}""",  # noqa: S608
    f"DELETE FROM searchable_turns WHERE turn_id IN {_TURNS}",  # noqa: S608
    f"DELETE FROM approvals WHERE turn_id IN {_TURNS}",  # noqa: S608
    "DELETE FROM grants WHERE session_id = ? AND session_id <> ''",
    "DELETE FROM accepted_messages WHERE session_id = ?",
    "DELETE FROM push_targets WHERE session_id = ?",
    "DELETE FROM caller_sessions WHERE session_id = ?",
    "DELETE FROM passed_over WHERE session_id = ?",
    "DELETE FROM observed WHERE session_id = ?",
    f"DELETE FROM forgotten_turns WHERE turn_id IN {_TURNS}",  # noqa: S608
    f"DELETE FROM events WHERE turn_id IN {_TURNS}",  # noqa: S608
    "DELETE FROM turns WHERE session_id = ?",
    "DELETE FROM sessions WHERE id = ?",
)


class Saved(NamedTuple):
    """How much a session has saved for good, at the person's wish."""

    facts: int
    entries: int
    lessons: int
    graph_facts: int


class SessionRows:
    def __init__(self, database: Database, session_id: str) -> None:
        self._database = database
        self._id = session_id

    def turn_ids(self) -> list[str]:
        rows = self._database.execute(
            "SELECT id FROM turns WHERE session_id = ? ORDER BY number", (self._id,)
        )
        return [turn_id for (turn_id,) in rows]

    def fact_ids(self) -> list[int]:
        rows = self._database.execute("SELECT id FROM memories WHERE session_id = ? ORDER BY id", (self._id,))
        return [number for (number,) in rows]

    def observation_ids(self) -> list[int]:
        """Observations of its turns, also those that name another session."""
        rows = self._database.execute(
            f"""SELECT id FROM observations WHERE session_id = ?
               UNION SELECT observation_id FROM observed_in WHERE turn_id IN {_TURNS}""",  # noqa: S608
            (self._id, self._id),
        )
        return [number for (number,) in rows]

    def reflection_ids(self) -> list[int]:
        rows = self._database.execute("SELECT id FROM reflections WHERE session_id = ?", (self._id,))
        return [number for (number,) in rows]

    def saved(self) -> Saved:
        row = self._database.execute(
            """SELECT (SELECT count(*) FROM memories WHERE session_id = ?),
                      (SELECT count(DISTINCT knowledge_id) FROM knowledge_versions WHERE session_id = ?),
                      (SELECT count(*) FROM learnings WHERE session_id = ?),
                      (SELECT count(*) FROM triples WHERE session_id = ? AND collection = '')""",
            (self._id,) * 4,
        ).only()
        return Saved(*row)

    def delete(self) -> None:
        """Inside a transaction: remove the conversation. Its sums and payments stay, without its name."""
        SpendingStore(self._database).leave_session(self._id)
        for statement in _DELETE:
            self._database.execute(statement, (self._id,))
        PaymentStore(self._database).leave_session(self._id)
