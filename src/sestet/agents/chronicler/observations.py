"""Looking at what was observed and what was made of it."""

from typing import Annotated

from sestet.agents._shared.text import day
from sestet.core.tool import tool
from sestet.storage.observations import ObservationStore, ReflectionRow


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "list your observations",
        "show me your observations",
        "what have you observed",
        "what have you noticed about me",
        "have you noticed anything about me",
        "list the observations of session {session_id}",
        "what did you observe in session {session_id}",
    ),
)
async def memory_list_observations(
    observations: ObservationStore,
    /,
    limit: Annotated[int, "How many at most", {"minimum": 1, "maximum": 200}] = 20,
    session_id: Annotated[str, "Only those of this session; empty: of all"] = "",
) -> str:
    """List what was observed in conversations, the newest first, each with its number, day and session."""
    found = observations.observations(limit, session_id)
    if not found:
        return f"Nothing has been observed{_in_session(session_id)} yet."
    lines = (f"- {row.id}: {row.text} ({day(row.created_at)}, session {row.session_id})" for row in found)
    return "\n".join((f"Observations{_in_session(session_id)}, newest first:", *lines))


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "list your reflections",
        "show me your reflections",
        "what have you reflected on",
        "what did you conclude about me",
        "what conclusions have you drawn about me",
        "list the reflections of session {session_id}",
    ),
)
async def memory_list_reflections(
    observations: ObservationStore,
    /,
    limit: Annotated[int, "How many at most", {"minimum": 1, "maximum": 200}] = 20,
    session_id: Annotated[str, "Only those of this session; empty: of all"] = "",
) -> str:
    """List the summaries made from observations, the newest first, each with the observations it rests on."""
    found = observations.reflections(limit, session_id)
    if not found:
        return f"Nothing has been reflected on{_in_session(session_id)} yet."
    return "\n".join((f"Reflections{_in_session(session_id)}, newest first:", *map(_show_reflection, found)))


def _show_reflection(row: ReflectionRow) -> str:
    sources = ", ".join(map(str, row.covers)) or "none"
    return (
        f"- {row.id}: {row.text} ({day(row.created_at)}, session {row.session_id}, level {row.level}, "
        f"from observations {sources})"
    )


def _in_session(session_id: str) -> str:
    return f" in session {session_id!r}" if session_id else ""
