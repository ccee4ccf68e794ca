"""Measures the recall of words, of vectors and of both together, on the quality set beside this file."""

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.embedding.sentence_embedder import SentenceEmbedder
from sestet.services.retrieval import Retrieval
from sestet.storage.database import Database
from sestet.storage.graph import GraphStore
from sestet.storage.passages import PassageStore, SearchScope
from sestet.storage.vectors import VectorStore

HERE = Path(__file__).parent
#: A kind of search: takes a question and a limit, returns that many sources, best first.
Search = Callable[[str, int], Awaitable[Sequence[str]]]


class Note(NamedTuple):
    id: str
    title: str
    text: str


class Query(NamedTuple):
    query: str
    passages: list[str]
    kind: str


def read_notes() -> list[Note]:
    return [Note(**json.loads(line)) for line in _lines("passages.jsonl")]


def read_queries() -> list[Query]:
    return [Query(**json.loads(line)) for line in _lines("queries.jsonl")]


def _lines(name: str) -> list[str]:
    return (HERE / name).read_text(encoding="utf-8").splitlines()


def store(database: Database, notes: Sequence[Note]) -> None:
    with database.transaction():
        database.execute_many(
            "INSERT INTO passages VALUES (NULL, 'documents', ?, ?, ?, ?, '', 0, 0, '[]', 0)",
            [(number, note.title, note.text, note.id) for number, note in enumerate(notes)],
        )


async def measure_quality(database: Database) -> dict[str, dict[str, dict[str, float]]]:
    """Return recall@1 and recall@5 for each kind of search and each kind of query."""
    store(database, read_notes())
    passages = PassageStore(database)
    embedding = EmbeddingIndex(VectorStore(database), SentenceEmbedder())
    await embedding.catch_up()
    scope = SearchScope(("documents",))

    async def by_meaning(query: str, limit: int) -> list[str]:
        near = await embedding.nearest(query, limit, scope.holds)
        rows = passages.get(item.passage_id for item in near)
        return [rows[item.passage_id].source for item in near]

    searches = {
        "words": _of(Retrieval(passages)),
        "vectors": by_meaning,
        "hybrid": _of(Retrieval(passages, GraphStore(database), embedding)),
    }
    return {name: await _recall(search) for name, search in searches.items()}


def _of(retrieval: Retrieval) -> Search:
    async def search(query: str, limit: int) -> list[str]:
        return [passage.source for passage in (await retrieval.retrieve(query, limit)).passages]

    return search


async def _recall(search: Search) -> dict[str, dict[str, float]]:
    hits: dict[str, list[tuple[bool, bool]]] = {}
    for query, right, kind in read_queries():
        found = list(await search(query, 5))[:5]
        hit = (bool(found) and found[0] in right, any(source in right for source in found))
        for group in ("all", kind):
            hits.setdefault(group, []).append(hit)
    return {
        kind: {
            "at_1": sum(first for first, _ in of_kind) / len(of_kind),
            "at_5": sum(among for _, among in of_kind) / len(of_kind),
        }
        for kind, of_kind in hits.items()
    }
