"""Forgetting entries, lessons and documents: from tables, index and vectors, and from the file itself."""

from typing import NamedTuple

from sestet.storage.database import Database
from sestet.storage.documents import DocumentStore
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.traces import wipe_traces


class Unwanted(NamedTuple):
    """What is to be forgotten: an entry, or a lesson, or the documents at one of the paths."""

    key: str = ""
    learning: int | None = None
    paths: tuple[str, ...] = ()


class Forgotten(NamedTuple):
    names: list[str]
    #: False: another process has the file open, which still holds traces.
    wiped: bool


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
