"""The features of a request."""

import pytest

from sestet.models.router.features import features, strip_courtesy


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("open https://example.org/a?b=c", "<url>"),
        ("look at example.org", "<domain>"),
        ("write to jo@example.net", "<email>"),
        ("delete ~/old/drafts", "<path>"),
        ("what is in src/main", "<path>"),
        ("read notes.txt", "<file>"),
        ("remove every *.log", "<file>"),
        ("send $5", "<amount>"),
        ("send 2,5 usdc", "<amount>"),
        ("who owns 0x52908400098527886E0F", "<address>"),
        ("ls -la", "<option>"),
        ("wake me at 7:30", "<time>"),
        ("12*12", "<sum>"),
        ("the first 20 of them", "<number>"),
        ('say "cheese"', "<quoted>"),
        ("where is it", "<question>"),
        ("you have it?", "<question>"),
    ],
)
def test_a_form_is_a_feature(text: str, pattern: str) -> None:
    assert pattern in features(text)


def test_what_has_a_form_is_not_a_word_as_well() -> None:
    assert "notes" not in features("read notes.txt")


def test_words_know_their_neighbours_and_their_parts() -> None:
    found = features("Find passages")
    assert {"find", "passages", "^ find", "find passages", "passages $", "~_find", "~ssage"} <= found.keys()


def test_a_typo_shares_parts_with_the_word() -> None:
    right, wrong = features("remember"), features("remeber")
    assert {name for name in right.keys() & wrong.keys() if name.startswith("~")}


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("Hey, please read a.txt for me, thanks!", "read a.txt"),
        ("thank you", "thank you"),
        ("hello there", "hello there"),
        ("can you keep a secret?", "can you keep a secret?"),
        ("what\u2019s new", "what's new"),
    ],
)
def test_courtesy_is_stripped_where_something_is_left(text: str, stripped: str) -> None:
    assert strip_courtesy(text) == stripped
