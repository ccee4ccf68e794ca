"""What a person sees of a call before they approve it."""

import io
import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from sestet.cli.show.question import print_approval, print_grants
from sestet.core.clean import clean, reveal
from sestet.core.preview import Changes, DiffLine
from sestet.core.record import replace, to_json
from sestet.core.schema import JsonObject, object_schema
from sestet.core.tool import Effect, Tool
from sestet.storage.approvals import Grant, Question, canonical

ANY_TEXT = st.text(
    st.characters(codec=None) | st.sampled_from("\x1b\u202e\u200b\u3164\t\n<U+0123456789ABCDEF>")
)


def question(arguments: JsonObject, *, pattern: JsonObject | None = None, sources: str = "[]") -> Question:
    now = time.time()
    bound = canonical(arguments if pattern is None else pattern)
    head = ("t1-d1c1", "s1", "t1", "operator", "fs_write", canonical(arguments), bound, "digest")
    state = ("pending", now, now + 60, "once")
    return Question(*head, "it is guarded", sources, *state, "risk", untrusted=1, private=0)


def card(asked: Question, tool: Tool | None = None, *, width: int = 80, whole: bool = False) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    print_approval(console, asked, tool, whole=whole)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def tool(effect: Effect = "local", targets: tuple[str, ...] = ("path",), standing: str = "") -> Tool:
    parameters = object_schema({"path": {"type": "string"}, "times": {"type": "integer"}})
    return Tool("fs_write", "", parameters, risk="guarded", effect=effect, targets=targets, standing=standing)


def test_a_card_says_who_wants_what_why_and_what_was_read_before() -> None:
    asked = question(
        {"path": "a.txt", "times": 2}, pattern={"path": "a.txt"}, sources='["browser_fetch of navigator"]'
    )
    *lines, last = card(asked, tool())
    assert lines == [
        "  ┌ operator wants to call fs_write",
        '  │ path = "a.txt"',
        "  │ times = 2",
        "  │ why: it is guarded",
        "  │ read before: browser_fetch of navigator",
        '  │ a longer yes: would let operator call fs_write with path="a.txt", with ANY ',
        "  ┊   times without asking",
        "  │ not covered: calls after private text was read",
    ]
    assert re.fullmatch(r"  └ open until \d{4}-\d\d-\d\d \d\d:\d\d · t1-d1c1", last)


def with_changes(asked: Question, changes: Changes) -> Question:
    return replace(asked, changes=to_json(changes).decode())


def test_a_card_shows_a_diff_below_the_arguments_and_leaves_long_texts_to_it() -> None:
    asked = question({"path": "a.txt", "text": "new\n" * 20}, pattern={"path": "a.txt"})
    changes = Changes((DiffLine("@", "from line 1"), DiffLine("-", "o\u202eld"), DiffLine("+", "new")), 7)

    lines = card(with_changes(asked, changes), tool())

    assert lines[1:8] == [
        '  │ path = "a.txt"',
        "  │ text = 80 characters: see the diff",
        "  │   @ from line 1",
        "  │   - o<U+202E>ld",
        "  │   + new",
        "  │   … 7 more lines",
        "  │ why: it is guarded",
    ]
    assert "  │   new" in card(with_changes(asked, changes), tool(), whole=True)


def test_added_lines_are_green_and_removed_lines_are_red() -> None:
    console = Console(file=io.StringIO(), width=80, color_system="standard", force_terminal=True)
    changes = Changes((DiffLine("-", "old"), DiffLine("+", "new")))

    print_approval(console, with_changes(question({}), changes), tool())

    assert isinstance(console.file, io.StringIO)
    assert "\x1b[31m- old" in console.file.getvalue()
    assert "\x1b[32m+ new" in console.file.getvalue()


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("a\u202eb", "a<U+202E>b"),
        ("a\u200bb", "a<U+200B>b"),
        ("a\x1b[31mb", "a<U+001B>[31mb"),
        ("a\U000e0041b", "a<U+E0041>b"),
        ("a\u3164b", "a<U+3164>b"),
        ("a\ufe0fb", "a<U+FE0F>b"),
        ("a\u00a0b", "a<U+00A0>b"),
        ("a\rb", "a<U+000D>b"),
        ("a<U+202E>b", "a<U+003C>U+202E>b"),
        ("naïve 日本語 עברית <b> U+202E", "naïve 日本語 עברית <b> U+202E"),
    ],
)
def test_an_invisible_character_is_written_out(hidden: str, shown: str) -> None:
    assert reveal(hidden) == shown
    assert card(question({"path": hidden}))[1] == f'  │ path = "{shown}"'
    assert card(question({"path": [hidden]}))[1].replace("\\u001b", "<U+001B>").replace(
        "\\r", "<U+000D>"
    ) == (f'  │ path = ["{shown}"]')


@given(ANY_TEXT, ANY_TEXT)
def test_two_texts_that_differ_are_shown_differently_and_harmlessly(one: str, other: str) -> None:
    assert (reveal(one) == reveal(other)) is (one == other)
    assert clean(reveal(one)) == reveal(one)


@given(ANY_TEXT, st.integers(30, 90))
def test_no_argument_can_pass_for_a_part_of_the_card(text: str, width: int) -> None:
    first, *middle, last = card(question({"text": text}), width=width, whole=True)
    assert first.startswith("  ┌ operator")
    assert last.startswith("  └ open until")
    assert all(line.startswith(("  │ ", "  ┊ ")) for line in middle)
    assert all(cell_len(line) <= width for line in middle)
    ours = [line for line in middle if line.startswith(("  │ text =", "  │ why:", "  │ read before:"))]
    assert len(ours) == 3


def test_a_text_of_several_lines_is_shown_line_by_line_and_a_broken_line_by_another_bar() -> None:
    lines = card(question({"text": "one\ntwo " + "x" * 30}), width=30)
    assert lines[1:5] == ["  │ text =", "  │   one", "  │   two " + "x" * 20, "  ┊   " + "x" * 10]


def test_a_long_argument_is_cut_loudly_and_shown_whole_on_demand() -> None:
    asked = question({"text": "\n".join(map(str, range(1_000)))})
    cut, whole = card(asked), card(asked, whole=True)
    assert len(cut) < 40
    assert any("more characters are not shown here" in line for line in cut)
    assert "  │   999" in whole
    assert "  │   999" not in cut


def test_a_long_target_does_not_push_the_arguments_off_the_screen() -> None:
    asked = question({"path": "x" * 100_000}, sources=json.dumps(["y" * 100_000]))
    cut, whole = card(asked, tool()), card(asked, tool(), whole=True)
    assert len(cut) < 100
    assert sum("more characters are not shown here" in line for line in cut) == 3
    assert sum(line.count("x") for line in whole) >= 200_000


@pytest.mark.parametrize(
    ("asked", "about", "said"),
    [
        (question({"text": "x"}, pattern={}), tool(targets=()), "call fs_write with exactly no arguments"),
        (question({"path": "a"}), tool(targets=()), 'call fs_write with exactly path="a"'),
        (question({"times": 2}, pattern={}), tool(), "call fs_write without path, with ANY times"),
        (question({"path": "a"}), tool(standing="write ANY text to {path}"), 'write ANY text to "a"'),
        (question({"path": "a\u202e"}), tool(standing="write to {path}"), 'write to "a<U+202E>"'),
        (
            question({"path": "a", "times": 2}, pattern={"path": "a", "times": 2}),
            replace(tool(standing="write to {path}"), binds=("times",)),
            'write to "a", with times=2,',
        ),
        # The call gives no value for the slot, so the tool's words would not be true.
        (
            question({}, pattern={}),
            tool(standing="write to {path}"),
            "call fs_write without path, with ANY times",
        ),
    ],
)
def test_a_standing_answer_says_what_it_would_cover(asked: Question, about: Tool, said: str) -> None:
    assert f"  │ a longer yes: would let operator {said} without asking" in card(asked, about, width=120)


def test_where_no_standing_answer_is_possible_none_is_described() -> None:
    assert not any("a longer yes" in line for line in card(question({"path": "a"}), None))


def test_standing_answers_are_listed_with_what_they_are_bound_to() -> None:
    console = Console(file=io.StringIO(), width=100, color_system=None, legacy_windows=False)
    targets = json.dumps({"to": "bob\u202e"})
    print_grants(
        console,
        [
            Grant(3, "operator", "exec_mail", targets, "s1", 0.0, "target", 1, 1),
            Grant(4, "a", "b", "{}", "", 0.0, "risk", 0, 0),
        ],
    )
    assert isinstance(console.file, io.StringIO)
    first, second, limit = console.file.getvalue().splitlines()
    assert '3  operator · exec_mail  to="bob<U+202E>"  session s1' in first
    assert second.split()[:6] == ["4", "a", "·", "b", "no", "target"]
    assert limit == "   not covered: calls after untrusted or private text was read"
