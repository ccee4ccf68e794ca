"""A tool to retrieve passages from all collections."""

from collections.abc import Sequence
from typing import Annotated

from sestet.agents._shared.text import given
from sestet.core.label import CLEAN, Labelled, error_label, stored_label
from sestet.core.message import Found
from sestet.core.tool import CallInfo, tool
from sestet.core.words import day
from sestet.services.retrieval import Collection, Passage, Retrieval

_QUERY_LENGTH = 2_000


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "what do our documents say about {query}",
        "look up {query} in our documents",
        "search in our documents for {query}",
        "what do my documents say about {query}",
        "what does my document say about {query}",
        "what do the documents say about {query}",
        "look up {query} in my documents",
        "search my documents for {query}",
        "search in my documents for {query}",
        "find passages about {query}",
        "retrieve what we have on {query}",
        "what have we written about {query}",
        "which passages deal with {query}",
        "according to our documents, {query}",
        "according to my documents, {query}",
    ),
)
async def rag_retrieve(
    call: CallInfo,
    retrieval: Retrieval,
    /,
    query: Annotated[str, "The question that the passages should answer, in full"],
    limit: Annotated[int, "How many passages at most", {"minimum": 1, "maximum": 50}] = 5,
    collections: Annotated[Sequence[Collection], "Where to look; empty: everywhere"] = (),
) -> Labelled:
    """Retrieve the passages that best answer a question, by words and by meaning, each with its source."""
    query = given(query, "query", _QUERY_LENGTH)
    found, problem = await retrieval.retrieve(query, limit, collections, call.session_id)
    note = f"\n(Found by words alone: {problem}.)" if problem else ""
    # The server that embeds texts may have written the problem.
    noted = error_label("an error of the embedding") if problem else CLEAN
    if not found:
        return Labelled(f"No passage was found about {query!r}.{note}", noted)
    label = noted | stored_label(f"rag_retrieve of {call.agent}", (passage.label for passage in found))
    text = "\n".join((f"Passages about {query!r}:", *map(_show, found))) + note
    passages = tuple(Found(passage.source, passage.text) for passage in found)
    return Labelled(text, label, tuple(passage.source for passage in found), passages)


def _show(passage: Passage) -> str:
    trust = ", untrusted" if passage.label.untrusted else ""
    head = f"{passage.collection}, {day(passage.created_at)}{trust}; score {passage.score:.2f}: {passage.why}"
    return f"- {passage.source} ({head}): {passage.text}"
