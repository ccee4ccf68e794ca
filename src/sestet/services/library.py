"""The library: saved entries, lessons and documents, to be read, searched, corrected and forgotten."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from sestet.config.settings import EmbeddingSettings
from sestet.core.errors import EmbeddingError, PersonError
from sestet.core.label import CLEAN, PIPED, Label, Origin
from sestet.core.record import as_dict
from sestet.core.schema import suggest
from sestet.services.documents.ingestion import Ingestion, IngestionProgress, IngestionSummary
from sestet.services.embedding.embedder import choose_embedders
from sestet.services.embedding.index import open_embedding
from sestet.services.embedding.progress import Progress, read_progress
from sestet.services.forgetting import ForgottenEntries, UnwantedEntries, forget_entries
from sestet.services.own_files import own_files
from sestet.services.retrieval import Passage, Retrieval, Retrieved
from sestet.storage.database import Database
from sestet.storage.documents import DocumentRow, DocumentStore
from sestet.storage.knowledge import Category, KnowledgeRow, KnowledgeStore, KnowledgeVersion
from sestet.storage.learnings import LearningRow, LearningStore
from sestet.storage.locks import SessionLocks
from sestet.storage.passages import PassageStore
from sestet.storage.vectors import VectorStore

__all__ = [
    "Category",
    "DocumentRow",
    "Embedded",
    "ForgottenEntries",
    "KnowledgeRow",
    "KnowledgeVersion",
    "LearningRow",
    "Library",
]

#: A person wrote it outside of any conversation.
_BY_HAND = Origin("", "", CLEAN)
_PIPED = Origin("", "", PIPED)
_SUGGESTED = 1_000


class Embedded(NamedTuple):
    """How many passages got their vector, and why no more did."""

    done: int
    problem: str = ""


class Library:
    """What is kept to be found again."""

    def __init__(
        self, database: Database, embedding: EmbeddingSettings, settings_file: Path | None = None
    ) -> None:
        self._database = database
        self._settings_file = settings_file
        self._embedding = embedding
        self._knowledge = KnowledgeStore(database)

    def entries(self, limit: int, tag: str = "") -> list[KnowledgeRow]:
        """The saved entries, the latest first."""
        return self._knowledge.latest(limit, tag.strip().lower())

    def find_entry(self, key: str) -> KnowledgeRow | None:
        """The entry of that title; None if there is none."""
        return self._knowledge.get(key)

    def entry(self, key: str) -> KnowledgeRow:
        """The entry of that title, or an error that names the nearest."""
        row = self.find_entry(key)
        if row is None:
            known = [other.key for other in self._knowledge.latest(_SUGGESTED)]
            raise PersonError(f"there is no entry {key!r}{suggest(key, known)}")
        return row

    def save(
        self,
        key: str,
        content: str,
        category: Category | None = None,
        tags: Sequence[str] | None = None,
        *,
        mine: bool = True,
    ) -> KnowledgeRow:
        """Save an entry; the same key again makes a new version. Text that is not ``mine`` is untrusted.

        A new version keeps its category and tags where they are None.
        """
        origin = _BY_HAND if mine else _PIPED
        return self._knowledge.save(key, content, category, origin, tags)

    def versions(self, key: str) -> list[KnowledgeVersion]:
        """Every version of an entry, the latest first."""
        return self._knowledge.history(key)

    def undo(self, key: str, to: int | None = None) -> KnowledgeRow:
        """Make an earlier version the present one; None: the one before."""
        present = self.entry(key)
        versions = {version.version: version for version in self.versions(key)}
        wanted = to or versions[present.version].previous
        if wanted is None:
            raise PersonError(
                f"{present.key!r} is at its first version; 'sestet knowledge forget' removes it altogether"
            )
        row = self._knowledge.restore(key, wanted)
        if row is None:
            raise PersonError(
                f"{present.key!r} has no version {wanted}; 'sestet knowledge history' lists them"
            )
        return row

    def lessons(self, limit: int) -> list[LearningRow]:
        return LearningStore(self._database).latest(limit)

    def documents(self, limit: int) -> list[DocumentRow]:
        return DocumentStore(self._database).list(limit)

    def forget_entry(self, key: str) -> ForgottenEntries:
        return forget_entries(self._database, UnwantedEntries(key=key))

    def forget_lesson(self, number: int) -> ForgottenEntries:
        return forget_entries(self._database, UnwantedEntries(learning=number))

    def forget_documents(self, path: Path) -> ForgottenEntries:
        """Forget the document at a path, or all below it."""
        return forget_entries(
            self._database, UnwantedEntries(paths=(str(path.absolute()), str(path.resolve())))
        )

    async def search(self, query: str, limit: int) -> Retrieved:
        """Passages of entries, lessons and documents, by their words and their meaning."""
        with self._locks() as locks:
            embedding = open_embedding(self._embedding, self._database, locks)
            retrieval = Retrieval(PassageStore(self._database), embedding=embedding)
            return await retrieval.retrieve(query, limit, ("knowledge", "learnings", "documents"))

    def _locks(self) -> "closing[SessionLocks]":
        return closing(SessionLocks.beside(self._database.path))

    def ingest(
        self,
        paths: Sequence[Path],
        *,
        prune: bool = False,
        watch: Callable[[IngestionProgress], None] | None = None,
    ) -> IngestionSummary:
        """Read documents; with ``prune``, forget those below the paths whose files are gone."""
        own = own_files(self._database.path, self._settings_file)
        return Ingestion(DocumentStore(self._database), own=own).run(paths, prune=prune, watch=watch)

    async def embed(
        self, watch: Callable[[int, int], None] | None = None, *, quickly: bool = False
    ) -> Embedded:
        """Give every passage its vector now.

        ``quickly``: only so that all can be found; an open assistant makes better vectors in the background.
        """
        with self._locks() as locks:
            embedding = open_embedding(self._embedding, self._database, locks)
            if embedding is None:
                return Embedded(0)
            before = embedding.pending()
            try:
                done = await embedding.catch_up(watch, quickly=quickly)
            except EmbeddingError as error:
                return Embedded(before - embedding.pending(), str(error))
            finally:
                await embedding.close()
            return Embedded(done)

    def progress(self) -> Progress | None:
        """How many passages have their vectors; None without vectors."""
        embedders = choose_embedders(self._embedding)
        return read_progress(VectorStore(self._database), embedders) if embedders else None


def describe_history(row: KnowledgeRow, versions: Sequence[KnowledgeVersion]) -> Mapping[str, object]:
    """An entry as JSON with all of its versions."""
    return {**describe_entry(row), "versions": describe_versions(row, versions)}


def describe_lesson(row: LearningRow) -> Mapping[str, object]:
    return as_dict(row) | {"label": _label(row.label)}


def describe_document(row: DocumentRow) -> Mapping[str, object]:
    return row._asdict()


def describe_entry(row: KnowledgeRow) -> Mapping[str, object]:
    return row._asdict() | {"label": _label(row.label)}


def describe_versions(row: KnowledgeRow, versions: Sequence[KnowledgeVersion]) -> list[Mapping[str, object]]:
    return [
        as_dict(version) | {"label": _label(version.label), "present": version.version == row.version}
        for version in versions
    ]


def describe_passage(passage: Passage) -> dict[str, object]:
    """A passage that was found, as JSON."""
    return {**as_dict(passage), "label": _label(passage.label)}


def _label(label: Label) -> dict[str, object]:
    return {"untrusted": label.untrusted, "private": label.private, "sources": label.sources}
