"""Searches by words among so many rows that not all of them are ranked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sestet.storage.database import Database
from sestet.storage.memories import MemoryIndex, MemoryStore
from sestet.storage.passages import PassageStore, SearchScope
from sestet.storage.word_search import WordSearch

ROWS = 5_000


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = Database(tmp_path_factory.mktemp("words") / "sestet.db")
    with database.transaction():
        for number in range(ROWS):
            text = f"my friend number {number} has a {'house' if number % 2 else 'boat'}"
            _tell(database, f"{text} in Narvik" if number == 10 else text)
        _tell(database, "the piano of my friend is a Steinway")
        for number in range(300):
            _tell(database, f"nothing else {number}")
        database.execute(
            """INSERT INTO knowledge (key, content, category, session_id, turn_id, created_at, updated_at)
               VALUES ('friend', 'the house of a friend', '', '', '', 0, 0)"""
        )
    yield database
    database.close()


def _tell(database: Database, text: str) -> None:
    database.execute(
        "INSERT INTO memories (text, session_id, turn_id, created_at) VALUES (?, 's', 't', 0)", (text,)
    )


def _found(database: Database, query: str, limit: int = 5) -> list[str]:
    return [match.text for match in MemoryIndex(database).find(query, limit)]


def test_a_rare_word_finds_an_old_row_among_thousands_with_a_frequent_one(database: Database) -> None:
    assert "in Narvik" in _found(database, "which friend is in Narvik?")[0]
    assert _found(database, "my friend's piano")[0] == "the piano of my friend is a Steinway"


def test_rows_with_several_frequent_words_come_before_newer_rows_with_one(database: Database) -> None:
    assert all("friend" in text and "house" in text for text in _found(database, "friends with houses", 30))


def test_of_equal_rows_the_newest_come_first(database: Database) -> None:
    first, second = _found(database, "boat", 2)
    assert (f"number {ROWS - 2} " in first, f"number {ROWS - 4} " in second) == (True, True)


def test_few_rows_are_read_for_a_word_that_stands_in_all_of_them(database: Database) -> None:
    hits = WordSearch(database, "remembered_index").candidates(("friend", "house", "Narvik"))
    assert hits is not None
    assert len(hits.rows) < ROWS / 10
    assert hits.weights["Narvik"] > hits.weights["house"] > 0


def test_sqlite_ranks_few_hits_itself(database: Database) -> None:
    assert WordSearch(database, "remembered_index").candidates(("piano", "Narvik")) is None


def test_a_replaced_fact_is_not_found_among_many(database: Database) -> None:
    memories = MemoryStore(database)
    (newest,) = (row.id for row in memories.find("boat", 1))
    database.execute("INSERT INTO superseded VALUES (?, 1, 0)", (newest,))
    try:
        assert newest not in {row.id for row in memories.find("boat", 50)}
    finally:
        memories.restore(newest)


def test_a_scope_is_searched_whatever_fills_the_rest(database: Database) -> None:
    """Facts are passages too; a search of knowledge must not end with the thousands of facts before it."""
    store, scope = PassageStore(database), SearchScope(("knowledge",))
    found = store.match(("friend", "house"), scope, 5)
    assert [row.title for row in store.get(match.passage_id for match in found).values()] == ["friend"]


def test_an_older_entry_is_found_behind_thousands_of_newer_facts(tmp_path: Path) -> None:
    database = Database(tmp_path / "sestet.db")
    with database.transaction():
        database.execute(
            """INSERT INTO knowledge (key, content, category, session_id, turn_id, created_at, updated_at)
               VALUES ('friend', 'the house of a friend', '', '', '', 0, 0)"""
        )
        for number in range(2_000):
            _tell(database, f"my friend {number} has a house")
    found = PassageStore(database).match(("friend", "house"), SearchScope(("knowledge",)), 5)
    database.close()
    assert len(found) == 1
