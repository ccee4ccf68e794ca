"""The numbers of passages and vectors, which triggers keep."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sestet.core.label import CLEAN, Origin
from sestet.storage.database import Database
from sestet.storage.memories import MemoryStore
from sestet.storage.vectors import VectorStore

ORIGIN = Origin("s", "t", CLEAN)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "sestet.db")
    for text in ("one", "two", "three"):
        MemoryStore(database).add(text, ORIGIN)
    yield database
    database.close()


def _check(database: Database) -> tuple[int, int]:
    """The kept numbers for the spaces a and b, which must be those of the tables."""
    store = VectorStore(database)
    for space in ("a", "b"):
        (number,) = database.execute("SELECT count(*) FROM vectors WHERE space = ?", (space,)).only()
        (passages,) = database.execute("SELECT count(*) FROM passages").only()
        assert (store.count(space), store.count_missing(space)) == (number, passages - number)
    return store.count("a"), store.count("b")


def test_numbers_follow_new_replaced_and_deleted_vectors(database: Database) -> None:
    store = VectorStore(database)
    assert _check(database) == (0, 0)
    store.add("a", [(1, b"12345678"), (2, b"12345678"), (99, b"12345678")])
    assert _check(database) == (2, 0)
    store.add("a", [(2, b"87654321")])
    assert _check(database) == (2, 0)
    store.add("b", [(2, b"12345678"), (3, b"12345678")])
    assert _check(database) == (1, 2)
    MemoryStore(database).remove(3)
    assert _check(database) == (1, 1)
    MemoryStore(database).rewrite(1, "one, changed", CLEAN, "you")
    assert _check(database) == (0, 1)


def test_vectors_of_another_dimension_leave_the_space(database: Database) -> None:
    store = VectorStore(database)
    store.add("a", [(1, b"12345678"), (2, b"12345678")])
    store.add("a", [(3, b"1234")])
    assert _check(database) == (1, 0)
    assert [row.passage_id for row in store.page("a", 0, 10)] == [3]


def test_another_process_sees_the_numbers(database: Database) -> None:
    here = VectorStore(database)
    assert here.count_missing("a") == 3
    other = Database(database.path)
    VectorStore(other).add("a", [(1, b"1234")])
    other.close()
    assert here.count_missing("a") == 2


def test_a_transaction_that_is_rolled_back_counts_nothing(database: Database) -> None:
    def add_and_fail() -> None:
        with database.transaction():
            MemoryStore(database).add("four", ORIGIN)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        add_and_fail()
    assert VectorStore(database).count_missing("a") == 3


def test_each_change_of_a_space_is_told(database: Database) -> None:
    store = VectorStore(database)
    seen = [store.changes("a")]
    for work in (
        lambda: store.add("a", [(1, b"1234"), (2, b"1234")]),
        lambda: store.add("a", [(1, b"4321")]),
        lambda: store.add("b", [(2, b"1234")]),
        lambda: MemoryStore(database).remove(1),
    ):
        work()
        seen.append(store.changes("a"))
    assert len(set(seen)) == len(seen)
    MemoryStore(database).add("four", ORIGIN)
    assert store.changes("a") == seen[-1]
