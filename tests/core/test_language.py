"""Stems: forms of one word are the same, and short words keep their letters."""

import pytest

from sestet.core.language import stem


@pytest.mark.parametrize(
    ("one", "other"),
    [("notes", "note"), ("Noted", "note"), ("stories", "story"), ("reading", "reads"), ("Anna's", "anna")],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["tea", "bed", "yes", "is"])
def test_a_short_word_keeps_its_letters(word: str) -> None:
    assert stem(word) == word
