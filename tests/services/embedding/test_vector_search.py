"""Vector search: the copy in memory always equals the table."""

import struct
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.services.backup import back_up
from sestet.services.embedding.vector_search import Near, VectorSearch
from sestet.services.restoring import open_restore
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.vectors import VectorStore
from tests.services.passages import forget, keep

SPACE = "test"
EAST, NORTH, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.8, 0.6)


def packed(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def anywhere(collection: str, session_id: str) -> bool:
    return True


class Table:
    """Passages with given vectors."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.store = VectorStore(database)

    def add(self, *vector: float, space: str = SPACE, collection: str = "documents") -> int:
        passage_id = keep(self.database, "text", collection=collection)
        self.store.add(space, [(passage_id, packed(*vector))])
        return passage_id


@pytest.fixture
def table(database: Database) -> Table:
    return Table(database)


def ids(found: list[Near]) -> list[int]:
    return [near.passage_id for near in found]


def test_the_nearest_comes_first_with_its_similarity(table: Table) -> None:
    north, between, east = table.add(*NORTH), table.add(*BETWEEN), table.add(*EAST)

    found = VectorSearch(table.store, SPACE).find(packed(*EAST), 3, -1, anywhere)

    assert ids(found) == [east, between, north]
    assert [near.similarity for near in found] == pytest.approx([1.0, 0.8, 0.0])


def test_what_is_below_the_floor_unwanted_or_of_another_space_is_left_out(table: Table) -> None:
    table.add(*NORTH)
    table.add(*EAST, space="another")
    table.add(*EAST, collection="knowledge")
    between = table.add(*BETWEEN)

    found = VectorSearch(table.store, SPACE).find(
        packed(*EAST), 9, 0.5, lambda collection, session_id: collection == "documents"
    )

    assert ids(found) == [between]


def test_equals_at_the_end_are_all_returned(table: Table) -> None:
    east = [table.add(*EAST) for _ in range(5)]
    table.add(*BETWEEN)

    assert ids(VectorSearch(table.store, SPACE).find(packed(*EAST), 2, -1, anywhere)) == east


def test_vectors_of_another_dimension_are_never_compared(table: Table) -> None:
    table.add(1.0, 0.0, 0.0)

    assert VectorSearch(table.store, SPACE).find(packed(*EAST), 2, -1, anywhere) == []


def test_an_empty_space_has_no_nearest(table: Table) -> None:
    assert VectorSearch(table.store, SPACE).find(packed(*EAST), 2, -1, anywhere) == []


def test_after_a_restore_the_same_number_is_another_passage(tmp_path: Path) -> None:
    found: list[float] = []
    for home, vector in (("running", EAST), ("other", NORTH)):
        with closing(Database(tmp_path / home / FILE_NAME)) as database:
            Table(database).add(*vector)
    back_up(tmp_path / "other", tmp_path / "copy.db")
    with closing(Database(tmp_path / "running" / FILE_NAME)) as database:
        vectors = VectorSearch(VectorStore(database), SPACE)
        found += [near.similarity for near in vectors.find(packed(*EAST), 1, -1, anywhere)]
        with open_restore(tmp_path / "running", tmp_path / "copy.db") as ready:
            ready.install()
        found += [near.similarity for near in vectors.find(packed(*EAST), 1, -1, anywhere)]

    assert found == [1.0, 0.0]


def test_what_another_process_adds_and_removes_is_seen(tmp_path: Path, table: Table) -> None:
    vectors = VectorSearch(table.store, SPACE)
    old = table.add(*EAST)
    assert ids(vectors.find(packed(*EAST), 5, -1, anywhere)) == [old]

    database = Database(tmp_path / "sestet.db")
    other = Table(database)
    new = other.add(*BETWEEN)
    assert ids(vectors.find(packed(*EAST), 5, -1, anywhere)) == [old, new]
    forget(database, old)
    assert ids(vectors.find(packed(*EAST), 5, -1, anywhere)) == [new]
    database.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    database = Database(tmp_path_factory.mktemp("nearest") / "sestet.db")
    yield Table(database)
    database.close()


@given(
    moves=st.lists(st.tuples(st.sampled_from(("add", "late", "forget")), st.integers(0, 30)), max_size=25),
    most_bytes=st.sampled_from((10**6, 40, 0)),
)
def test_after_any_changes_the_copy_answers_like_a_fresh_one(
    shared: Table, moves: list[tuple[str, int]], most_bytes: int
) -> None:
    shared.database.execute("DELETE FROM passages")
    vectors = VectorSearch(shared.store, SPACE, most_bytes)
    there: dict[int, tuple[float, float]] = {}
    bare: list[int] = []
    for move, number in moves:
        if move == "add":
            vector = (number / 30, 1 - number / 30)
            there[shared.add(*vector)] = vector
            bare.append(keep(shared.database, "waits for its vector"))
        elif move == "late" and bare:
            # An older passage may get its vector after a newer one.
            passage_id = bare.pop(number % len(bare))
            shared.store.add(SPACE, [(passage_id, packed(*EAST))])
            there[passage_id] = EAST
        elif there:
            passage_id = list(there)[number % len(there)]
            forget(shared.database, passage_id)
            del there[passage_id]

        found = vectors.find(packed(*EAST), 1_000, -1, anywhere)

        assert {near.passage_id for near in found} == set(there)
        assert all(near.similarity == pytest.approx(there[near.passage_id][0]) for near in found)
        assert all(first.similarity >= second.similarity for first, second in pairwise(found))
