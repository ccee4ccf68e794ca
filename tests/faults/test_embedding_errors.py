"""A storage error at every statement of background embedding: no vector is lost or stored twice."""

import sqlite3
from pathlib import Path

import pytest

import sestet
from sestet.core.errors import StorageError
from sestet.core.event import TurnFinished
from sestet.services.embedding.index import EmbeddingIndex
from sestet.services.embedding.local_embedder import LocalEmbedder
from sestet.storage.database import Database
from sestet.storage.vectors import VectorStore
from tests.faults.opened import read_all
from tests.faults.test_io_errors import BadDisk, Mode, says_why
from tests.faults.watched import watched_connections
from tests.services.passages import keep


@pytest.mark.parametrize("mode", ["once", "reported late"])
async def test_an_error_at_any_statement_is_said_and_the_work_is_finished_afterwards(
    tmp_path: Path, mode: Mode
) -> None:
    for number in range(1, 1_000):
        disk = BadDisk(mode)
        with watched_connections(disk.watch):
            database = Database(tmp_path / f"{number}.db")
            ids = [keep(database, f"passage {count}") for count in range(3)]
            embedding = EmbeddingIndex(VectorStore(database), LocalEmbedder())
            disk.arm(number)
            try:
                await embedding.catch_up()
            except StorageError as error:
                says_why(error)
            else:
                assert not disk.has_failed
            disk.mend()
            await embedding.catch_up()
            found = await embedding.nearest("passage", 9, lambda collection, session_id: True)
        rows = database.execute("SELECT passage_id FROM vectors ORDER BY passage_id")
        database.close()
        assert [passage_id for (passage_id,) in rows] == ids
        assert {near.passage_id for near in found} == set(ids)
        if not disk.has_failed:
            assert number > 5
            return
    pytest.fail("the work has no end of statements")


async def test_a_disk_that_fails_behind_the_conversation_does_not_reach_it(tmp_path: Path) -> None:
    async with sestet.open({}, home=tmp_path) as app:
        await read_all(app.run_turn("s", "save this knowledge: tea is at four"))

    with watched_connections(_no_vectors):
        async with sestet.open({}, home=tmp_path) as app:
            events = await read_all(app.run_turn("s", "hello"))

    assert events[-1].kind == TurnFinished.kind


def _no_vectors(when: str, sql: str, parameters: object) -> None:
    if "vectors" in sql and sql.startswith(("SELECT", "INSERT")):
        raise sqlite3.OperationalError("disk I/O error")
