"""Tools to save and search knowledge entries."""

from collections.abc import Iterable
from typing import Annotated

from sestet.agents._shared.text import checked, given, not_yours, origin_of, refuse_secret
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Labelled, stored_label
from sestet.core.message import Found
from sestet.core.record import Record
from sestet.core.tool import CallInfo, tool
from sestet.core.words import day
from sestet.storage.knowledge import Category, KnowledgeRow, KnowledgeStore

_KEY_LENGTH = 200
_CONTENT_LENGTH = 8_000
_QUERY_LENGTH = 2_000
_DERIVED_KEY_LENGTH = 60
_MOST_TAGS = 12
_TAG_LENGTH = 40


@tool(
    risk="safe",
    reads=(),
    effect="store",
    # An entry is stored under its key, and the same content again changes nothing.
    recovery="keyed",
    examples=(
        "save this knowledge that {content}",
        "save this knowledge: {content}",
        "save the knowledge that {content}",
        "save the fact that {content}",
        "save {content} under {key}",
        "save {content} as {key} in the knowledge base",
        "add to the knowledge base that {content}",
        "add {content} to the knowledge base",
        "keep {content} in the knowledge base",
        "put {content} into the knowledge base",
        "store in the knowledge base: {content}",
        "{content}: put that into the knowledge base",
        "{content}: that belongs in the knowledge base",
    ),
)
async def save_knowledge(
    call: CallInfo,
    knowledge: KnowledgeStore,
    /,
    content: Annotated[str, "The text to keep: one idea, complete in itself"],
    key: Annotated[
        str | None, "Its title; the same title again makes a new version. Left out: the first words"
    ] = None,
    category: Annotated[Category | None, "What kind of text it is; left out: as before, or note"] = None,
    tags: Annotated[
        list[str] | None, "Words to find it by, such as a project or a subject; left out: as before"
    ] = None,
) -> str:
    """Save a text in the knowledge base, to be found again. Search first: it may be there already."""
    entry = entry_of(content, key, tags or ())
    refuse_secret(f"{entry.key}: {entry.content}")
    # A title or a tag may be another's words, and a title chooses the entry that is replaced.
    origin = origin_of(call, entry.content) if key is None and not entry.tags else call.origin
    # A model often sends an empty list for what it leaves out.
    row = knowledge.save(entry.key, entry.content, category, origin, entry.tags or None)
    if row.key.casefold() != entry.key.casefold():
        return (
            f"Saved beside it: {row.key} ({row.category}, version {row.version}). "
            f"{entry.key!r} is in your own words, and stays as it is"
        )
    if row.turn_id != call.turn_id:
        return f"Already saved: {row.key} ({row.category}, {day(row.updated_at)})"
    if row.version > 1:
        return (
            f"Updated: {row.key} ({row.category}, version {row.version}; first saved {day(row.created_at)})"
        )
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
        "is there an entry about {query}",
        "check the knowledge base for {query}",
        "what do we know about {query}",
    ),
)
async def search_knowledge(
    knowledge: KnowledgeStore,
    /,
    query: Annotated[str, "The words to look for"],
    limit: Annotated[int, "How many entries at most", {"minimum": 1, "maximum": 50}] = 5,
) -> Labelled:
    """Search the saved knowledge by its words, the best match first, each entry with its title and date."""
    query = given(query, "query", _QUERY_LENGTH)
    found = [hit.row for hit in knowledge.search(query, limit)]
    if not found:
        return Labelled(f"The knowledge base holds nothing about {query!r}.", CLEAN)
    lines = (f"- {row.key} ({_about(row)}): {row.content}" for row in found)
    text = "\n".join((f"In the knowledge base about {query!r}:", *lines))
    label = stored_label("the knowledge base", (row.label for row in found))
    entries = tuple(Found(row.key, row.content) for row in found)
    return Labelled(text, label, tuple(row.key for row in found), entries)


class Entry(Record):
    key: str
    content: str
    tags: tuple[str, ...]


def entry_of(content: str, key: str | None, tags: Iterable[str]) -> Entry:
    """A checked entry: with a key, within the limits, with unique tags in lower case."""
    content = checked(content, "content", _CONTENT_LENGTH)
    if key is not None and not key.strip():
        raise ToolError("'key' is empty; give the entry a title, such as 'Office hours'")
    key = _first_words(content) if key is None else given(key, "key", _KEY_LENGTH)
    kept = tuple(dict.fromkeys(given(tag, "tags", _TAG_LENGTH).lower() for tag in tags))
    if len(kept) > _MOST_TAGS:
        raise ToolError(f"{len(kept)} tags are too many; give at most {_MOST_TAGS}")
    return Entry(key, content, kept)


def _about(row: KnowledgeRow) -> str:
    return ", ".join((row.category, *row.tags, day(row.updated_at))) + not_yours(row.label)


def _first_words(content: str) -> str:
    words = " ".join(content.split())
    if len(words) <= _DERIVED_KEY_LENGTH:
        return words.rstrip(".")
    # The fingerprint keeps two texts with the same beginning apart.
    from hashlib import sha256

    fingerprint = sha256(content.encode()).hexdigest()[:8]
    return f"{words[:_DERIVED_KEY_LENGTH].rsplit(' ', 1)[0]}… {fingerprint}"
