"""Tools to save and search lessons."""

from typing import Annotated

from sestet.agents._shared.text import checked, given, not_yours, refuse_secret
from sestet.core.label import CLEAN, Labelled, stored_label
from sestet.core.tool import CallInfo, tool
from sestet.core.words import day
from sestet.storage.learnings import LearningRow, LearningStore

_TRIGGER_LENGTH = 500
_FIX_LENGTH = 4_000
_QUERY_LENGTH = 2_000


@tool(
    risk="safe",
    reads=(),
    effect="store",
    # The lesson is its own key: the store keeps each one once.
    recovery="keyed",
    examples=(
        "save the lesson that when {trigger} then {fix}",
        "save the lesson: when {trigger}, {fix}",
        "lesson learned: when {trigger}, {fix}",
        "learn that when {trigger}, {fix}",
        "remember the lesson that when {trigger}, {fix}",
        "next time {trigger}, {fix}",
        "keep this lesson: if {trigger}, {fix}",
        "the lesson is: {trigger}, so {fix}",
    ),
)
async def save_learning(
    call: CallInfo,
    learnings: LearningStore,
    /,
    trigger: Annotated[str, "What happens: the error, the situation, in the words it will have next time"],
    fix: Annotated[str, "What to do then"],
    cause: Annotated[str, "Why it happens, where that is known"] = "",
) -> Labelled:
    """Save a lesson: what to do when something happens again. Search the lessons first."""
    trigger = given(trigger, "trigger", _TRIGGER_LENGTH)
    fix = checked(fix, "fix", _FIX_LENGTH)
    cause = given(cause, "cause", _TRIGGER_LENGTH) if cause.strip() else ""
    refuse_secret(f"{trigger}: {fix}\n{cause}")
    row = learnings.save(trigger, fix, cause, call.origin)
    if row.turn_id == call.turn_id:
        return Labelled(f"Lesson saved: {_show(row)}", CLEAN)
    # The stored cause may come from another call, so its label counts.
    known = f"Already known since {day(row.created_at)}: {_show(row)}"
    return Labelled(known, stored_label("the lessons", [row.label]))


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "what have we learned about {query}",
        "what did we learn about {query}",
        "search the lessons for {query}",
        "look for lessons about {query}",
        "is there a lesson about {query}",
        "which lessons do we have about {query}",
        "are there any lessons on {query}",
    ),
)
async def search_learnings(
    learnings: LearningStore,
    /,
    query: Annotated[str, "The words to look for, such as those of an error"],
    limit: Annotated[int, "How many lessons at most", {"minimum": 1, "maximum": 50}] = 5,
) -> Labelled:
    """Search the lessons that were saved: what happened, and what helped. Look here when something fails."""
    query = given(query, "query", _QUERY_LENGTH)
    found = learnings.search(query, limit)
    if not found:
        return Labelled(f"There is no lesson about {query!r}.", CLEAN)
    lines = (
        f"- {_show(row)} (lesson {row.id}, {day(row.created_at)}{not_yours(row.label)})" for row in found
    )
    text = "\n".join((f"Lessons about {query!r}:", *lines))
    return Labelled(text, stored_label("the lessons", (row.label for row in found)))


def _show(row: LearningRow) -> str:
    because = f" (because {row.cause})" if row.cause else ""
    return f"when {row.trigger}: {row.fix}{because}"
