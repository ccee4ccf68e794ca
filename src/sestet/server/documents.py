"""The API of uploaded documents: a file is kept, read in, and found by the librarian in the next turn."""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Annotated, Any

from starlette.responses import Response, StreamingResponse

from sestet.core.record import Meta, Record, to_json
from sestet.data import Data
from sestet.server.endpoint import Body, Call, Endpoint, error_response
from sestet.server.errors import ApiError
from sestet.server.event_stream import HEADERS
from sestet.services.documents.ingestion import IngestionSummary

_NAME = r"^[^/\\.\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*$"
_LONGEST_NAME = 200


class UploadQuery(Body):
    #: The file's name with its ending, such as notes.md. The same name again replaces the document.
    name: Annotated[str, Meta(pattern=_NAME, max_length=_LONGEST_NAME)]
    #: Answer with server-sent events: progress while it is read and embedded, then done or error.
    progress: bool = False


class Ingested(Record):
    #: Where the file is kept; passages of it name this path as their source.
    path: str
    #: added, changed or unchanged.
    state: str
    #: Passages that can be found.
    chunks: int
    #: Why it is found by words alone for now; empty: by meaning too.
    embedding_problem: str


async def upload_document(call: Call[None, UploadQuery]) -> Response | Ingested:
    directory = call.host.uploads
    name = call.query.name
    if len(os.fsencode(name)) > _LONGEST_NAME:
        raise ApiError("bad_request", f"the name has more than {_LONGEST_NAME} bytes")
    directory.mkdir(mode=0o700, exist_ok=True)
    received = await _receive(call, directory)
    if call.query.progress:
        return StreamingResponse(_events(call, received, directory / name), 201, headers=HEADERS)
    return await _ingest(call, received, directory / name, lambda stage, done, total: None)


async def _receive(call: Call[None, UploadQuery], directory: Path) -> Path:
    """Write the body into a new private file."""
    descriptor, part = tempfile.mkstemp(".part", ".", directory)
    try:
        async for piece in call.request.stream():
            await asyncio.to_thread(_write, descriptor, piece)
        if not os.fstat(descriptor).st_size:
            raise ApiError("bad_request", "the body is empty", "send the bytes of the file as the body")
    except BaseException:
        os.unlink(part)
        raise
    finally:
        os.close(descriptor)
    return Path(part)


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


async def _ingest(
    call: Call[None, UploadQuery], part: Path, path: Path, watch: Callable[[str, int, int], None]
) -> Ingested:
    """Give the file its name, and read it; one that cannot be read leaves nothing behind."""

    def ingest(data: Data) -> IngestionSummary:
        before = path.with_name(f".{part.name}.before")
        if path.exists():
            os.link(path, before)
        try:
            os.replace(part, path)
            summary = data.library.ingest([path])
            if problems := (*summary.skipped, *summary.broken):
                # The document of that name stays as it was, or there is none.
                os.replace(before, path) if before.exists() else path.unlink()
                raise ApiError(
                    "unsupported_media_type", f"'{path.name}' cannot be used: {problems[0].reason}"
                )
        finally:
            for left in (before, part):
                left.unlink(missing_ok=True)
        return summary

    watch("read", 0, 1)
    summary = await call.host.read(ingest)
    watch("read", 1, 1)
    embedded = await call.host.read(
        lambda data: asyncio.run(
            data.library.embed(lambda done, total: watch("embed", done, total), quickly=True)
        )
    )
    state = "added" if summary.added else "changed" if summary.changed else "unchanged"
    return Ingested(str(path), state, summary.chunks, embedded.problem)


async def _events(call: Call[None, UploadQuery], part: Path, path: Path) -> AsyncGenerator[bytes]:
    """The progress, then ``done`` with the result or ``error``, as server-sent events."""
    loop, waiting = asyncio.get_running_loop(), asyncio.Queue[tuple[str, bytes]]()

    def watch(stage: str, done: int, total: int) -> None:
        told = to_json({"stage": stage, "done": done, "total": total})
        loop.call_soon_threadsafe(waiting.put_nowait, ("progress", told))

    async def work() -> None:
        try:
            result: Any = to_json(await _ingest(call, part, path, watch))
            waiting.put_nowait(("done", result))
        except Exception as error:  # the edge of one upload: the client is told
            waiting.put_nowait(("error", bytes(error_response(error).body)))

    task = asyncio.create_task(work())
    try:
        kind = ""
        while kind not in ("done", "error"):
            kind, content = await waiting.get()
            yield b"event: %s\ndata: %s\n\n" % (kind.encode(), content)
    finally:
        # A client that leaves does not stop the reading.
        await asyncio.wait((task,))


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/documents",
        upload_document,
        "Upload a document, the bytes of the file as the body, and read it in.",
        query=UploadQuery,
        answer=Ingested,
        status=201,
        takes="application/octet-stream",
        gives=("text/event-stream",),
    ),
)
