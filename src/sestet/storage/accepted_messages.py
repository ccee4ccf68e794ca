"""Messages that this machine has accepted and whose turns belong to no reader: each becomes one turn."""

import time
from typing import Any

from sestet.core.errors import BusyError
from sestet.core.record import Record
from sestet.storage.database import Database, Value


class AcceptedMessage(Record):
    """A message, and the turn that answers it. The turn exists as soon as it has begun."""

    turn_id: str
    session_id: str
    #: The client's own name for the message: the same key again is the same message.
    key: str
    #: Empty once the turn has begun: a trigger clears it, for the journal has it then.
    text: str
    #: Whether the person wrote it.
    mine: bool
    #: Whether a person can answer a question of the turn, now or later.
    can_ask: bool
    accepted_at: float
    #: Cancelled before its turn began.
    cancelled: bool
    #: The specialist that it is for; empty: the orchestrator chooses.
    agent: str
    #: Somebody else who sent it and gets the answer; empty: the owner.
    caller: str


_COLUMNS = "turn_id, session_id, client_key, text, mine, can_ask, accepted_at, cancelled, agent, caller"
_SELECT = f"SELECT {_COLUMNS} FROM accepted_messages"  # noqa: S608 - the columns above
_HAS_NOT_BEGUN = "text <> ''"


class AcceptedMessages:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        turn_id: str,
        session_id: str,
        key: str,
        text: str,
        *,
        mine: bool,
        can_ask: bool,
        agent: str,
        caller: str = "",
    ) -> AcceptedMessage:
        """Store a message; the one that is stored already if the session has one with this key."""
        row = (turn_id, session_id, key, text, mine, can_ask, time.time(), False, agent, caller)
        try:
            is_new = self._insert(row)
        except BusyError:
            with self._database.transaction(patient=True):
                is_new = self._insert(row)
        message = _message(row) if is_new else self.find(session_id, key)
        assert message is not None  # written now, or before
        return message

    def _insert(self, row: tuple[Value, ...]) -> bool:
        done = self._database.execute(
            "INSERT OR IGNORE INTO accepted_messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row
        )
        return done.rowcount == 1

    def get(self, turn_id: str) -> AcceptedMessage | None:
        row = self._database.execute(f"{_SELECT} WHERE turn_id = ?", (turn_id,)).fetchone()
        return _message(row) if row else None

    def find(self, session_id: str, key: str) -> AcceptedMessage | None:
        rows = self._database.execute(f"{_SELECT} WHERE session_id = ? AND client_key = ?", (session_id, key))
        return _message(rows[0]) if rows else None

    def waiting(self) -> list[AcceptedMessage]:
        """The messages whose turns have not begun, the oldest first."""
        rows = self._database.execute(f"{_SELECT} WHERE {_HAS_NOT_BEGUN} ORDER BY accepted_at, turn_id")
        return [_message(row) for row in rows]

    def cancel(self, turn_id: str) -> bool:
        """Cancel a message before its turn begins; False if the turn has begun or the message is unknown."""
        done = self._database.execute(
            f"UPDATE accepted_messages SET text = '', cancelled = 1 WHERE turn_id = ? AND {_HAS_NOT_BEGUN}",  # noqa: S608
            (turn_id,),
        )
        return done.rowcount == 1


def _message(row: tuple[Any, ...]) -> AcceptedMessage:  # Any: as SQLite has them
    turn_id, session_id, key, text, mine, can_ask, accepted_at, cancelled, agent, caller = row
    flags = (bool(mine), bool(can_ask), accepted_at, bool(cancelled))
    return AcceptedMessage(turn_id, session_id, key, text, *flags, agent, caller)
