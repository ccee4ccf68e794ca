"""Knowledge entries: versions, search, and queries with any words."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.label import CLEAN, Label, Origin
from sestet.storage.database import Database
from sestet.storage.full_text import match_any
from sestet.storage.knowledge import KnowledgeStore

ORIGIN = Origin("s", "t", CLEAN)


@pytest.fixture
def knowledge(tmp_path: Path) -> Iterator[KnowledgeStore]:
    database = Database(tmp_path / "sestet.db")
    yield KnowledgeStore(database)
    database.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeStore]:
    """One store for all examples of a property, with words that are also FTS5 operators."""
    database = Database(tmp_path_factory.mktemp("knowledge") / "sestet.db")
    store = KnowledgeStore(database)
    store.save("NEAR AND OR NOT", 'key: content* "quoted" ^col {a b}', "note", ORIGIN)
    yield store
    database.close()


def test_an_entry_keeps_its_key_and_where_its_content_came_from(knowledge: KnowledgeStore) -> None:
    first = knowledge.save("Hours", "until six", "note", Origin("s1", "t1", CLEAN))
    same = knowledge.save("Hours", "until six", "note", Origin("s2", "t2", CLEAN))
    changed = knowledge.save("HOURS", "until seven", "fact", Origin("s3", "t3", CLEAN))

    assert first == same
    assert first.created_at == first.updated_at
    assert changed[:8] == (first.id, "Hours", "until seven", "fact", (), 2, "s3", "t3")
    assert changed.created_at == first.created_at
    assert changed.updated_at != first.updated_at


def test_a_new_version_keeps_category_and_tags_unless_others_are_given(knowledge: KnowledgeStore) -> None:
    knowledge.save("Hours", "until six", "fact", ORIGIN, ["office", "shop"])

    kept = knowledge.save("Hours", "until seven", None, ORIGIN)
    changed = knowledge.save("Hours", "until eight", "procedure", ORIGIN, [])

    assert (kept.content, kept.category, kept.tags) == ("until seven", "fact", ("office", "shop"))
    assert (changed.category, changed.tags) == ("procedure", ())


def test_untrusted_text_beside_an_entry_does_not_get_its_category_and_tags(knowledge: KnowledgeStore) -> None:
    knowledge.save("Hours", "until six", "fact", ORIGIN, ["office"])
    knowledge.save("Hours", "never open", None, Origin("s", "t", Label(untrusted=True)))

    (beside,) = [row for row in knowledge.latest(5) if row.label.untrusted]
    assert (beside.key, beside.category, beside.tags) == ("Hours (untrusted)", "note", ())


def test_a_changed_entry_is_found_by_its_new_words_alone(knowledge: KnowledgeStore) -> None:
    knowledge.save("Hours", "until six", "note", ORIGIN)
    knowledge.save("Hours", "until seven", "note", ORIGIN)

    assert knowledge.search("six", 5) == []
    assert [hit.row.content for hit in knowledge.search("seven", 5)] == ["until seven"]


def test_words_are_found_in_other_forms_cases_and_accents(knowledge: KnowledgeStore) -> None:
    knowledge.save("Café", "Refunds are paid to the Straße", "note", ORIGIN)

    for query in ("refunded", "REFUND", "cafe", "Straße", "straße", "what is a refund?"):
        assert [hit.row.key for hit in knowledge.search(query, 5)] == ["Café"], query
    assert knowledge.search("tea", 5) == []


def test_the_best_match_comes_first_and_a_title_counts_more(knowledge: KnowledgeStore) -> None:
    knowledge.save("Other", "a refund in passing, among many other things that are said", "note", ORIGIN)
    knowledge.save("Refund", "how it is done", "note", ORIGIN)
    knowledge.save("Third", "a refund of a fee", "note", ORIGIN)

    found = knowledge.search("refund fee", 2)

    assert [hit.row.key for hit in found] == ["Third", "Refund"]
    assert found[0].score > found[1].score > 0


def test_a_query_of_common_words_finds_the_latest(knowledge: KnowledgeStore) -> None:
    for key in ("a", "b", "c"):
        knowledge.save(key, "text", "note", ORIGIN)
    knowledge.save("a", "new text", "note", ORIGIN)

    assert [hit.row.key for hit in knowledge.search("What do you KNOW?", 2)] == ["a", "c"]


_SYNTAX = ['"', "'", "*", "^", "(", ")", "{", "}", ":", "-", "+", ",", "NEAR", "AND", "OR", "NOT", "key", " "]


@given(st.text() | st.lists(st.sampled_from(_SYNTAX) | st.text(max_size=3)).map("".join))
def test_no_query_is_ever_malformed(shared: KnowledgeStore, query: str) -> None:
    assert len(shared.search(query, 5)) <= 1


@given(st.text())
def test_an_expression_holds_nothing_but_quoted_words(query: str) -> None:
    words = match_any(query).split(" OR ") if match_any(query) else []

    assert all(word[0] == word[-1] == '"' and word.count('"') == 2 for word in words)
    assert len(set(words)) == len(words)


def test_every_version_is_kept_and_can_be_made_the_present_one(knowledge: KnowledgeStore) -> None:
    for content in ("until six", "until seven", "until eight"):
        knowledge.save("Hours", content, "note", Origin("s", content, CLEAN), ["shop"])

    back = knowledge.restore("hours", 1)
    assert back is not None
    assert (back.content, back.version, back.turn_id) == ("until six", 1, "until six")
    assert [hit.row.content for hit in knowledge.search("six", 5)] == ["until six"]
    assert knowledge.search("eight", 5) == []

    knowledge.save("Hours", "until nine", "note", ORIGIN, ["shop"])
    versions = [(v.version, v.previous, v.content) for v in knowledge.history("HOURS")]
    assert versions == [
        (4, 1, "until nine"),
        (3, 2, "until eight"),
        (2, 1, "until seven"),
        (1, None, "until six"),
    ]
    assert knowledge.restore("Hours", 5) is None
    assert knowledge.restore("Nobody", 1) is None


def test_a_version_comes_back_with_its_own_label(knowledge: KnowledgeStore) -> None:
    page = Label(untrusted=True, sources=("a page",))
    knowledge.save("Hours", "until six", "note", Origin("s", "t", page))
    knowledge.save("Hours", "until seven", "note", ORIGIN)

    restored = knowledge.restore("Hours", 1)

    assert restored is not None
    assert restored.label == page


def test_an_entry_is_found_by_its_tags(knowledge: KnowledgeStore) -> None:
    knowledge.save("Hours", "until six", "note", ORIGIN, ["shop", "berlin", "shop"])
    knowledge.save("Fees", "none", "note", ORIGIN)

    assert [hit.row.tags for hit in knowledge.search("berlin", 5)] == [("shop", "berlin")]
    assert [row.key for row in knowledge.latest(5, tag="shop")] == ["Hours"]
    assert len(knowledge.latest(5)) == 2


def test_what_is_forgotten_leaves_no_version_no_passage_and_no_vector(tmp_path: Path) -> None:
    database = Database(tmp_path / "forget.db")
    knowledge = KnowledgeStore(database)
    knowledge.save("Hours", "until six", "note", ORIGIN)
    knowledge.save("Hours", "until seven", "note", ORIGIN)
    database.execute("INSERT INTO vectors SELECT id, 'space', x'00' FROM passages")

    assert knowledge.forget("HOURS")

    for table in ("knowledge", "knowledge_versions", "passages", "vectors"):
        assert database.execute(f"SELECT count(*) FROM {table}").only() == (0,), table  # noqa: S608 - above
    assert knowledge.search("seven", 5) == []
    assert not knowledge.forget("Hours")
    database.close()
