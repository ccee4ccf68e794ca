"""Facts that the person asked to remember, and queries with any words."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.label import CLEAN, Origin
from sestet.storage.database import Database
from sestet.storage.memories import MemoryIndex, MemoryStore

ORIGIN = Origin("s", "t", CLEAN)


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[MemoryStore]:
    database = Database(tmp_path / "sestet.db")
    yield MemoryStore(database)
    database.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    """One store for all the examples of a property."""
    database = Database(tmp_path_factory.mktemp("memories") / "sestet.db")
    store = MemoryStore(database)
    store.add('NEAR AND OR NOT "quoted" text: *', ORIGIN)
    yield store
    database.close()


def test_a_fact_keeps_the_person_s_words_and_its_turn(memories: MemoryStore) -> None:
    row = memories.add("I like tea 🫖", Origin("s1", "t1", CLEAN))

    assert row[1:4] == ("I like tea 🫖", "s1", "t1")
    assert memories.latest(5) == [row]


def test_a_question_finds_the_facts_that_share_a_telling_word(memories: MemoryStore) -> None:
    for text in ("I like tea", "My sister lives in Oslo", "I have a cat"):
        memories.add(text, ORIGIN)

    assert _texts(memories, "what do i like?") == ["I like tea"]
    assert _texts(memories, "Where does my sister live?") == ["My sister lives in Oslo"]
    assert _texts(memories, "do I have a dog?") == []


def test_the_fact_with_more_of_the_words_comes_first_and_then_the_newer(memories: MemoryStore) -> None:
    for text in ("green tea", "black tea", "black coffee", "plain water"):
        memories.add(text, ORIGIN)

    assert _texts(memories, "black tea")[0] == "black tea"
    assert _texts(memories, "black") == ["black coffee", "black tea"]
    assert len(memories.find("black tea", 2)) == 2


def test_a_fact_is_found_however_often_it_has_changed(memories: MemoryStore) -> None:
    row = memories.add("my weight is 200", ORIGIN)
    for weight in range(199, 60, -1):
        row = memories.add(f"my weight is {weight}", ORIGIN, supersedes=[row.id])

    assert _texts(memories, "what is my weight?") == ["my weight is 61"]


def test_a_question_of_common_words_finds_the_latest(memories: MemoryStore) -> None:
    for text in ("one", "two", "three"):
        memories.add(text, ORIGIN)

    assert [row.text for row in memories.find("what do you know about me?", 2)] == ["three", "two"]


def test_facts_are_still_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    first = Database(tmp_path / "again.db")
    MemoryStore(first).add("I like tea", ORIGIN)
    first.close()

    second = Database(tmp_path / "again.db")
    assert _texts(MemoryStore(second), "tea") == ["I like tea"]
    second.close()


_SYNTAX = [
    '"',
    "'",
    "*",
    "^",
    "(",
    ")",
    "{",
    "}",
    ":",
    "-",
    "+",
    ",",
    "NEAR",
    "AND",
    "OR",
    "NOT",
    "text",
    " ",
]


@given(st.text() | st.lists(st.sampled_from(_SYNTAX) | st.text(max_size=3)).map("".join))
def test_no_question_is_ever_malformed(shared: MemoryStore, query: str) -> None:
    assert len(shared.find(query, 5)) <= 1


def _texts(memories: MemoryStore, query: str) -> list[str]:
    return [row.text for row in memories.find(query, 50)]


def test_the_latest_rows_of_a_kind_are_found_behind_many_of_another(memories: MemoryStore) -> None:
    database = memories._database  # pyright: ignore[reportPrivateUsage] - no fixture gives it
    database.execute(
        """INSERT INTO reflections (text, session_id, turn_id, created_at, level)
           VALUES ('an old summary', 's', 't', 0, 1)"""
    )
    first = memories.add("first", ORIGIN)
    for number in range(20):
        memories.add(f"fact {number}", ORIGIN)
    memories.rewrite(first.id, "first, changed", CLEAN, "you")

    index = MemoryIndex(database)
    assert [match.text for match in index.latest(3, ("reflections",))] == ["an old summary"]
    assert [match.text for match in index.latest(2)] == ["first, changed", "fact 19"]
