"""Tools to record and list observations and reflections."""

from typing import Annotated

from sestet.agents._shared.text import given, not_yours, number_of, origin_of, refuse_secret
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Labelled, stored_label
from sestet.core.tool import CallInfo, tool
from sestet.core.words import day
from sestet.storage.observations import ObservationRow, ObservationStore, ReflectionRow, ReflectionSources

_TEXT_LENGTH = 2_000
_MOST_SOURCES = 200


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
        "which observations have you made",
    ),
)
async def memory_list_observations(
    call: CallInfo,
    observations: ObservationStore,
    /,
    limit: Annotated[int, "How many at most", {"minimum": 1, "maximum": 200}] = 20,
    session_id: Annotated[str, "Only those of this session; empty: of all"] = "",
) -> Labelled:
    """List what was observed in conversations, the newest first, each with its number, day and session."""
    found = observations.observations(limit, session_id)
    if not found:
        return Labelled(f"Nothing has been observed{_in_session(session_id)} yet.", CLEAN)
    lines = (
        f"- o{row.id}: {row.text} ({day(row.created_at)}, session {row.session_id}, by {row.made_by}"
        f"{not_yours(row.label)})"
        for row in found
    )
    text = "\n".join((f"Observations{_in_session(session_id)}, newest first:", *lines))
    return Labelled(
        text, stored_label(f"memory_list_observations of {call.agent}", (row.label for row in found))
    )


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
        "what are your conclusions about me",
    ),
)
async def memory_list_reflections(
    call: CallInfo,
    observations: ObservationStore,
    /,
    limit: Annotated[int, "How many at most", {"minimum": 1, "maximum": 200}] = 20,
    session_id: Annotated[str, "Only those of this session; empty: of all"] = "",
) -> Labelled:
    """List the summaries made from observations, the newest first, each with the observations it rests on."""
    found = observations.reflections(limit, session_id)
    if not found:
        return Labelled(f"Nothing has been reflected on{_in_session(session_id)} yet.", CLEAN)
    text = "\n".join((f"Reflections{_in_session(session_id)}, newest first:", *map(_show_reflection, found)))
    return Labelled(
        text, stored_label(f"memory_list_reflections of {call.agent}", (row.label for row in found))
    )


@tool(
    risk="safe",
    reads=(),
    effect="store",
    # The same event in the same turn is the same observation.
    recovery="keyed",
    examples=(
        "observe that {event}",
        "record the event that {event}",
        "record that {event}",
        "note the event: {event}",
        "note the event that {event}",
        "write down that {event}",
        "log the event that {event}",
        "{event}, put it down as an event",
    ),
)
async def observe_event(
    call: CallInfo,
    observations: ObservationStore,
    /,
    event: Annotated[str, "What happened, in one sentence that stands alone"],
) -> str:
    """Record an event of the person's life or work: what happened, when, and how it is known."""
    event = given(event, "event", _TEXT_LENGTH)
    refuse_secret(event)
    origin = origin_of(call, event)
    known = (row for row in observations.observations(_MOST_SOURCES, call.session_id) if row.text == event)
    is_same = (call.turn_id, origin.label.untrusted)
    row = next((row for row in known if (row.turn_id, row.label.untrusted) == is_same), None)
    if row is None:
        row = observations.add_observation(event, origin, call.agent)
    return f"Observed: {row.text} (o{row.id})"


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="store",
    recovery="keyed",
    examples=(
        "reflect on observations {observations}: {summary}",
        "sum up observations {observations} as {summary}",
        "sum up observations {observations}: {summary}",
        "summarize observations {observations} as {summary}",
        "conclude from observations {observations} that {summary}",
        "store the reflection on observations {observations}: {summary}",
        "observations {observations} come down to {summary}",
    ),
)
async def reflect_summary(
    call: CallInfo,
    store: ObservationStore,
    /,
    summary: Annotated[str, "The summary, in plain sentences about the person"],
    observations: Annotated[str, "The ids of the observations it rests on, such as 'o3, o4, o9'"],
) -> Labelled:
    """Store a short summary of several observations; they are kept, and marked as covered by it."""
    summary = given(summary, "summary", _TEXT_LENGTH)
    refuse_secret(summary)
    rows = [_require(store, wanted) for wanted in observations.replace(",", " ").split()[:_MOST_SOURCES]]
    if not rows:
        raise ToolError("a summary needs observations: list them first, and name their ids")
    label = stored_label(f"reflect_summary of {call.agent}", (row.label for row in rows))
    row = next((r for r in store.reflections(_MOST_SOURCES) if r.text == summary), None)
    if row is None or row.turn_id != call.turn_id:
        origin = call.origin._replace(label=call.label | label)
        row = store.add_reflection(
            summary, origin, 1, ReflectionSources([row.id for row in rows]), call.agent
        )
    return Labelled(_show_reflection(row), label)


def _require(store: ObservationStore, wanted: str) -> ObservationRow:
    number = number_of(wanted, "o")
    row = store.observation(number) if number is not None else None
    if row is None:
        raise ToolError(f"there is no observation {wanted!r}; list them first, and use their ids")
    return row


def _show_reflection(row: ReflectionRow) -> str:
    rests_on = ", ".join((*(f"o{n}" for n in row.covers), *(f"r{n}" for n in row.gathers))) or "nothing"
    session = f"session {row.session_id}" if row.session_id else "several sessions"
    return (
        f"- r{row.id}: {row.text} ({day(row.created_at)}, {session}, level {row.level}, by {row.made_by}, "
        f"from {rests_on}{not_yours(row.label)})"
    )


def _in_session(session_id: str) -> str:
    return f" in session {session_id!r}" if session_id else ""
