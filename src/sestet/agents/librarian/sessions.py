"""A tool to search past conversations."""

import re
from typing import Annotated

from sestet.agents._shared.text import given
from sestet.core.label import CLEAN, Labelled, stored_label
from sestet.core.tool import tool
from sestet.core.words import day
from sestet.storage.session_search import SessionSearch

_QUERY_LENGTH = 2_000
_SHOWN = 400


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
    lines = [f"In past conversations about {query!r}:"]
    for exchange in found:
        lines.append(f"- {day(exchange.at)}, session {exchange.session_id}")
        lines.append(f"  the person: {_around(exchange.asked, query)}")
        if exchange.answered:
            lines.append(f"  the answer: {_around(exchange.answered, query)}")
    return Labelled("\n".join(lines), stored_label("past conversations", (e.label for e in found)))


def _around(text: str, query: str) -> str:
    """The text on one line, or the part of a long text around one of the words."""
    line = " ".join(text.split())
    if len(line) <= _SHOWN:
        return line
    words = (re.search(rf"\b{re.escape(word)}", line, re.IGNORECASE) for word in query.split())
    first = min((match.start() for match in words if match), default=0)
    start = max(0, min(first - _SHOWN // 4, len(line) - _SHOWN))
    shown = line[start : start + _SHOWN].strip()
    return f"{'…' if start else ''}{shown}{'…' if start + _SHOWN < len(line) else ''}"
