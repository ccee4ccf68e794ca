"""Messages that this machine has accepted and whose turns belong to no reader: each becomes one turn."""

import time
from typing import Any

from sestet.core.record import Record
from sestet.storage.database import Database


class AcceptedMessage(Record):
    """A message, and the turn that answers it. The turn exists as soon as it has begun."""

    turn_id: str
    session_id: str
    #: The client's own name for the message: the same key again is the same message.
    key: str
    #: Empty once the turn has begun: the journal has it then.
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


_COLUMNS = "turn_id, session_id, client_key, text, mine, can_ask, accepted_at, cancelled, agent"
_SELECT = f"SELECT {_COLUMNS} FROM accepted_messages"  # noqa: S608 - the columns above
#: A turn may have begun and its process have died before it could clear the text.
_HAS_NOT_BEGUN = "text <> '' AND turn_id NOT IN (SELECT id FROM turns)"


class AcceptedMessages:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, turn_id: str, session_id: str, key: str, text: str, *, mine: bool, can_ask: bool, agent: str
    ) -> AcceptedMessage:
        """Store a message; the one that is stored already if the session has one with this key."""
        with self._database.transaction(patient=True):
            self._database.execute(
                "INSERT OR IGNORE INTO accepted_messages VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)",
                (turn_id, session_id, key, text, mine, can_ask, time.time(), agent),
            )
            message = self.find(session_id, key)
        assert message is not None  # written above, or before
        return message

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

    def began(self, turn_id: str) -> None:
        """Forget the text of a message whose turn has begun: the journal is its only place then."""
        self._database.execute("UPDATE accepted_messages SET text = '' WHERE turn_id = ?", (turn_id,))

    def clear_begun(self) -> None:
        """The same for turns whose process died before it could."""
        self._database.execute(
            "UPDATE accepted_messages SET text = '' WHERE text <> '' AND turn_id IN (SELECT id FROM turns)"
        )

    def cancel(self, turn_id: str) -> bool:
        """Cancel a message before its turn begins; False if the turn has begun or the message is unknown."""
        done = self._database.execute(
            f"UPDATE accepted_messages SET text = '', cancelled = 1 WHERE turn_id = ? AND {_HAS_NOT_BEGUN}",  # noqa: S608
            (turn_id,),
        )
        return done.rowcount == 1


def _message(row: tuple[Any, ...]) -> AcceptedMessage:  # Any: as SQLite has them
    turn_id, session_id, key, text, mine, can_ask, accepted_at, cancelled, agent = row
    flags = (bool(mine), bool(can_ask), accepted_at, bool(cancelled))
    return AcceptedMessage(turn_id, session_id, key, text, *flags, agent)
