"""Questions about the use of Sestet are answered with a command and a page, which both exist."""

import re
from pathlib import Path

import pytest

from sestet.cli.program import COMMANDS
from sestet.models.offline.howto import how_to
from sestet.models.offline.patterns import read_table

LINES = [str(entry["line"]) for entry in read_table("howto")["howto"]]
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("how do I make a backup?", "sestet backup FILE"),
        ("how do I delete a conversation?", "sestet sessions"),
        ("how can I stop you from asking?", "“a” always"),
        ("Is there a way to see what you changed?", "sestet undo"),
        ("how do I add a tool?", "sestet tools new"),
        ("how do I use you in a browser?", "sestet serve"),
        ("where do I find my settings?", "sestet config show"),
        ("what commands are there?", "/help"),
    ],
)
def test_a_question_about_the_use_is_answered_with_a_command(said: str, expected: str) -> None:
    assert expected in how_to(said)


@pytest.mark.parametrize(
    "said",
    [
        "how do I make pancakes?",
        "how do I reset my wifi password?",
        "how do I close the window?",
        "how do I start a conversation with a stranger?",
        "how do I clean my tools?",
        "how do I improve my skills?",
        "make a backup of notes.md",
        "I made a backup",
        f"how do I make a backup of {'a long list ' * 30}?",
    ],
)
def test_other_questions_are_left_to_others(said: str) -> None:
    assert how_to(said) == ""


def test_each_page_and_each_command_that_is_named_exists() -> None:
    pages = re.findall(r"`sestet docs ([\w-]+)`", " ".join(LINES))
    commands = set(re.findall(r"`sestet (\w+)", " ".join(LINES)))

    assert [page for page in pages if not (DOCS / f"{page}.md").is_file()] == []
    assert commands <= COMMANDS.keys()
