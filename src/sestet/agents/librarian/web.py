"""A tool to search the web, if the settings name an endpoint or a search page."""

from typing import Annotated

from sestet.agents._shared.text import given
from sestet.core.tool import CallInfo, tool
from sestet.services.web_search import WebSearch

_QUERY_LENGTH = 400
_RESULTS = 8


@tool(
    risk="safe",
    reads=("untrusted",),
    # The query leaves the machine, and the settings choose the receiver. So the query itself is the target:
    # after untrusted text was read, it must be in the person's own words.
    effect="external",
    targets=("query",),
    standing="search the web for {query}",
    recovery="pure",
    timeout=60,
    calls_per_turn=5,
    examples=(
        "search the web for {query}",
        "search the internet for {query}",
        "search online for {query}",
        "look {query} up on the web",
        "find {query} on the web",
        "what does the web say about {query}",
        "google {query}",
        "do a web search for {query}",
        "look on the internet for {query}",
    ),
)
async def search_web(
    call: CallInfo,
    web: WebSearch,
    /,
    query: Annotated[str, "What to search for, in a few words; nothing private"],
) -> str:
    """Search the web. The answer has titles, addresses and excerpts of pages, which nobody has checked."""
    query = given(query, "query", _QUERY_LENGTH)
    found = await web.find(query, _RESULTS, call)
    if not found:
        return f"The web search found nothing about {query!r}."
    lines = (f"- {result.title}\n  {result.url}\n  {result.excerpt}".rstrip() for result in found)
    return "\n".join((f"The web about {query!r}:", *lines))
