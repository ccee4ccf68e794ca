"""Remembering what the person tells, and recalling it."""

from typing import Annotated

from sestet.agents._shared.text import day, given
from sestet.core.tool import CallInfo, tool
from sestet.storage.memories import MemoryRow, MemoryStore

_FACT_LENGTH = 2_000
#: How many stored facts are compared before a new one is added.
_COMPARED = 20


@tool(
    risk="safe",
    reads=(),
    effect="local",
    # The fact is its own key: what is already remembered is not stored again.
    recovery="keyed",
    examples=(
        "remember that {fact}",
        "please remember {fact}",
        "note that {fact}",
        "make a note that {fact}",
        "keep in mind that {fact}",
        "do not forget that {fact}",
        "don't forget that {fact}",
        "you should know that {fact}",
        "for your information, {fact}",
    ),
)
async def memory_remember(
    call: CallInfo,
    memories: MemoryStore,
    /,
    fact: Annotated[str, "One fact about the person, in their own words, such as 'I like tea'"],
) -> str:
    """Remember one fact about the person for all later conversations. Never passwords or other secrets."""
    fact = given(fact, "fact", _FACT_LENGTH)
    known = _find_same(memories, fact)
    if known is not None and known.turn_id != call.turn_id:
        return f"Already remembered: {known.text} ({day(known.created_at)})"
    if known is None:
        known = memories.add(fact, call.origin)
    return f"Remembered: {known.text}"


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "what do i like?",
        "what do you know about {query}",
        "what do you remember about {query}",
        "what do you remember",
        "do you remember {query}",
        "what did i tell you about {query}",
        "what have i told you about {query}",
        "have i told you about {query}",
        "did i tell you {query}",
        "what is my {query}",
        "who is my {query}",
        "when is my {query}",
    ),
)
async def memory_recall(
    memories: MemoryStore,
    /,
    query: Annotated[str, "The question, or the words that the facts should hold"],
    limit: Annotated[int, "How many facts at most", {"minimum": 1, "maximum": 50}] = 5,
) -> str:
    """Recall what the person told earlier, the best match first, each fact with the day it was told."""
    query = given(query, "query", _FACT_LENGTH)
    found = memories.find(query, limit)
    if found:
        return "\n".join(("You told me:", *(f"- {row.text} ({day(row.created_at)})" for row in found)))
    if memories.latest(1):
        return f"I remember nothing about {query!r}. You can tell me now."
    return "I do not remember anything yet. You can tell me now."


def _find_same(memories: MemoryStore, fact: str) -> MemoryRow | None:
    wanted = _comparable(fact)
    candidates = (*memories.latest(_COMPARED), *memories.find(fact, _COMPARED))
    return next((row for row in candidates if _comparable(row.text) == wanted), None)


def _comparable(fact: str) -> str:
    return fact.casefold().rstrip(".!")
