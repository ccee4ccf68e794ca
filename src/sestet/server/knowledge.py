"""The API of the library: entries, lessons and documents to read, search, save, trace and forget."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

from sestet.agents.librarian.knowledge import entry_of
from sestet.core.errors import ToolError
from sestet.core.record import Meta, Record, as_builtins
from sestet.data import Data
from sestet.server.endpoint import Body, Call, Endpoint, Limit, NoQuery, PageQuery, Words, refuse_secret
from sestet.server.errors import ApiError, not_found
from sestet.services.library import (
    Category,
    ForgottenEntries,
    KnowledgeRow,
    describe_document,
    describe_entry,
    describe_history,
    describe_lesson,
    describe_passage,
)


class EntryFacts(Record):
    """A saved entry with its origin."""

    key: str
    content: str
    category: str
    tags: list[str]
    version: int
    created_at: float
    updated_at: float
    session_id: str
    turn_id: str
    label: dict[str, Any]


class EntryList(Record):
    entries: list[EntryFacts]


class EntryHistory(EntryFacts):
    """An entry with all of its versions, the latest first."""

    versions: list[dict[str, Any]]


class EntryQuery(Body):
    #: Only entries with this tag.
    tag: str = ""
    limit: Limit = 50


class TitleQuery(Body):
    #: The title of an entry.
    title: Words


class KnowledgeSearch(Body):
    words: Words
    limit: Limit = 5


class Passages(Record):
    passages: list[dict[str, Any]]
    #: Why the search was by words alone; empty: it was not.
    problem: str


class NewEntry(Body):
    content: Annotated[str, Meta(min_length=1, pattern=r"\S")]
    #: None: as before, or a note.
    category: Category | None = None
    #: None: as before.
    tags: list[Annotated[str, Meta(min_length=1, max_length=40, pattern=r"\S")]] | None = None
    #: False: the person did not write the text; it is untrusted, and replaces no entry of theirs.
    mine: bool = True
    #: Keep a text that looks like a secret.
    anyway: bool = False


class Version(Body):
    #: None: the one before.
    version: Annotated[int, Meta(ge=1, le=10**9)] | None = None


class LessonList(Record):
    lessons: list[dict[str, Any]]


class DocumentList(Record):
    documents: list[dict[str, Any]]


class DocumentQuery(Body):
    #: A document, or a directory: all documents below it.
    path: Annotated[str, Meta(min_length=1, max_length=4096, pattern="^/")]


class ForgottenNames(Record):
    forgotten: list[str]
    #: Whether the file holds no traces any more.
    traces_wiped: bool


async def list_entries(call: Call[None, EntryQuery]) -> dict[str, Any]:
    query = call.query
    rows = await call.host.read(lambda data: data.library.entries(query.limit, query.tag))
    return {"entries": [_described(row) for row in rows]}


async def search_knowledge(call: Call[None, KnowledgeSearch]) -> Passages:
    query = call.query
    found = await call.host.read(lambda data: asyncio.run(data.library.search(query.words, query.limit)))
    return Passages([as_builtins(describe_passage(each)) for each in found.passages], found.problem)


async def show_entry(call: Call[None, TitleQuery]) -> dict[str, Any]:
    key = call.query.title
    row = await call.host.read(lambda data: _require(data, key))
    return _described(row)


async def show_history(call: Call[None, TitleQuery]) -> dict[str, Any]:
    key = call.query.title

    def read(data: Data) -> dict[str, Any]:
        return as_builtins(describe_history(_require(data, key), data.library.versions(key)))

    return await call.host.read(read)


async def save_entry(call: Call[NewEntry, TitleQuery]) -> dict[str, Any]:
    body = call.body
    try:
        entry = entry_of(body.content, call.query.title, body.tags or ())
    except ToolError as error:
        raise ApiError("bad_request", str(error)) from None
    refuse_secret(f"{entry.key}: {entry.content}", body.anyway)
    tags = None if body.tags is None else entry.tags
    saved = await call.host.read(
        lambda data: data.library.save(entry.key, entry.content, body.category, tags, mine=body.mine)
    )
    return _described(saved)


async def restore_entry(call: Call[Version, TitleQuery]) -> dict[str, Any]:
    key, wanted = call.query.title, call.body.version

    def restore(data: Data) -> KnowledgeRow:
        row = _require(data, key)
        versions = {each.version: each for each in data.library.versions(key)}
        if wanted is None and versions[row.version].previous is None:
            raise ApiError("conflict", f"{row.key!r} is at its first version")
        if wanted is not None and wanted not in versions:
            raise not_found("version", str(wanted))
        return data.library.undo(key, wanted)

    return _described(await call.host.read(restore))


async def forget_entry(call: Call[None, TitleQuery]) -> ForgottenNames:
    key = call.query.title
    return _forgotten(await call.host.read(lambda data: data.library.forget_entry(key)), "entry", key)


async def list_lessons(call: Call[None, PageQuery]) -> LessonList:
    rows = await call.host.read(lambda data: data.library.lessons(call.query.limit))
    return LessonList([as_builtins(describe_lesson(row)) for row in rows])


async def forget_lesson(call: Call[None, NoQuery]) -> ForgottenNames:
    number = call.number("lesson")
    done = await call.host.read(lambda data: data.library.forget_lesson(number))
    return _forgotten(done, "lesson", str(number))


async def list_documents(call: Call[None, PageQuery]) -> DocumentList:
    rows = await call.host.read(lambda data: data.library.documents(call.query.limit))
    uploads = call.host.uploads.resolve()
    return DocumentList(
        [as_builtins(describe_document(row)) | {"uploaded": Path(row.path).parent == uploads} for row in rows]
    )


async def forget_documents(call: Call[None, DocumentQuery]) -> ForgottenNames:
    path = call.query.path
    if "\0" in path:
        raise ApiError("bad_request", "a path has no NUL character")
    uploads = call.host.uploads.resolve()

    def forget(data: Data) -> ForgottenEntries:
        done = data.library.forget_documents(Path(path))
        for kept in map(Path, done.names):
            # The copy that an upload made; every other file is the person's own.
            if kept.parent == uploads:
                kept.unlink(missing_ok=True)
        return done

    return _forgotten(await call.host.read(forget), "document", path)


def _forgotten(done: ForgottenEntries, what: str, name: str) -> ForgottenNames:
    if not done.names:
        raise not_found(what, name)
    return ForgottenNames(done.names, done.wipe == "wiped")


def _require(data: Data, key: str) -> KnowledgeRow:
    row = data.library.find_entry(key)
    if row is None:
        raise not_found("entry", key)
    return row


def _described(row: KnowledgeRow) -> dict[str, Any]:
    return as_builtins(describe_entry(row))


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/knowledge",
        list_entries,
        "The saved entries, the latest first.",
        ("read",),
        query=EntryQuery,
        answer=EntryList,
    ),
    Endpoint(
        "GET",
        "/api/knowledge/search",
        search_knowledge,
        "Passages of entries, lessons and documents, by words and by meaning.",
        ("read",),
        query=KnowledgeSearch,
        answer=Passages,
    ),
    Endpoint(
        "GET",
        "/api/knowledge/entry",
        show_entry,
        "One whole entry with its origin.",
        ("read",),
        query=TitleQuery,
        answer=EntryFacts,
    ),
    Endpoint(
        "PUT",
        "/api/knowledge/entry",
        save_entry,
        "Save an entry; an existing one gets a new version.",
        query=TitleQuery,
        body=NewEntry,
        answer=EntryFacts,
    ),
    Endpoint(
        "DELETE",
        "/api/knowledge/entry",
        forget_entry,
        "Forget an entry for good, with its history.",
        query=TitleQuery,
        answer=ForgottenNames,
    ),
    Endpoint(
        "GET",
        "/api/knowledge/entry/history",
        show_history,
        "An entry with every version.",
        ("read",),
        query=TitleQuery,
        answer=EntryHistory,
    ),
    Endpoint(
        "POST",
        "/api/knowledge/entry/restore",
        restore_entry,
        "Go back to an earlier version of an entry; none is lost.",
        query=TitleQuery,
        body=Version,
        answer=EntryFacts,
    ),
    Endpoint(
        "GET",
        "/api/knowledge/lessons",
        list_lessons,
        "The lessons: what happened, and what helped.",
        ("read",),
        query=PageQuery,
        answer=LessonList,
    ),
    Endpoint(
        "DELETE",
        "/api/knowledge/lessons/{lesson}",
        forget_lesson,
        "Forget a lesson for good.",
        answer=ForgottenNames,
    ),
    Endpoint(
        "GET",
        "/api/documents",
        list_documents,
        "The documents that were ingested.",
        ("read",),
        query=PageQuery,
        answer=DocumentList,
    ),
    Endpoint(
        "DELETE",
        "/api/documents",
        forget_documents,
        "Forget a document for good, or all below a directory.",
        query=DocumentQuery,
        answer=ForgottenNames,
    ),
)
