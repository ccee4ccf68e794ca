"""Entries, lessons and documents at once: searching them, and forgetting what lies on them."""

from typing import NamedTuple

from sestet.core.label import Label
from sestet.storage.database import Database
from sestet.storage.documents import DocumentStore
from sestet.storage.full_text import match_any
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.labels import label_from
from sestet.storage.learnings import LearningStore
from sestet.storage.traces import wipe_traces


class ShelfHit(NamedTuple):
    collection: str
    title: str
    text: str
    source: str
    created_at: float
    label: Label


class Unwanted(NamedTuple):
    """What is to be forgotten: an entry, or a lesson, or the documents at one of the paths."""

    key: str = ""
    learning: int | None = None
    paths: tuple[str, ...] = ()


class Forgotten(NamedTuple):
    names: list[str]
    #: False: another process has the file open, which still holds traces.
    wiped: bool


def search_shelves(database: Database, query: str, limit: int) -> list[ShelfHit]:
    """The passages that hold the words, the best first; a query of common words alone finds nothing."""
    if not (expression := match_any(query)):
        return []
    rows = database.execute(
        """SELECT collection, passages.title, passages.text, source, created_at, untrusted, private, sources
           FROM passages_index JOIN passages ON passages.id = passages_index.rowid
           WHERE passages_index MATCH ? AND collection IN ('knowledge', 'learnings', 'documents')
           ORDER BY bm25(passages_index, 3.0, 1.0), passages.id DESC LIMIT ?""",
        (expression, limit),
    )
    return [ShelfHit(*row[:-3], label=label_from(*row[-3:])) for row in rows]


def forget_from_shelves(database: Database, unwanted: Unwanted) -> Forgotten:
    """Remove it with its history, its passages and their vectors, and wipe its traces from the file."""
    names: list[str] = []
    if unwanted.key and KnowledgeStore(database).forget(unwanted.key):
        names.append(unwanted.key)
    if unwanted.learning is not None and LearningStore(database).forget(unwanted.learning):
        names.append(f"lesson {unwanted.learning}")
    documents = DocumentStore(database)
    for path in filter(None, dict.fromkeys(unwanted.paths)):
        names += (below for below in documents.paths_below(path) if documents.remove(below))
    return Forgotten(names, wipe_traces(database) if names else True)
