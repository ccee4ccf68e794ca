"""Stems, dates and durations."""

from datetime import datetime

import pytest

from sestet.core.words import day, duration, ended, stem


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


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.05, "0.05 seconds"),
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (90, "1 minute 30 seconds"),
        (3_599.7, "1 hour"),
        (3_661, "1 hour 1 minute"),
        (86_400, "1 day"),
        (2 * 86_400 + 3_600 * 5, "2 days 5 hours"),
    ],
)
def test_a_duration_is_written_in_its_two_largest_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("it failed", "it failed."), ("it failed.", "it failed."), ("are you online?", "are you online?")],
)
def test_a_sentence_ends_once(text: str, sentence: str) -> None:
    assert ended(text) == sentence
