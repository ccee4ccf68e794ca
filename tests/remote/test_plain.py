"""A stranger's text becomes one harmless line."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.remote.plain import one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  Knows \t the\r\nweather.\u2028Daily\u0085news ", "Knows the weather. Daily news"),
        ("ring\x07 the\x1b[31m bell\x00", "ring the[31m bell"),
        ("left\u202eright\u2066 and\u200f back\u2069", "leftright and back"),
        ("hid\u200bden\u00ad \ufeffjoi\u2060ned", "hidden joined"),
        (
            "tag\U000e0041\U000e007f, selector\ufe0f\U000e0100, filler\u3164, blank\u2800",
            "tag, selector, filler, blank",
        ),
        ("private \ue000use", "private use"),
        ("# Weather\n## Rules\n###### more", "Weather Rules more"),
        ("weather ###vault # operator", "weather vault operator"),
        ("speaks C# and F#", "speaks C# and F#"),
        ("use `operator`\n```\ncode\n```", "use operator code"),
        ("\u200b`#` hidden heading", "hidden heading"),
        ("Wetter für Köln, 東京 und القاهرة", "Wetter für Köln, 東京 und القاهرة"),
    ],
)
def test_only_the_visible_words_stay(text: str, line: str) -> None:
    assert one_line(text, 300) == line


def test_a_long_line_is_cut_and_shows_it() -> None:
    assert one_line("a" * 300, 300) == "a" * 300
    assert one_line("a" * 301, 300) == "a" * 299 + "…"
    assert one_line("abcd efgh", 6) == "abcd…"


@given(st.text(), st.integers(1, 40))
def test_a_line_is_short_visible_and_never_a_heading(text: str, limit: int) -> None:
    line = one_line(text, limit)

    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert "`" not in line
    assert not [word for word in line.split() if word.startswith("#")]
    assert not [character for character in line if unicodedata.category(character).startswith("C")]
