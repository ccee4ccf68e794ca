"""Which conversation is meant: a new one, the last one, or the one that is named."""

import re
import secrets
import time
from collections.abc import Sequence

from sestet.core.errors import PersonError
from sestet.core.schema import suggest
from sestet.storage.journal import Journal, SessionRow

_NAME = re.compile(r"[\w.-]{1,64}")
_ALL = 1_000_000


def new_session_id(journal: Journal) -> str:
    """A short name that can be read aloud: ``20261115-1a2b``."""
    while True:
        session_id = f"{time.strftime('%Y%m%d')}-{secrets.token_hex(2)}"
        if find_session(journal, session_id) is None:
            return session_id


def find_session(journal: Journal, wanted: str) -> SessionRow | None:
    """The session of that name; what stands after the dash is enough when no other session has it."""
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
    """The name of the session to talk in: an existing one, or one that begins under this name."""
    row = find_session(journal, wanted)
    if row is not None:
        return row.id
    if not _NAME.fullmatch(wanted):
        raise PersonError(
            f"'{wanted}' cannot be the name of a session: use letters, digits, '.', '_' and '-', 64 at most"
        )
    return wanted


def open_session(journal: Journal, wanted: str | None) -> str:
    """The name of the session that a command talks in: the one that was asked for, else a new one."""
    return new_session_id(journal) if wanted is None else name_session(journal, wanted)


def last_session(journal: Journal, other_than: Sequence[str] = ()) -> SessionRow | None:
    """The session that was used last."""
    rows = journal.sessions(1 + len(other_than))
    return next((row for row in rows if row.id not in other_than), None)
