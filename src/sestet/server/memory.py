"""The API of the memory: facts, observations and reflections to read, trace, correct and forget."""

import re
from typing import Annotated, Any, Literal

from sestet.core.record import Meta, Record, as_builtins
from sestet.data import Data
from sestet.server.endpoint import Body, Call, Endpoint, Limit, NoQuery, Words, refuse_secret
from sestet.server.errors import ApiError, not_found
from sestet.services.forgetting import describe_forgotten
from sestet.services.memory.catalog import MemoryItem, is_id
from sestet.services.memory.import_export import describe_item

_LONGEST = 2_000


class MemoryFacts(Record):
    """A memory with its origin and its links to others."""

    id: str
    sort: str
    text: str
    at: float
    session: str
    turn: str
    turn_number: int
    by: str
    untrusted: bool
    private: bool
    sources: list[str]
    level: int
    #: The facts it replaced, or the rows it sums up.
    rests_on: list[str]
    #: The fact that replaced it, or the reflections that sum it up.
    used_by: list[str]


class MemoryList(Record):
    memories: list[MemoryFacts]


class MemoryTrace(Record):
    """Everything that a memory rests on, and everything that rests on it."""

    memory: MemoryFacts
    rests_on: list[MemoryFacts]
    used_by: list[MemoryFacts]


class MemoryQuery(Body):
    sort: Literal["fact", "observation", "reflection"] | None = None
    session: str = ""
    limit: Limit = 50


class MemorySearch(Body):
    words: Words
    limit: Limit = 10


class Correction(Body):
    text: Annotated[str, Meta(min_length=1, max_length=_LONGEST, pattern=r"\S")]
    #: Keep a text that looks like a secret.
    anyway: bool = False


class ForgetQuery(Body):
    #: Also blank the turn in which it was said, and the same words elsewhere.
    everywhere: bool = False


class WordsToForget(Body):
    words: Annotated[str, Meta(min_length=3, max_length=_LONGEST, pattern=r"\S")]


class TurnPlace(Record):
    session: str
    turn: str
    #: Its number in the session.
    number: int


class Consequences(Record):
    """What would go and what would stay if a memory were forgotten."""

    #: The memory, and what rests on it or repeats it; each with its entry in the index and its vector.
    goes: list[MemoryFacts]
    #: Older facts that it had replaced and that would be current again.
    counts_again: list[str]
    #: The turns in which it was said; they stay unless 'everywhere' blanks them.
    turns: list[TurnPlace]


class Forgotten(Record):
    #: Ids of memories, and names of what was saved.
    forgotten: list[str]
    #: Older facts that it had replaced and that are current again.
    counts_again: list[str]
    #: Whether the conversation in which it was said still holds it.
    still_said: bool
    #: Open turns that would have brought the words back; they are ended now.
    ended: list[str]
    #: Whether the file holds no traces any more.
    scrubbed: bool
    wipe: str


async def list_memories(call: Call[None, MemoryQuery]) -> dict[str, Any]:
    query = call.query
    items = await call.host.read(lambda data: data.memory.items(query.limit, query.sort, query.session))
    return {"memories": [_described(item) for item in items]}


async def search_memories(call: Call[None, MemorySearch]) -> dict[str, Any]:
    query = call.query
    items = await call.host.read(lambda data: data.memory.find(query.words, query.limit))
    return {"memories": [_described(item) for item in items]}


async def show_memory(call: Call[None, NoQuery]) -> dict[str, Any]:
    wanted = call.path("memory")
    return _described(await call.host.read(lambda data: _require(data, wanted)))


async def trace_memory(call: Call[None, NoQuery]) -> dict[str, Any]:
    wanted = call.path("memory")

    def trace(data: Data) -> dict[str, Any]:
        item = _require(data, wanted)
        return {
            "memory": _described(item),
            "rests_on": [_described(each) for each in _linked(data, item, "rests_on")],
            "used_by": [_described(each) for each in _linked(data, item, "used_by")],
        }

    return await call.host.read(trace)


async def correct_memory(call: Call[Correction, NoQuery]) -> dict[str, Any]:
    wanted, body = call.path("memory"), call.body
    refuse_secret(body.text, body.anyway)

    def correct(data: Data) -> MemoryItem:
        _require(data, wanted)
        return data.memory.edit(wanted, body.text)

    return _described(await call.host.read(correct))


async def restore_memory(call: Call[None, NoQuery]) -> dict[str, Any]:
    wanted = call.path("memory")

    def restore(data: Data) -> MemoryItem:
        if _require(data, wanted).counts:
            raise ApiError("conflict", f"'{wanted}' was not replaced, so there is nothing to restore")
        return data.memory.restore(wanted)

    return _described(await call.host.read(restore))


async def forget_memory(call: Call[None, ForgetQuery]) -> dict[str, Any]:
    wanted, everywhere = call.path("memory"), call.query.everywhere

    def forget(data: Data) -> dict[str, Any]:
        _require(data, wanted)
        done = data.forgetting.forget(wanted, everywhere=everywhere)
        return as_builtins(describe_forgotten(done, data.forgetting.wipe()))

    return await call.host.read(forget)


async def weigh_forgetting(call: Call[None, NoQuery]) -> dict[str, Any]:
    wanted = call.path("memory")

    def weigh(data: Data) -> dict[str, Any]:
        _require(data, wanted)
        found = data.forgetting.consequences(wanted)
        return {
            "goes": [_described(item) for name in found.goes if (item := data.memory.get(name))],
            "counts_again": list(found.counts_again),
            "turns": [{"session": t.session_id, "turn": t.id, "number": t.number} for t in found.turns],
        }

    return await call.host.read(weigh)


async def forget_words(call: Call[WordsToForget, NoQuery]) -> dict[str, Any]:
    words = call.body.words
    # Not in the document: there \w means the letters of ASCII alone.
    if not re.search(r"\w\w\w", words):
        raise ApiError("bad_request", "no word of three letters is in it", "write more of what to forget")

    def forget(data: Data) -> dict[str, Any]:
        done = data.forgetting.forget_words(words)
        return as_builtins(describe_forgotten(done, data.forgetting.wipe()))

    return await call.host.read(forget)


def _require(data: Data, wanted: str) -> MemoryItem:
    item = data.memory.get(wanted) if is_id(wanted) else None
    if item is None:
        raise not_found("memory", wanted)
    return item


def _linked(data: Data, item: MemoryItem, side: Literal["rests_on", "used_by"]) -> list[MemoryItem]:
    """The memories that can be reached on one side, the nearest first."""
    found: dict[str, MemoryItem] = {}
    waiting = list(getattr(item, side))
    while waiting:
        name = waiting.pop(0)
        if name not in found and (other := data.memory.get(name)) is not None:
            found[name] = other
            waiting += getattr(other, side)
    return list(found.values())


def _described(item: MemoryItem) -> dict[str, Any]:
    return as_builtins(describe_item(item))


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/memory",
        list_memories,
        "What is remembered, the latest first.",
        ("read",),
        query=MemoryQuery,
        answer=MemoryList,
    ),
    Endpoint(
        "GET",
        "/api/memory/search",
        search_memories,
        "Memories by their words; replaced facts are left out.",
        ("read",),
        query=MemorySearch,
        answer=MemoryList,
    ),
    Endpoint(
        "POST",
        "/api/memory/forget",
        forget_words,
        "Forget words for good, wherever they were recorded.",
        body=WordsToForget,
        answer=Forgotten,
    ),
    Endpoint(
        "GET",
        "/api/memory/items/{memory}",
        show_memory,
        "One memory with its origin.",
        ("read",),
        answer=MemoryFacts,
    ),
    Endpoint(
        "GET",
        "/api/memory/items/{memory}/trace",
        trace_memory,
        "What a memory rests on, and what rests on it.",
        ("read",),
        answer=MemoryTrace,
    ),
    Endpoint(
        "GET",
        "/api/memory/items/{memory}/forgetting",
        weigh_forgetting,
        "What would go and what would stay if a memory were forgotten.",
        ("read",),
        answer=Consequences,
    ),
    Endpoint(
        "PATCH",
        "/api/memory/items/{memory}",
        correct_memory,
        "Correct a memory in the person's own words.",
        body=Correction,
        answer=MemoryFacts,
    ),
    Endpoint(
        "POST",
        "/api/memory/items/{memory}/restore",
        restore_memory,
        "Make a fact current again that a later one has replaced.",
        answer=MemoryFacts,
    ),
    Endpoint(
        "DELETE",
        "/api/memory/items/{memory}",
        forget_memory,
        "Forget a memory for good, with everything made from it.",
        query=ForgetQuery,
        answer=Forgotten,
    ),
)
