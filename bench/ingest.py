"""Measures how fast documents become passages with vectors, and how much memory that takes."""

import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.process import read_rss_kb
from sestet.config.settings import Settings
from sestet.services.documents.ingestion import Ingestion
from sestet.services.embedding.index import EmbeddingIndex, open_embedding
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.documents import DocumentStore

WORDS = 4_000
#: Number of files in the small folder. The large folder has four times as many, for the ratio of memory.
FILES = 150
LARGER = 4
SECTIONS_A_FILE = 10


def measure_ingest(folder: Path) -> dict[str, float]:
    """Return chunks a second from the files to the last vector, and the memory after four times the files."""
    small, large = folder / "small", folder / "large"
    _write_files(small, FILES, seed=1)
    _write_files(large, FILES * LARGER, seed=2)
    database = Database(folder / FILE_NAME)
    embedding = open_embedding(Settings().embedding, database)
    assert embedding is not None
    # The first run loads the model and fills the caches of SQLite and Python.
    _ingest(database, embedding, small)
    before = read_rss_kb()
    run = _ingest(database, embedding, large)
    after = read_rss_kb()
    database.close()
    return {
        "ingest_chunks_per_s": run.chunks / run.seconds,
        "ingest_stored_per_s": run.chunks / run.stored_seconds,
        "ingest_chunks": run.chunks,
        "ingest_memory_ratio": after / before,
        "ingest_rss_mb": after / 1024,
    }


class _Run(NamedTuple):
    chunks: int
    #: Seconds until every chunk had its vector, and until every chunk was stored.
    seconds: float
    stored_seconds: float


def _ingest(database: Database, embedding: EmbeddingIndex, folder: Path) -> _Run:
    started = time.perf_counter()
    summary = Ingestion(DocumentStore(database)).run([folder])
    stored = time.perf_counter() - started
    assert not summary.broken
    asyncio.run(embedding.catch_up())
    return _Run(summary.chunks, time.perf_counter() - started, stored)


def _write_files(folder: Path, number: int, seed: int) -> None:
    """Return markdown with invented words of natural lengths: some are frequent, most are rare."""
    folder.mkdir()
    dice = random.Random(seed)  # noqa: S311 - the same files in every run
    syllables = [first + last for first in "bdfgklmnprstv" for last in "aeiou"]
    words = ["".join(dice.choices(syllables, k=dice.randint(1, 4))) for _ in range(WORDS)]
    weights = [1 / rank for rank in range(1, WORDS + 1)]
    for file in range(number):
        sections = (
            f"## {_sentence(dice, words, weights, 3)}\n\n{_section(dice, words, weights)}"
            for _ in range(SECTIONS_A_FILE)
        )
        (folder / f"{file}.md").write_text("\n\n".join(sections), encoding="utf-8")


def _section(dice: random.Random, words: Sequence[str], weights: Sequence[float]) -> str:
    return "\n\n".join(
        " ".join(_sentence(dice, words, weights, dice.randint(8, 20)) for _ in range(4)) for _ in range(3)
    )


def _sentence(dice: random.Random, words: Sequence[str], weights: Sequence[float], length: int) -> str:
    return " ".join(dice.choices(words, weights, k=length)).capitalize() + "."


def main() -> None:
    """Write the figures to a file: ``python -m bench.ingest <folder> <result>``."""
    scratch, result = sys.argv[1:]
    with TemporaryDirectory(dir=scratch) as folder:
        figures = measure_ingest(Path(folder))
    Path(result).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
