"""Updates the stored documents from the files: new, changed and removed ones."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sestet.config.links import resolved
from sestet.core.errors import PersonError
from sestet.core.message import whole
from sestet.services.documents.blocks import LONGEST, Block, BrokenFileError
from sestet.services.documents.chunks import Chunk, cut_chunks
from sestet.services.documents.file_finder import (
    FoundFile,
    OpenedDocument,
    SkippedFileError,
    find_files,
    open_file,
    printable,
)
from sestet.services.documents.readers import read_code, read_markdown, read_text
from sestet.services.documents.sandbox import SandboxedReader
from sestet.services.own_files import Inode, OwnFiles
from sestet.services.text_encoding import guess_encoding
from sestet.storage.documents import DocumentStore, StoredChunk

#: Part of every digest. Raise it when reading or chunking changes, so that every file is read again.
_EDITION = b"2"
_PIECE = 1_048_576
_READERS = {"markdown": read_markdown, "text": read_text, "code": read_code}


class FileProblem(NamedTuple):
    """A file that was not stored, and why."""

    path: str
    reason: str


@dataclass(slots=True)
class IngestionSummary:
    """What happened to the files of a run."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks: int = 0
    skipped: list[FileProblem] = field(default_factory=list[FileProblem])
    broken: list[FileProblem] = field(default_factory=list[FileProblem])


class IngestionProgress(NamedTuple):
    """One file is done; ``done`` of ``total``."""

    path: str
    done: int
    total: int


class Ingestion:
    """One run over some paths. Each file is stored in one transaction, so a run may stop anywhere."""

    def __init__(
        self,
        store: DocumentStore,
        reader: SandboxedReader | None = None,
        own: OwnFiles = OwnFiles(),  # noqa: B008 - it hides nothing, and keeps nothing
    ) -> None:
        """``own``: Sestet's own files, which are no documents."""
        self._store = store
        self._own = own
        self._refused: frozenset[Inode] = frozenset()
        self._reader = reader or SandboxedReader()
        self._summary = IngestionSummary()
        #: Stored paths that differ from the file's path, because that is not UTF-8.
        self._renamed: set[str] = set()

    def run(
        self,
        paths: Sequence[Path],
        *,
        prune: bool = False,
        watch: Callable[[IngestionProgress], None] | None = None,
    ) -> IngestionSummary:
        """Read every file; with ``prune``, remove the documents of deleted files."""
        roots = [_root(path, prune) for path in paths]
        # A second walk costs little, and avoids a list of a million names in memory.
        total = sum(not found.skipped for root in roots for found in self._find(root)) if watch else 0
        done = 0
        try:
            for root in roots:
                for found in self._find(root):
                    if found.skipped:
                        self._leave_out(found, found.skipped, broken=found.broken)
                        continue
                    self._take(found)
                    done += 1
                    if watch:
                        watch(IngestionProgress(printable(found.path), done, max(done, total)))
                if prune:
                    self._prune(root)
        finally:
            self._reader.close()
        return self._summary

    def _find(self, root: Path) -> Iterator[FoundFile]:
        self._refused = self._own.inodes(root)
        return find_files(root, self._refused)

    def _take(self, found: FoundFile) -> None:
        path = printable(found.path)
        if path != found.path:
            self._renamed.add(path)
        try:
            with open_file(found, self._refused) as opened:
                self._store_file(path, opened)
        except SkippedFileError as error:
            self._leave_out(found, str(error))
        except BrokenFileError as error:
            self._leave_out(found, str(error), broken=True)
        except OSError as error:
            self._leave_out(found, error.strerror or str(error), broken=True)

    def _store_file(self, path: str, opened: OpenedDocument) -> None:
        digest = _digest(opened.stream)
        known = self._store.digest_of(path)
        if known == digest:
            self._summary.unchanged += 1
            return
        number = self._store.replace(path, opened.kind, opened.size, digest, self._chunks(path, opened))
        if number is None:
            self._summary.unchanged += 1  # another process stored it first
            return
        self._summary.chunks += number
        if known is None:
            self._summary.added += 1
        else:
            self._summary.changed += 1

    def _chunks(self, path: str, opened: OpenedDocument) -> Iterator[StoredChunk]:
        name = path.rpartition("/")[2]
        by_page = opened.kind == "pdf"
        empty = True
        for chunk in cut_chunks(self._blocks(opened), by_page=by_page):
            empty = False
            source = f"{path} p. {chunk.place}" if by_page else f"{path}:{chunk.place}"
            yield StoredChunk(_title(name, chunk), _storable(chunk.text), source)
        if empty:
            raise BrokenFileError("it has no text" + ("; its pages may be images" if by_page else ""))

    def _blocks(self, opened: OpenedDocument) -> Iterator[Block]:
        if (read := _READERS.get(opened.kind)) is None:
            return self._reader.read(opened.kind, opened.stream, opened.size)
        encoding = guess_encoding(opened.stream)
        # The stream may have read ahead of its own position.
        os.lseek(opened.stream.fileno(), 0, os.SEEK_SET)
        # closefd=False: the caller closes the file.
        text = open(opened.stream.fileno(), encoding=encoding, errors="replace", closefd=False)  # noqa: SIM115
        return read(iter(lambda: text.readline(LONGEST), ""))

    def _prune(self, root: Path) -> None:
        for path in self._store.paths_below(printable(str(root))):
            if path not in self._renamed and not Path(path).is_file() and self._store.remove(path):
                self._summary.removed += 1

    def _leave_out(self, found: FoundFile, reason: str, *, broken: bool = False) -> None:
        named = FileProblem(printable(found.path), reason)
        (self._summary.broken if broken else self._summary.skipped).append(named)


def _root(path: Path, prune: bool) -> Path:
    """Resolve a path from the person. It may be a link; links below it are not followed."""
    try:
        root = resolved(path)
        if not prune:
            root.stat()
    except OSError as error:
        raise PersonError(f"{printable(str(path))}: {error.strerror}") from error
    if not (root.is_file() or root.is_dir()) and root.exists():
        raise PersonError(f"{printable(str(path))}: neither a file nor a directory")
    return root


def _digest(stream: BinaryIO) -> str:
    digest = hashlib.sha256(_EDITION)
    while piece := stream.read(_PIECE):
        digest.update(piece)
    stream.seek(0)
    return digest.hexdigest()


def _title(name: str, chunk: Chunk) -> str:
    return _storable(" > ".join((name, *chunk.headings)))


def _storable(text: str) -> str:
    # SQLite stores neither lone surrogates nor NUL characters.
    return whole(text).replace("\0", " ")


def describe_summary(summary: IngestionSummary) -> dict[str, object]:
    """What became of the files, as JSON."""
    named = {name: [entry._asdict() for entry in getattr(summary, name)] for name in ("skipped", "broken")}
    return {**asdict(summary), **named}
