"""Names that a shell completes: sessions, pages, agents, models.

A shell may evaluate what it is given, so no text of a conversation is among them.
"""

import re

from sestet.core.agent import ORCHESTRATOR
from sestet.core.errors import PersonError
from sestet.services.manual import pages

_PLAIN = re.compile(r"[\w.-]+", re.ASCII)
_MOST = 50


def session_names() -> list[str]:
    """The sessions that were used last; none if they cannot be read now."""
    from sestet.data import recent_sessions

    try:
        rows = recent_sessions(_MOST)
    except (PersonError, OSError):
        return []
    return ["last", *(row.id for row in rows if _PLAIN.fullmatch(row.id))]


def topic_names() -> list[str]:
    return [page.topic for page in pages()]


def specialist_names() -> list[str]:
    from sestet.agents import room_names

    return list(room_names())


def agent_names() -> list[str]:
    return [ORCHESTRATOR, *specialist_names()]


def model_names() -> list[str]:
    from sestet.models.files.catalogue import catalogue

    return list(catalogue())
