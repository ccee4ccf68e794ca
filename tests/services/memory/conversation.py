"""Past conversations, written into a journal as turns write them."""

import secrets

from sestet.core.event import Stamp, TurnCancelled, TurnFinished, TurnPaused, TurnStarted
from sestet.core.label import CLEAN, Label
from sestet.core.model import Usage
from sestet.storage.database import Database
from sestet.storage.journal import Journal

STRANGE = Label(untrusted=True, sources=("browser_fetch of navigator",))


def begin(database: Database, words: str, session_id: str = "s1") -> str:
    """A turn that has not ended; its id."""
    turn_id = secrets.token_hex(4)
    Journal(database).append(TurnStarted(Stamp(session_id, turn_id, 1, "user", "", 1.0), words))
    return turn_id


def finish(
    database: Database, turn_id: str, reply: str = "Noted.", label: Label = CLEAN, session_id: str = "s1"
) -> None:
    stamp = Stamp(session_id, turn_id, 9, "orchestrator", "", 2.0)
    Journal(database).append(TurnFinished(stamp, reply, Usage(), 1.0, label))


def pause(database: Database, turn_id: str, session_id: str = "s1") -> None:
    Journal(database).append(TurnPaused(Stamp(session_id, turn_id, 5, "orchestrator", "", 2.0), ("q",)))


def cancel(database: Database, turn_id: str, session_id: str = "s1") -> None:
    Journal(database).append(TurnCancelled(Stamp(session_id, turn_id, 9, "user", "", 2.0)))


def say(
    database: Database, words: str, reply: str = "Noted.", label: Label = CLEAN, session_id: str = "s1"
) -> str:
    """A turn from its beginning to its end; its id."""
    turn_id = begin(database, words, session_id)
    finish(database, turn_id, reply, label, session_id)
    return turn_id
