"""Where a request is cut, and where an "and" is just an "and"."""

import pytest

from sestet.models.router.splitting import Part, join_pieces, judge_pieces, where_to_look

OWNERS = {
    "read": "operator",
    "list": "operator",
    "pay": "vault",
    "plan": "planner",
    "what": "direct",
    "see": "navigator",
}


def judge(text: str) -> dict[str, float]:
    """By the first of the known words; half sure where none is known."""
    for word in text.lower().replace(",", " ").split():
        if word in OWNERS:
            return {OWNERS[word]: 0.99}
    return {"librarian": 0.55}


def split(text: str) -> tuple[Part, ...]:
    return join_pieces(text, judge_pieces(text, judge))


@pytest.mark.parametrize(
    "text",
    [
        "read a.txt and pay Jo",
        "read a.txt, then pay Jo",
        "Read a.txt. Pay Jo!",
        "read a.txt; afterwards pay Jo",
        "read a.txt and also please pay Jo",
        "read a.txt\npay Jo",
    ],
)
def test_parts_of_two_owners_are_told_apart(text: str) -> None:
    assert [part.agent for part in split(text)] == ["operator", "vault"]


@pytest.mark.parametrize(
    "text",
    [
        "read a.txt and b.txt",
        "read a.txt and list the folder",
        "read the salt and vinegar chapter",
        'read "plan, then pay" aloud',
        "read this to me: first plan, and then pay",
        "find and read a.txt",
        "read a.txt and wonder about it",
        "",
        "and",
        "read a.txt, ",
    ],
)
def test_a_request_for_one_owner_is_left_whole(text: str) -> None:
    assert split(text) == ()


def test_a_condition_stays_with_what_it_is_for() -> None:
    parts = split("read a.txt and if it is there, pay Jo")
    assert parts == (Part("read a.txt", "operator"), Part("if it is there, pay Jo", "vault"))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("when do we close? Look it up in the handbook.", "Look it up in the handbook."),
        ("who is that? please google it", "please google it"),
        ("read a.txt and look it up", ""),
        ("when do we close? list the files in this folder", ""),
        ("is it true?", ""),
    ],
)
def test_a_question_with_where_to_look_is_one_request(text: str, hint: str) -> None:
    assert where_to_look(text) == hint
    assert not hint or split(text) == ()


def test_neighbouring_pieces_of_one_owner_are_one_part() -> None:
    parts = split("read a.txt, list the folder and pay Jo")
    assert parts == (Part("read a.txt, list the folder", "operator"), Part("pay Jo", "vault"))


def test_a_piece_without_a_clear_owner_belongs_to_the_one_before() -> None:
    parts = split("read a.txt, summarise it, and pay Jo")
    assert [part.agent for part in parts] == ["operator", "vault"]
    assert "summarise it" in parts[0].text


def test_a_beginning_without_a_clear_owner_leaves_the_request_whole() -> None:
    assert split("find the thing and pay Jo") == ()
