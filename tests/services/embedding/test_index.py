"""The embedding index: after any failure every passage gets one vector, in one space."""

import asyncio
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from sestet.core.errors import EmbeddingError
from sestet.services.embedding.endpoint_embedder import EndpointEmbedder
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.embedding.local_embedder import LocalEmbedder
from sestet.storage.database import Database
from sestet.storage.locks import SessionLocks
from sestet.storage.vectors import VectorStore
from tests.services.embedding.server import Answer, EmbeddingServer, as_answer, letters, serving
from tests.services.passages import forget, keep


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as running:
        yield running


def by_letters(database: Database, server: EmbeddingServer, model: str = "letters") -> EmbeddingIndex:
    return EmbeddingIndex(VectorStore(database), EndpointEmbedder(server.base_url, model, ""))


@contextmanager
def in_two_processes(
    database: Database, server: EmbeddingServer
) -> Generator[tuple[EmbeddingIndex, EmbeddingIndex]]:
    """Two indexes as two processes have them: each with its own connection and its own locks."""
    other = Database(database.path)
    locks = SessionLocks.beside(database.path), SessionLocks.beside(database.path)
    embedder = EndpointEmbedder(server.base_url, "letters", "")
    here, there = (
        EmbeddingIndex(VectorStore(connection), embedder, lock)
        for connection, lock in zip((database, other), locks, strict=True)
    )
    try:
        yield here, there
    finally:
        other.close()
        for lock in locks:
            lock.close()


def stored(database: Database) -> list[tuple[int, str]]:
    rows = database.execute("SELECT passage_id, space FROM vectors ORDER BY passage_id")
    return [(passage_id, space) for passage_id, space in rows]


def keep_many(database: Database, count: int) -> list[int]:
    return [keep(database, f"bad egg number {number}") for number in range(count)]


async def test_catching_up_embeds_all_that_is_missing_and_reports_how_far_it_is(
    database: Database, server: EmbeddingServer
) -> None:
    ids = keep_many(database, 150)
    embedding = by_letters(database, server)
    seen: list[tuple[int, int]] = []

    assert await embedding.catch_up(lambda done, total: seen.append((done, total))) == 150

    assert [passage_id for passage_id, _ in stored(database)] == ids
    assert seen == [(0, 150), (64, 150), (128, 150), (150, 150)]
    assert await embedding.catch_up() == 0
    assert [len(body["input"]) for body, _ in _requests(server)] == [64, 64, 22]


async def test_a_title_is_embedded_with_its_text(database: Database, server: EmbeddingServer) -> None:
    keep(database, "a text", title="A title")

    await by_letters(database, server).catch_up()

    assert _requests(server)[0][0]["input"] == ["A title\na text"]


async def test_work_that_was_cut_off_goes_on_where_it_stopped(
    tmp_path: Path, database: Database, server: EmbeddingServer
) -> None:
    ids = keep_many(database, 150)
    assert await by_letters(database, server).step()
    half_way = [passage_id for passage_id, _ in stored(database)]
    assert half_way == ids[:64]

    other = Database(tmp_path / "sestet.db")
    assert await by_letters(other, server).catch_up() == 86
    other.close()

    assert [passage_id for passage_id, _ in stored(database)] == ids
    assert sum(len(body["input"]) for body, _ in _requests(server)) == 150


async def test_two_processes_embed_each_text_once(database: Database, server: EmbeddingServer) -> None:
    ids = keep_many(database, 150)
    with in_two_processes(database, server) as (here, there):
        await asyncio.gather(here.catch_up(), there.catch_up())

    assert [passage_id for passage_id, _ in stored(database)] == ids
    texts = [text for body, _ in _requests(server) for text in body["input"]]
    assert len(texts) == len(set(texts)) == 150


async def test_a_text_is_embedded_once_although_two_processes_ask_for_it_at_once(
    database: Database, server: EmbeddingServer
) -> None:
    keep(database, "bad egg")
    server.going.clear()
    with in_two_processes(database, server) as (here, there):
        one = asyncio.create_task(here.step())
        assert await asyncio.to_thread(server.asked.acquire, timeout=20)
        other = asyncio.create_task(there.step())
        await asyncio.sleep(0)
        server.going.set()

        assert await one
        assert not await other
    assert len(_requests(server)) == 1


async def test_another_provider_embeds_everything_anew_and_spaces_are_never_mixed(
    database: Database, server: EmbeddingServer
) -> None:
    ids = keep_many(database, 70)
    first = by_letters(database, server)
    second = by_letters(database, server, "another")
    await first.catch_up()
    assert second.pending() == 70

    await second.step()  # stopped half way
    assert {space for _, space in stored(database)} == {first.space, second.space}
    for index in (first, second):  # a search must not start work in the background that moves rows meanwhile
        await index.close()
    by_first = await first.nearest("bad egg", 100, lambda collection, session_id: True)
    by_second = await second.nearest("bad egg", 100, lambda collection, session_id: True)

    assert by_first
    assert by_second
    assert {near.passage_id for near in by_first}.isdisjoint(near.passage_id for near in by_second)
    await second.catch_up()
    assert stored(database) == [(passage_id, second.space) for passage_id in ids]


async def test_a_model_that_changed_its_dimension_behind_its_name_is_a_new_space(
    database: Database, server: EmbeddingServer
) -> None:
    ids = keep_many(database, 3)
    await by_letters(database, server).catch_up()
    server.answer = lambda texts: as_answer([[1.0, 2.0] for _ in texts])
    ids.append(keep(database, "one more"))

    await by_letters(database, server).catch_up()

    lengths = {length for (length,) in database.execute("SELECT length(vector) FROM vectors")}
    assert lengths == {8}
    assert [passage_id for passage_id, _ in stored(database)] == ids


async def test_what_is_forgotten_while_it_is_embedded_gets_no_vector(
    database: Database, server: EmbeddingServer
) -> None:
    ids = keep_many(database, 3)
    embedding = by_letters(database, server)
    server.going.clear()

    working = asyncio.create_task(embedding.step())
    await asyncio.to_thread(server.asked.acquire)
    forget(database, ids[1])
    server.going.set()
    await working

    assert [passage_id for passage_id, _ in stored(database)] == [ids[0], ids[2]]
    assert embedding.pending() == 0


async def test_two_processes_at_once_leave_one_vector_each(
    tmp_path: Path, database: Database, server: EmbeddingServer
) -> None:
    ids = keep_many(database, 200)
    other = Database(tmp_path / "sestet.db")

    await asyncio.gather(by_letters(database, server).catch_up(), by_letters(other, server).catch_up())
    other.close()

    assert [passage_id for passage_id, _ in stored(database)] == ids


async def test_one_text_that_a_server_does_not_take_keeps_no_other_from_its_vector(
    database: Database, server: EmbeddingServer
) -> None:
    ids = keep_many(database, 10)
    bad = keep(database, "poison")
    ids += keep_many(database, 10)

    def answer(texts: Sequence[str]) -> Answer:
        return Answer(400, "too long") if "poison" in texts else as_answer([letters(text) for text in texts])

    server.answer = answer
    embedding = by_letters(database, server)

    assert await embedding.catch_up() == 20

    assert [passage_id for passage_id, _ in stored(database)] == ids
    assert "it says: too long" in embedding.refused[bad]
    assert embedding.pending() == 0
    number = len(server.requests)
    assert await embedding.catch_up() == 0
    assert len(server.requests) == number
    forget(database, bad)
    keep(database, "a late egg")
    assert await embedding.catch_up() == 1


async def test_a_server_that_refuses_everything_stops_the_work_at_once(
    database: Database, server: EmbeddingServer
) -> None:
    keep_many(database, 100)
    server.answer = lambda texts: Answer(401)

    with pytest.raises(EmbeddingError, match="refuses the key"):
        await by_letters(database, server).catch_up()

    assert len(server.requests) == 1
    assert stored(database) == []


async def test_the_background_works_until_all_is_done_and_closing_does_not_wait_for_a_server_that_hangs(
    database: Database, server: EmbeddingServer
) -> None:
    keep_many(database, 100)
    embedding = by_letters(database, server)

    embedding.wake()
    for _ in range(2):
        await asyncio.to_thread(server.asked.acquire)
    server.going.clear()
    keep(database, "late")
    embedding.wake()
    await asyncio.to_thread(server.asked.acquire)
    await embedding.close()
    assert embedding.pending() == 1


async def test_what_was_saved_a_moment_ago_is_found_by_its_meaning(database: Database) -> None:
    embedding = EmbeddingIndex(VectorStore(database), LocalEmbedder())
    bread = keep(database, "Bake the loaf at 230 degrees.")

    near = await embedding.nearest("how hot is the oven", 5, lambda collection, session_id: True)

    assert [found.passage_id for found in near] == [bread]


async def test_a_reader_of_bytes_finds_nothing_of_a_vector_whose_passage_is_gone(
    tmp_path: Path, database: Database, server: EmbeddingServer
) -> None:
    passage_id = keep(database, "a bad cafe")
    await by_letters(database, server).catch_up()
    ((vector,),) = database.execute("SELECT vector FROM vectors")

    forget(database, passage_id)

    connection = sqlite3.connect(tmp_path / "sestet.db")
    assert connection.execute("SELECT count(*) FROM vectors WHERE vector = ?", (vector,)).fetchone() == (0,)
    connection.close()


def _requests(server: EmbeddingServer) -> list[tuple[dict[str, list[str]], dict[str, str]]]:
    return server.requests  # pyright: ignore[reportReturnType] - the body is the one that the embedder sends
