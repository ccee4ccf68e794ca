"""Stems and dates."""

from datetime import datetime

import pytest

from sestet.core.words import day, stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("note", "Noted"),
        ("story", "stories"),
        ("cookie", "cookies"),
        ("tie", "ties"),
        ("like", "liking"),
        ("bus", "bus's"),
    ],
)
def test_two_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["red", "see", "sing", "yes"])
def test_a_short_word_keeps_its_letters(word: str) -> None:
    assert stem(word) == word


def test_a_day_is_written_as_it_is_where_the_person_is() -> None:
    assert day(datetime(2026, 11, 15, 0, 0, 1).timestamp()) == "2026-11-15"
    assert day(datetime(2026, 11, 15, 23, 59, 59).timestamp()) == "2026-11-15"
