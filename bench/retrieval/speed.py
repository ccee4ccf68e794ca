"""Measures the time and the memory of a question over many passages."""

import gc
import random
import time
from collections.abc import Awaitable
from itertools import cycle, islice
from statistics import median

from bench.process import read_rss_kb
from bench.retrieval.quality import Note, read_notes, read_queries, store
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.embedding.local_embedder import LocalEmbedder
from sestet.services.retrieval import Retrieval
from sestet.storage.database import Database
from sestet.storage.graph import GraphStore
from sestet.storage.passages import PassageStore
from sestet.storage.vectors import VectorStore

PASSAGES = 50_000
QUERIES = 200
WARM_UP = 20
_SENTENCES_A_PASSAGE = 4


async def build(database: Database) -> dict[str, float]:
    """Fill the database with passages of sentences from the quality set, and embed them."""
    chance = random.Random(1)  # noqa: S311 - the same passages in every run
    notes = read_notes()
    sentences = [part for note in notes for part in note.text.split(". ") if len(part) > 20]
    store(
        database,
        [
            Note(str(number), note.title, ". ".join(chance.sample(sentences, _SENTENCES_A_PASSAGE)))
            for number, note in enumerate(islice(cycle(notes), PASSAGES))
        ],
    )
    began = time.perf_counter()
    embedded = await EmbeddingIndex(VectorStore(database), LocalEmbedder()).catch_up()
    return {"embedded_per_second": embedded / (time.perf_counter() - began)}


async def first_query(database: Database) -> dict[str, float]:
    """Measure the first answer of a fresh process, including the loading of model and vectors."""
    return {"first_ms": await _milliseconds(_open(database, LocalEmbedder()).retrieve(_queries(1)[0]))}


async def many_queries(database: Database) -> dict[str, float]:
    """Return the median question after a warm-up, and the memory of the vectors once the model is loaded."""
    embedder = LocalEmbedder()
    embedder.embed(["warm up"])
    retrieval, queries = _open(database, embedder), _queries(QUERIES)
    gc.collect()
    before = read_rss_kb()
    for query in queries[:WARM_UP]:
        await retrieval.retrieve(query)
    times = [await _milliseconds(retrieval.retrieve(query)) for query in queries]
    gc.collect()
    grown = read_rss_kb() - before
    (size,) = database.execute("SELECT sum(length(vector)) FROM vectors").only()
    return {"query_ms": median(times), "vectors_kb": size / 1024, "memory_ratio": grown * 1024 / size}


def _open(database: Database, embedder: LocalEmbedder) -> Retrieval:
    embedding = EmbeddingIndex(VectorStore(database), embedder)
    return Retrieval(PassageStore(database), GraphStore(database), embedding)


def _queries(count: int) -> list[str]:
    return random.Random(2).sample([query.query for query in read_queries()], count)  # noqa: S311 - as above


async def _milliseconds(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return (time.perf_counter() - began) * 1000
