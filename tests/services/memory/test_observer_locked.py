"""A paid reflection waits for a locked database, whenever the lock comes."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from sestet.core.label import CLEAN, Origin
from sestet.services.memory.observer import Observer, Thresholds
from sestet.services.memory.writers import Drafts, RuleWriter
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.locks import SessionLocks
from sestet.storage.observations import ObservationStore
from tests.faults.watched import When, watched_connections


class CountingWriter(RuleWriter):
    """Counts the reflections that it was asked for."""

    asked = 0

    async def reflect(self, texts: Sequence[str]) -> Drafts:
        self.asked += 1
        return await super().reflect(texts)


@pytest.mark.parametrize("first", [1, 2])
async def test_a_reflection_is_stored_when_the_lock_has_ended(tmp_path: Path, first: int) -> None:
    writer, begun = CountingWriter(), list[str]()
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)

    def watch(when: When, sql: str, parameters: Sequence[object]) -> None:
        if when == "before" and sql == "BEGIN IMMEDIATE" and writer.asked:
            begun.append(sql)
            if len(begun) == first:
                other.execute("BEGIN IMMEDIATE")
            elif len(begun) == first + 2:
                other.execute("ROLLBACK")

    with watched_connections(watch):
        database = Database(tmp_path / FILE_NAME)
    store, locks = ObservationStore(database), SessionLocks.beside(database.path)
    for number in range(3):
        store.add_observation(f"the person likes tea number {number}", Origin("s1", "t", CLEAN))
    watcher = Observer(database, locks, writer, Thresholds(10, 20, 5))

    assert await watcher.step()

    assert len(store.reflections(9)) == writer.asked == 1
    database.close()
    locks.close()
    other.close()
