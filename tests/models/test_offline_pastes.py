"""A paste of several lines: each line is answered or named, and a text of several lines stays one text."""

from pathlib import Path

import pytest

import sestet
from sestet.models.offline.pastes import are_requests, lines_of
from tests.models.workspace import enter_workspace


@pytest.mark.parametrize(
    ("paste", "expected", "unclear"),
    [
        (
            "list the files here\nflibber the wombat\nxyzzy plugh",
            "tea.md",
            ["flibber the wombat", "xyzzy plugh"],
        ),
        ("remember that I like tea\nfrobnicate\nwhat is 2+2?", "2+2 = 4", ["frobnicate"]),
        ("grault garply waldo\nwhat is 2+2?\nqux quux", "2+2 = 4", ["grault garply waldo", "qux quux"]),
        ("read tea.md\nwhat is 2+2?", "four minutes", []),
    ],
)
async def test_each_line_is_answered_or_named_as_not_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paste: str, expected: str, unclear: list[str]
) -> None:
    enter_workspace(tmp_path, {"tea.md": "four minutes\n"}, monkeypatch)

    async with sestet.open({}, home=tmp_path / "home") as app:
        answer = str(await app.ask(paste, "s1"))

    assert expected in answer
    assert ("I did not understand" in answer) == bool(unclear)
    assert all(f"“{line}”" in answer for line in unclear)


@pytest.mark.parametrize(
    "text",
    [
        "Dear team\nwe meet on Monday\nplease send me the report\nbest, Eva",
        "remember my shopping list\nmilk\neggs",
        "write a.txt with\nhello\nlist the files",
        "here is the list:\nmilk\nwhat is 2+2?",
        f"what is this?\n{'a word ' * 40}",
        "what is this?",
    ],
)
def test_a_text_of_several_lines_is_no_list_of_requests(text: str) -> None:
    assert not are_requests(lines_of(text))
