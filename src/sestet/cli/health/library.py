"""Checks of what is kept to be found again: knowledge, lessons, documents, and the web search."""

from pathlib import Path

from sestet.cli.health.check import Check
from sestet.config import Settings, data_directory
from sestet.config.settings import without_credentials
from sestet.core.errors import StorageError
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.documents import DocumentStore
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore


def check_library() -> list[Check]:
    """Nothing where there is no database, or none that can be read: that is reported elsewhere."""
    path = data_directory() / FILE_NAME
    if not path.exists():
        return []
    try:
        database = Database(path)
    except StorageError:
        return []
    try:
        return [_check_knowledge(database), _check_documents(DocumentStore(database))]
    except StorageError:
        return []
    finally:
        database.close()


def check_web_search(settings: Settings) -> Check:
    if settings.search.url:
        return Check("web search", "ok", without_credentials(settings.search.url))
    return Check("web search", "ok", "switched off", "if you want it: set search.url to a SearXNG endpoint")


def _check_knowledge(database: Database) -> Check:
    entries, lessons = KnowledgeStore(database).count(), LearningStore(database).count()
    detail = f"{_number(entries, 'entry', 'entries')}, {_number(lessons, 'lesson', 'lessons')}"
    return Check("knowledge", "ok", detail)


def _check_documents(documents: DocumentStore) -> Check:
    number, chunks = documents.count()
    if not number:
        return Check("documents", "ok", "none", "if you want some: sestet knowledge ingest PATH")
    gone = sum(not Path(path).exists() for path in documents.paths_below("/"))
    detail = f"{_number(number, 'document', 'documents')} in {_number(chunks, 'chunk', 'chunks')}"
    if gone:
        way_out = "'sestet knowledge ingest PATH --prune' forgets documents whose files are gone"
        return Check("documents", "warning", f"{detail}; the files of {gone} are gone", way_out)
    return Check("documents", "ok", detail)


def _number(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
