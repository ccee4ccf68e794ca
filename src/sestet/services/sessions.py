"""Conversations: the one that a name means, a new one, and the turns of one."""

import json
import re
import secrets
import time
from collections.abc import Sequence

from sestet.core.errors import PersonError
from sestet.core.event import EVENTS, Event, TextStreamed
from sestet.core.schema import suggest
from sestet.storage.journal import Journal, SessionRow, TurnRow, encode

__all__ = [
    "SessionRow",
    "TurnRow",
    "event_values",
    "find_session",
    "last_session",
    "name_session",
    "new_session_id",
    "open_session",
    "read_turns",
    "require_session",
]

_NAME = re.compile(r"[\w.-]{1,64}")
_ALL = 1_000_000
_ALL_KINDS = tuple(event.kind for event in EVENTS if event is not TextStreamed)


def new_session_id(journal: Journal) -> str:
    """A short name that can be read aloud: ``20261115-1a2b``."""
    while True:
        session_id = f"{time.strftime('%Y%m%d')}-{secrets.token_hex(2)}"
        if find_session(journal, session_id) is None:
            return session_id


def find_session(journal: Journal, wanted: str) -> SessionRow | None:
    """The session of that name. The part after the dash is enough when no other session has it."""
    rows = journal.sessions(_ALL)
    exact = [row for row in rows if row.id == wanted]
    found = exact or [row for row in rows if row.id.rpartition("-")[2] == wanted]
    return found[0] if len(found) == 1 else None


def require_session(journal: Journal, wanted: str) -> SessionRow:
    """The session of that name, or an error that names the nearest."""
    row = find_session(journal, wanted)
    if row is None:
        known = [row.id for row in journal.sessions(_ALL)]
        near = suggest(wanted, known) or "; 'sestet sessions' lists them"
        raise PersonError(f"there is no session '{wanted}'{near}")
    return row


def name_session(journal: Journal, wanted: str) -> str:
    """The name of the session to talk in: an existing one, or a new one of this name."""
    row = find_session(journal, wanted)
    if row is not None:
        return row.id
    if not _NAME.fullmatch(wanted):
        raise PersonError(
            f"'{wanted}' cannot be the name of a session: use letters, digits, '.', '_' and '-', 64 at most"
        )
    return wanted


def open_session(journal: Journal, wanted: str | None) -> str:
    """The name of the session to talk in: the one that was asked for, else a new one."""
    return new_session_id(journal) if wanted is None else name_session(journal, wanted)


def last_session(journal: Journal, other_than: Sequence[str] = ()) -> SessionRow | None:
    """The session that was used last."""
    rows = journal.sessions(1 + len(other_than))
    return next((row for row in rows if row.id not in other_than), None)


def read_turns(journal: Journal, session_id: str, last: int = _ALL) -> list[list[Event]]:
    """The events of a session's turns, oldest turn first, without the pieces of streamed text."""
    turns: dict[str, list[Event]] = {}
    for event in journal.session_events(session_id, _ALL_KINDS, last):
        turns.setdefault(event.stamp.turn_id, []).append(event)
    return list(turns.values())


def event_values(event: Event) -> dict[str, object]:
    """An event's own fields as JSON values, without its stamp, as the journal has them."""
    return json.loads(encode(event))
