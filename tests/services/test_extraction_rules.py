"""The rules find literal facts, and prefer no fact to a wrong one."""

import pytest

from sestet.services.extraction_rules import find_facts, find_lesson


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Ada works at Acme.", ("Ada", "works_at", "Acme")),
        ("Ada Lovelace works for the Royal Society", ("Ada Lovelace", "works_at", "Royal Society")),
        ("Ben lives in Berlin.", ("Ben", "lives_in", "Berlin")),
        ("The outage was caused by a full disk.", ("outage", "caused_by", "full disk")),
        ("The outage was fixed by a restart!", ("outage", "resolved_by", "restart")),
        ("Berlin is part of Germany.", ("Germany", "contains", "Berlin")),
        ("Python 3.11 depends on OpenSSL 3.0.", ("Python 3.11", "depends_on", "OpenSSL 3.0")),
        ("Ada is the manager of Ben.", ("Ada", "manager_of", "Ben")),
        ("Ben's manager is Ada.", ("Ada", "manager_of", "Ben")),
        ("Paris is the capital of France.", ("Paris", "capital_of", "France")),
        ("Tea   is similar\nto nothing.", None),
        ("Rye bread is similar to black bread.", ("Rye bread", "similar_to", "black bread")),
    ],
)
def test_a_plain_sentence_is_a_fact(text: str, fact: tuple[str, str, str] | None) -> None:
    assert [*find_facts(text)] == ([fact] if fact else [])


@pytest.mark.parametrize(
    "text",
    [
        "Ada does not work at Acme.",
        "Ada no longer works at Acme.",
        "Maybe Ada works at Acme.",
        "If Ada works at Acme we should ask her.",
        "Who works at Acme?",
        "She works at Acme.",
        "I work at Acme.",
        "Ada works at Acme and lives in Berlin.",
        "Ben said that Ada works at Acme.",
        "This was caused by a full disk.",
        "Tea is the best of all drinks.",
        "Ada is the name of a language.",
        "The one thing that works at night is the heater.",
        "What one sees in the long grey winter mornings works at Acme.",
        "",
        "works at",
        "…",
    ],
)
def test_a_sentence_that_says_something_else_is_left_alone(text: str) -> None:
    assert [*find_facts(text)] == []


def test_each_sentence_is_read_by_itself() -> None:
    text = "We met today; Ada works at Acme. Nobody knew. Ben lives in Ulm"

    assert [fact.subject for fact in find_facts(text)] == ["Ada", "Ben"]


def test_a_lesson_links_what_happened_with_what_helps_and_why() -> None:
    assert [*find_lesson("the build hangs", "clear the cache (because it is full)")] == [
        ("the build hangs", "resolved_by", "clear the cache"),
        ("the build hangs", "caused_by", "it is full"),
    ]
    assert [*find_lesson("the build hangs", "clear the cache")] == [
        ("the build hangs", "resolved_by", "clear the cache")
    ]
    assert [*find_lesson("the build hangs", "x" * 200)] == []
