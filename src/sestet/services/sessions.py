"""Conversations: the one that a name means, a new one, and the turns of one."""

import json
import os
import re
import time
from collections.abc import Sequence

from sestet.core.errors import PersonError
from sestet.core.event import EVENTS, PIECES, Event
from sestet.core.message import whole
from sestet.core.schema import suggest
from sestet.storage.event_json import encode
from sestet.storage.full_text import telling_words
from sestet.storage.journal import Journal, SessionRow, TurnRow
from sestet.storage.session_search import Exchange, SessionSearch

__all__ = [
    "CALLERS",
    "LAST",
    "MCP_CLIENTS",
    "Exchange",
    "SessionRow",
    "TurnRow",
    "cited",
    "event_values",
    "find_session",
    "is_callers",
    "is_others",
    "last_session",
    "name_session",
    "new_session_id",
    "open_session",
    "read_turns",
    "rename_session",
    "require_own_session",
    "require_session",
    "require_session_name",
    "search_sessions",
]

#: The names of callers' sessions begin with this: nobody else talks in them.
CALLERS = "caller:"
#: Those of MCP clients' sessions, which every MCP client can name.
MCP_CLIENTS = "mcp-"

_NAME = re.compile(r"[\w.@:+][\w.@:+-]{0,63}")
#: What a person writes for the session that was used last.
LAST = "last"
_ALL = 1_000_000
_SHOWN_OF_NAME = 80
_LONGEST_TITLE = 200
#: How many names of sessions an error lists.
_SHOWN = 5
_ALL_KINDS = tuple(event.kind for event in EVENTS if event not in PIECES)


def new_session_id(journal: Journal) -> str:
    """A short name that can be read aloud: ``20261115-1a2b``."""
    while True:
        session_id = f"{time.strftime('%Y%m%d')}-{os.urandom(2).hex()}"
        if find_session(journal, session_id) is None:
            return session_id


def find_session(journal: Journal, wanted: str) -> SessionRow | None:
    """The session of that name. The part after the dash is enough when no other session has it."""
    rows = journal.sessions(_ALL)
    exact = [row for row in rows if row.id == wanted]
    # A program chooses the part after the dash itself, and could choose one that the person uses.
    found = exact or [row for row in rows if row.id.rpartition("-")[2] == wanted and not is_others(row.id)]
    return found[0] if len(found) == 1 else None


def require_session(journal: Journal, wanted: str) -> SessionRow:
    """The session that a person means, or an error that names the nearest.

    Beside a whole name and the part after its dash, ``last`` and the beginning of a name are enough.
    """
    if (row := find_session(journal, wanted)) is not None:
        return row
    rows = journal.sessions(_ALL)
    if _is_last(wanted):
        found = [row for row in rows if not is_others(row.id)][:1]
    else:
        found = [row for row in rows if wanted and _begins(row.id, wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(row.id for row in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise PersonError(f"'{wanted}' can be {names}{more}; write more of the id")
    near = suggest(wanted, [row.id for row in rows]) or "; 'sestet sessions' lists them"
    raise PersonError(f"there is no session '{wanted}'{near if rows else '; there is none yet'}")


def _is_last(wanted: str) -> bool:
    return wanted.casefold() == LAST


def _begins(session_id: str, wanted: str) -> bool:
    return session_id.startswith(wanted) or session_id.rpartition("-")[2].startswith(wanted)


def rename_session(journal: Journal, session_id: str, title: str) -> str:
    """Give a session a title of one line; returns the title."""
    title = whole(" ".join(title.split()))
    if not any(character.isprintable() for character in title):
        raise PersonError("the title is empty: write the words that you want to find the session by")
    if len(title) > _LONGEST_TITLE:
        raise PersonError(f"the title has {len(title):,} characters, and the most is {_LONGEST_TITLE}")
    journal.rename_session(session_id, title)
    return title


def search_sessions(search: SessionSearch, query: str, limit: int) -> list[Exchange]:
    """The turns with some of these words, and before them the last turn of each session that is titled so.

    Raise if the words are too common to tell turns apart.
    """
    if not telling_words(query):
        raise PersonError(f"'{query}' is in almost every conversation; add a word that is not")
    found = search.search(query, limit)
    titled = [each for each in search.titled(query, limit) if each not in found]
    return [*titled, *found][:limit]


def cited(session_id: str) -> str:
    """A session as the source of a passage."""
    return f"session {session_id}"


def name_session(journal: Journal, wanted: str) -> str:
    """The name of the session to talk in: an existing one, or a new one of this name.

    A beginning is not enough here: it may be the name of a new session.
    """
    row = find_session(journal, wanted)
    if row is None and _is_last(wanted):
        row = last_session(journal)
        return row.id if row else new_session_id(journal)
    if row is not None:
        return row.id
    require_session_name(journal, wanted)
    return wanted


def require_session_name(journal: Journal, name: str) -> None:
    """Refuse a name that a new session cannot have. One of an earlier version may have any name."""
    if not _can_be_new(name) and journal.next_turn(name).number == 1:
        require_new_name(name)


def _can_be_new(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and not _is_last(name)


def require_new_name(name: str) -> None:
    """Refuse a name that a new session cannot have."""
    if _can_be_new(name):
        return
    if _is_last(name):
        raise PersonError(f"'{LAST}' means the session that was used last; choose another name")
    raise PersonError(
        f"'{name[:_SHOWN_OF_NAME]}' cannot be the name of a session: "
        "use letters, digits and . _ - @ : +, 64 at most, and no '-' at the beginning"
    )


def is_callers(session_id: str) -> bool:
    """Whether a session belongs to a caller, who is not the owner."""
    return session_id.startswith(CALLERS)


def is_others(session_id: str) -> bool:
    """Whether somebody else than the owner reads what is said in a session: a caller, or an MCP client."""
    return session_id.startswith((CALLERS, MCP_CLIENTS))


def require_own_session(session_id: str, caller: str, *, mine: bool) -> None:
    """Refuse a message of the owner in a session that others read. And the other way."""
    if session_id.startswith(MCP_CLIENTS) and mine:
        raise PersonError(
            f"'{session_id[:_SHOWN_OF_NAME]}' is a session of MCP clients, and they read what is said in it; "
            "talk in a session of your own"
        )
    if is_callers(session_id) and not caller:
        raise PersonError(
            f"'{session_id[:_SHOWN_OF_NAME]}' is a caller's session, and they read what is said in it; "
            "talk in a session of your own"
        )
    if caller and not is_callers(session_id):
        raise PersonError(f"the caller '{caller}' has no session '{session_id[:_SHOWN_OF_NAME]}'")


def open_session(journal: Journal, wanted: str | None) -> str:
    """The name of the session to talk in: the one that was asked for, else a new one."""
    return new_session_id(journal) if wanted is None else name_session(journal, wanted)


def last_session(journal: Journal, other_than: Sequence[str] = ()) -> SessionRow | None:
    """The session that the owner used last."""
    rows = journal.sessions(_ALL)
    return next((row for row in rows if row.id not in other_than and not is_others(row.id)), None)


def read_turns(journal: Journal, session_id: str, last: int = _ALL) -> list[list[Event]]:
    """The events of a session's turns, oldest turn first, without the pieces of streamed text."""
    turns: dict[str, list[Event]] = {}
    for event in journal.session_events(session_id, _ALL_KINDS, last):
        turns.setdefault(event.stamp.turn_id, []).append(event)
    return list(turns.values())


def event_values(event: Event) -> dict[str, object]:
    """An event's own fields as JSON values, without its stamp, as the journal has them."""
    return json.loads(encode(event))
