"""A tool to search past conversations."""

from collections.abc import Sequence
from typing import Annotated

from sestet.agents._shared.text import given
from sestet.core.label import CLEAN, Labelled, stored_label
from sestet.core.tool import tool
from sestet.core.words import day
from sestet.storage.session_search import SessionSearch

_QUERY_LENGTH = 2_000
_SHOWN = 400
#: Bounds on the search for the excerpt of one text: its characters, the words, and the places of each word.
_LOOKED_AT = 100_000
_MOST_WORDS = 20
_MOST_PLACES = 50


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "search our past sessions for {query}",
        "search past conversations for {query}",
        "look in past sessions for {query}",
        "what did we say about {query}",
        "when did we talk about {query}",
        "did we ever talk about {query}",
        "find the conversation about {query}",
        "what came out in earlier sessions about {query}",
        "look for {query} in past conversations",
    ),
)
async def search_sessions(
    exchanges: SessionSearch,
    /,
    query: Annotated[str, "The words to look for"],
    limit: Annotated[int, "How many exchanges at most", {"minimum": 1, "maximum": 50}] = 5,
) -> Labelled:
    """Search past conversations: what the person said and was answered, each with its session and day."""
    query = given(query, "query", _QUERY_LENGTH)
    found = exchanges.search(query, limit)
    if not found:
        return Labelled(f"No past conversation is about {query!r}.", CLEAN)
    words = query.lower().split()[:_MOST_WORDS]
    lines = [f"In past conversations about {query!r}:"]
    for exchange in found:
        lines.append(f"- {day(exchange.at)}, session {exchange.session_id}")
        lines.append(f"  the person: {_around(exchange.asked, words)}")
        if exchange.answered:
            lines.append(f"  the answer: {_around(exchange.answered, words)}")
    return Labelled("\n".join(lines), stored_label("past conversations", (e.label for e in found)))


def _around(text: str, words: Sequence[str]) -> str:
    """The text on one line, or the part of a long text around one of the words."""
    line = " ".join(text[:_LOOKED_AT].split())
    if len(line) <= _SHOWN and len(text) <= _LOOKED_AT:
        return line
    lower = line.lower()
    if len(lower) != len(line):  # a letter that has two in lower case would shift all places after it
        lower = line
    places = [place for word in words if (place := _find_word(lower, word)) >= 0]
    start = max(0, min(min(places, default=0) - _SHOWN // 4, len(line) - _SHOWN))
    shown = line[start : start + _SHOWN].strip()
    is_cut = start + _SHOWN < len(line) or len(text) > _LOOKED_AT
    return f"{'…' if start else ''}{shown}{'…' if is_cut else ''}"


def _find_word(line: str, word: str) -> int:
    """Where a word begins with these letters; -1 if none of the first places is one."""
    place = -1
    for _ in range(_MOST_PLACES):
        place = line.find(word, place + 1)
        if place <= 0 or not line[place - 1].isalnum():
            return place
    return -1
