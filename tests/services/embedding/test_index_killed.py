"""A process is killed while it embeds: the next one finishes the work without duplicates."""

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.embedding.local_embedder import LocalEmbedder
from sestet.storage.database import Database
from sestet.storage.locks import SessionLocks
from sestet.storage.vectors import VectorStore
from tests.services.passages import keep

VICTIM = """
import asyncio, sys
from pathlib import Path
from sestet.services.embedding.local_embedder import LocalEmbedder
from sestet.services.embedding.index import EmbeddingIndex
from sestet.storage.database import Database
from sestet.storage.locks import SessionLocks
from sestet.storage.vectors import VectorStore

async def main():
    path = Path(sys.argv[1])
    embedding = EmbeddingIndex(VectorStore(Database(path)), LocalEmbedder(), SessionLocks.beside(path))
    while await embedding.step():
        print("step", flush=True)
        sys.stdin.readline()

asyncio.run(main())
"""


@pytest.mark.parametrize("steps", [1, 3])
def test_a_killed_process_leaves_whole_batches_and_the_next_one_finishes(
    tmp_path: Path, database: Database, steps: int
) -> None:
    ids = [keep(database, f"passage number {number}") for number in range(400)]
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(tmp_path / "sestet.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert victim.stdin is not None
    assert victim.stdout is not None
    for _ in range(steps):
        assert victim.stdout.readline() == "step\n"
        victim.stdin.write("on\n")
        victim.stdin.flush()
    # In the middle of the next step.
    time.sleep(0.002)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()

    # The claim of the killed process has ended with it.
    locks = SessionLocks.beside(database.path)
    embedding = EmbeddingIndex(VectorStore(database), LocalEmbedder(), locks)
    left = embedding.pending()
    assert 0 < left <= 400 - 64 * steps
    assert asyncio.run(embedding.catch_up()) == left

    rows = database.execute("SELECT passage_id, length(vector) FROM vectors ORDER BY passage_id")
    assert rows == [(passage_id, 1_024) for passage_id in ids]
    locks.close()
