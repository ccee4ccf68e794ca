"""Keeping knowledge, and finding it again."""

from hashlib import sha256
from typing import Annotated

from sestet.agents._shared.text import checked, day, given
from sestet.core.tool import CallInfo, tool
from sestet.storage.knowledge import Category, KnowledgeStore

_KEY_LENGTH = 200
_CONTENT_LENGTH = 8_000
_QUERY_LENGTH = 2_000
_DERIVED_KEY_LENGTH = 60


@tool(
    risk="safe",
    reads=(),
    effect="local",
    # An entry is stored under its key, and the same content again changes nothing.
    recovery="keyed",
    examples=(
        "save this knowledge that {content}",
        "save this knowledge: {content}",
        "save the knowledge that {content}",
        "save {content} under {key}",
        "save {content} as {key} in the knowledge base",
        "add to the knowledge base that {content}",
        "add {content} to the knowledge base",
        "keep {content} in the knowledge base",
    ),
)
async def save_knowledge(
    call: CallInfo,
    knowledge: KnowledgeStore,
    /,
    content: Annotated[str, "The text to keep: one idea, complete in itself"],
    key: Annotated[str, "Its title; an entry of the same title is replaced. Empty: the first words"] = "",
    category: Annotated[Category, "What kind of text it is"] = "note",
) -> str:
    """Save a text in the knowledge base, to be found again. Search first: it may be there already."""
    content = checked(content, "content", _CONTENT_LENGTH)
    key = given(key, "key", _KEY_LENGTH) if key.strip() else _first_words(content)
    row = knowledge.save(key, content, category, call.origin)
    if row.turn_id != call.turn_id:
        return f"Already saved: {row.key} ({row.category}, {day(row.updated_at)})"
    if row.created_at != row.updated_at:
        return f"Updated: {row.key} ({row.category}; first saved {day(row.created_at)})"
    return f"Saved: {row.key} ({row.category})"


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "what does the knowledge base say about {query}",
        "search the knowledge base for {query}",
        "search for {query} in the knowledge base",
        "search our knowledge for {query}",
        "look up {query} in the knowledge base",
        "look up {query}",
        "is there anything in the knowledge base about {query}",
    ),
)
async def search_knowledge(
    knowledge: KnowledgeStore,
    /,
    query: Annotated[str, "The words to look for"],
    limit: Annotated[int, "How many entries at most", {"minimum": 1, "maximum": 50}] = 5,
) -> str:
    """Search the saved knowledge by its words, the best match first, each entry with its title and date."""
    query = given(query, "query", _QUERY_LENGTH)
    found = knowledge.search(query, limit)
    if not found:
        return f"The knowledge base holds nothing about {query!r}."
    lines = (f"- {row.key} ({row.category}, {day(row.updated_at)}): {row.content}" for row, _ in found)
    return "\n".join((f"In the knowledge base about {query!r}:", *lines))


def _first_words(content: str) -> str:
    words = " ".join(content.split())
    if len(words) <= _DERIVED_KEY_LENGTH:
        return words.rstrip(".")
    # The fingerprint keeps two texts that begin alike from replacing each other.
    fingerprint = sha256(content.encode()).hexdigest()[:8]
    return f"{words[:_DERIVED_KEY_LENGTH].rsplit(' ', 1)[0]}… {fingerprint}"
