"""Callers, who are not the owner: the sessions of each, and where they want to be told about a task."""

from typing import NamedTuple

from sestet.storage.database import Database

_IS_OPEN = """NOT cancelled AND coalesce(
    (SELECT state IN ('running', 'paused') FROM turns WHERE turns.id = accepted_messages.turn_id), 1)"""


class CallerTurn(NamedTuple):
    """A turn that a caller asked for."""

    turn_id: str
    context_id: str
    accepted_at: float


class CallerStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def session_of(self, token_id: int, context_id: str) -> str | None:
        """The session behind a caller's name for it."""
        rows = self._database.execute(
            "SELECT session_id FROM caller_sessions WHERE token_id = ? AND context_id = ?",
            (token_id, context_id),
        )
        return rows[0][0] if rows else None

    def add_session(self, session_id: str, token_id: int, context_id: str, at: float) -> None:
        self._database.execute(
            "INSERT INTO caller_sessions VALUES (?, ?, ?, ?)", (session_id, token_id, context_id, at)
        )

    def sessions_since(self, token_id: int, at: float) -> int:
        """How many sessions a caller has begun since then."""
        (count,) = self._database.execute(
            "SELECT count(*) FROM caller_sessions WHERE token_id = ? AND created_at > ?", (token_id, at)
        ).only()
        return count

    def has_message(self, session_id: str, key: str) -> bool:
        """Whether a message with this key was accepted before."""
        return bool(
            self._database.execute(
                "SELECT 1 FROM accepted_messages WHERE session_id = ? AND client_key = ?", (session_id, key)
            )
        )

    def turns_in(self, session_id: str) -> int:
        (count,) = self._database.execute(
            "SELECT count(*) FROM accepted_messages WHERE session_id = ?", (session_id,)
        ).only()
        return count

    def open_turns(self, token_id: int) -> int:
        """How many turns of a caller wait, run or are paused, in all their sessions."""
        (count,) = self._database.execute(
            f"""SELECT count(*) FROM caller_sessions JOIN accepted_messages USING (session_id)
                WHERE token_id = ? AND {_IS_OPEN}""",  # noqa: S608 - text above
            (token_id,),
        ).only()
        return count

    def turn(self, token_id: int, turn_id: str) -> CallerTurn | None:
        """A turn of a caller; None: there is none, or it is somebody else's."""
        rows = self._database.execute(
            """SELECT turn_id, context_id, accepted_at
               FROM accepted_messages JOIN caller_sessions USING (session_id)
               WHERE turn_id = ? AND token_id = ?""",
            (turn_id, token_id),
        )
        return CallerTurn(*rows[0]) if rows else None

    def turns(self, token_id: int, context_id: str = "") -> list[CallerTurn]:
        """The turns of a caller, or of one of their sessions, the latest first."""
        rows = self._database.execute(
            """SELECT turn_id, context_id, accepted_at
               FROM caller_sessions JOIN accepted_messages USING (session_id)
               WHERE token_id = ? AND (? = '' OR context_id = ?) ORDER BY accepted_at DESC, turn_id DESC""",
            (token_id, context_id, context_id),
        )
        return [CallerTurn(*row) for row in rows]

    def context_of(self, session_id: str) -> str:
        """A caller's name for a session; empty if it is not a caller's."""
        rows = self._database.execute(
            "SELECT context_id FROM caller_sessions WHERE session_id = ?", (session_id,)
        )
        return rows[0][0] if rows else ""

    def set_target(self, turn_id: str, target_id: str, data: bytes) -> None:
        """Tell this place how a turn goes; the same id again replaces it."""
        self._database.execute(
            """INSERT OR REPLACE INTO push_targets
               SELECT ?, ?, session_id, ? FROM accepted_messages WHERE turn_id = ?""",
            (turn_id, target_id, data, turn_id),
        )

    def targets(self, turn_id: str) -> list[bytes]:
        """The places of a turn; none if the token of its caller was revoked."""
        rows = self._database.execute(
            """SELECT data FROM push_targets JOIN caller_sessions USING (session_id)
               JOIN tokens ON tokens.id = token_id WHERE turn_id = ? ORDER BY target_id""",
            (turn_id,),
        )
        return [data for (data,) in rows]

    def delete_target(self, turn_id: str, target_id: str) -> bool:
        done = self._database.execute(
            "DELETE FROM push_targets WHERE turn_id = ? AND target_id = ?", (turn_id, target_id)
        )
        return done.rowcount == 1
