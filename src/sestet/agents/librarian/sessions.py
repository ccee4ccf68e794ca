"""A tool to search past conversations."""

from typing import Annotated

from sestet.agents._shared.text import given
from sestet.core.label import CLEAN, Labelled, stored_label
from sestet.core.tool import tool
from sestet.core.words import day
from sestet.services.excerpt import excerpt
from sestet.services.sessions import cited, is_others
from sestet.storage.session_search import SessionSearch

_QUERY_LENGTH = 2_000
_SHOWN = 400
_MOST_WORDS = 20


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
    found = await exchanges.search_soon(query, limit)
    if not found:
        return Labelled(f"No past conversation is about {query!r}.", CLEAN)
    words = query.lower().split()[:_MOST_WORDS]
    lines = [f"In past conversations about {query!r}:"]
    for exchange in found:
        lines.append(f"- {day(exchange.at)}, session {exchange.session_id}")
        who = "somebody else" if is_others(exchange.session_id) else "the person"
        lines.append(f"  {who}: {excerpt(exchange.asked, words, _SHOWN)}")
        if exchange.answered:
            lines.append(f"  the answer: {excerpt(exchange.answered, words, _SHOWN)}")
    label = stored_label("past conversations", (exchange.label for exchange in found))
    # A session that is deleted later takes its words out of this result too.
    return Labelled("\n".join(lines), label, tuple(cited(exchange.session_id) for exchange in found))
