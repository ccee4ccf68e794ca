"""Two embedders: the first makes passages searchable at once, the other one follows with better vectors."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sestet.services.embedding import index, queue
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.embedding.local_embedder import LocalEmbedder
from sestet.services.embedding.sentence_embedder import SentenceEmbedder
from sestet.storage.database import Database
from sestet.storage.locks import SessionLocks
from sestet.storage.vectors import VectorStore
from tests.services.passages import keep

FIRST, BEST = LocalEmbedder.space, SentenceEmbedder.space
NOTES = (
    "Three months' notice to end the lease.",
    "The boiler lost pressure on Sunday.",
    "Grandma takes her pills at eight.",
    "Tickets for the ferry to Texel.",
    "The printer leaves streaks on the paper.",
)


def both(database: Database, embedder: SentenceEmbedder | None = None) -> EmbeddingIndex:
    return EmbeddingIndex(VectorStore(database), embedder or SentenceEmbedder(), first=LocalEmbedder())


def spaces(database: Database) -> list[str]:
    return [space for (space,) in database.execute("SELECT space FROM vectors ORDER BY passage_id")]


def fill(database: Database, count: int) -> list[int]:
    return [keep(database, f"{NOTES[number % len(NOTES)]} Entry {number}.") for number in range(count)]


def anywhere(collection: str, session_id: str) -> bool:
    return True


async def test_many_passages_can_be_found_before_the_encoder_was_ever_loaded(database: Database) -> None:
    fill(database, 100)
    embedder = SentenceEmbedder()
    embedding = both(database, embedder)

    assert await embedding.catch_up(quickly=True) == 100
    found = await embedding.nearest("pressure of the boiler", 5, anywhere)
    await embedding.close()

    assert spaces(database) == [FIRST] * 100
    assert found
    assert embedding.pending() == 100
    assert "_encoder" not in vars(embedder)


async def test_a_few_new_passages_get_their_best_vector_before_a_question(database: Database) -> None:
    (lease, *_) = fill(database, 5)
    embedding = both(database)

    found = await embedding.nearest("how soon can I move out of the apartment", 1, anywhere)
    await embedding.close()

    assert spaces(database) == [BEST] * 5
    assert [one.passage_id for one in found] == [lease]


async def test_half_way_each_passage_is_found_in_the_space_of_its_own_vector(database: Database) -> None:
    ids = fill(database, 40)
    embedding = both(database)
    await embedding.catch_up(quickly=True)

    assert await embedding.step()
    assert spaces(database) == [BEST] * SentenceEmbedder.batch + [FIRST] * (40 - SentenceEmbedder.batch)
    await embedding.close()  # no work in the background meanwhile
    compared = await embedding.compare("boiler pressure on Sunday", ids)
    near = await embedding.nearest("boiler pressure on Sunday", 100, anywhere)

    assert compared.keys() == set(ids)
    boilers = set(ids[1 :: len(NOTES)])
    assert boilers <= {one.passage_id for one in near}
    assert [one.deviations for one in near] == sorted((one.deviations for one in near), reverse=True)
    assert {one.passage_id for one in near[: len(boilers)]} == boilers


async def test_catching_up_replaces_every_first_vector_and_says_how_far_it_is(database: Database) -> None:
    fill(database, 20)
    embedding = both(database)
    await embedding.catch_up(quickly=True)
    seen: list[tuple[int, int]] = []

    assert await embedding.catch_up(lambda done, total: seen.append((done, total))) == 20

    assert spaces(database) == [BEST] * 20
    assert seen == [(0, 20), (16, 20), (20, 20)]
    assert await embedding.catch_up() == 0
    assert not await embedding.step()


async def test_the_background_upgrades_in_quiet_times_with_the_least_priority(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database, 20)
    embedding = both(database)
    lowered: list[int] = []
    give_way = queue._give_way  # pyright: ignore[reportPrivateUsage] - to see the priority that it sets

    def watch() -> None:
        give_way()
        lowered.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    monkeypatch.setattr(queue, "_give_way", watch)
    monkeypatch.setattr(index, "_REST", 0.01)
    before = os.getpriority(os.PRIO_PROCESS, 0)

    embedding.wake()
    while embedding.pending():  # noqa: ASYNC110 - the worker tells nobody
        await asyncio.sleep(0.01)
    await embedding.close()

    assert spaces(database) == [BEST] * 20
    assert lowered == [19, 19]
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


async def test_closing_at_once_leaves_passages_searchable_and_loads_no_encoder(
    database: Database,
) -> None:
    fill(database, 5)
    embedder = SentenceEmbedder()
    embedding = both(database, embedder)

    embedding.wake()
    await embedding.close()

    assert spaces(database) == [FIRST] * 5
    assert "_encoder" not in vars(embedder)


VICTIM = """
import asyncio, sys
from pathlib import Path
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.embedding.local_embedder import LocalEmbedder
from sestet.services.embedding.sentence_embedder import SentenceEmbedder
from sestet.storage.database import Database
from sestet.storage.locks import SessionLocks
from sestet.storage.vectors import VectorStore

async def main():
    path = Path(sys.argv[1])
    locks = SessionLocks.beside(path)
    embedding = EmbeddingIndex(VectorStore(Database(path)), SentenceEmbedder(), locks, first=LocalEmbedder())
    await embedding.catch_up(lambda done, total: print(done, flush=True))

asyncio.run(main())
"""


def test_a_killed_process_leaves_every_passage_searchable_and_the_next_one_finishes(
    tmp_path: Path, database: Database
) -> None:
    fill(database, 150)
    asyncio.run(both(database).catch_up(quickly=True))
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(tmp_path / "sestet.db")], stdout=subprocess.PIPE, text=True
    )
    assert victim.stdout is not None
    while int(victim.stdout.readline()) < 2 * SentenceEmbedder.batch:
        pass
    victim.send_signal(signal.SIGKILL)
    victim.communicate()

    done = spaces(database).count(BEST)
    assert 2 * SentenceEmbedder.batch <= done < 150
    assert spaces(database) == [BEST] * done + [FIRST] * (150 - done)
    locks = SessionLocks.beside(database.path)
    embedding = EmbeddingIndex(VectorStore(database), SentenceEmbedder(), locks, first=LocalEmbedder())
    assert asyncio.run(embedding.catch_up()) == 150 - done
    assert spaces(database) == [BEST] * 150
    locks.close()
