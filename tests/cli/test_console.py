"""Plain text at a terminal breaks between words; in a pipe it stays as it is."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from sestet.cli.show.console import fitted, print_table
from tests.cli.program import Home

FACT = "my grandmother keeps the spare key of the summer house " + "under the third pot from the left " * 3


def test_an_answer_breaks_between_words_at_a_terminal_and_not_in_a_pipe(home: Home) -> None:
    with home.terminal("ask", f"remember that {FACT}") as terminal:
        assert terminal.wait() == 0
        shown = terminal.raw.splitlines()
    piped = home.run("ask", f"remember that {FACT}").stdout

    said = " ".join(line for line in shown)
    assert FACT.strip() in said
    assert max(map(len, shown)) <= 100
    assert FACT.strip() in piped


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("short", ["short"]),
        ("two words and more", ["two words", "and more"]),
        ("a\n\ntwo words and more", ["a", "", "two words", "and more"]),
        ("/a/path/that/is/long stays", ["/a/path/that/is/long", "stays"]),
        (
            "```\ncode that is long\n```\nand prose again",
            ["```", "code that is long", "```", "and prose", "again"],
        ),
        ("    code that is long", ["    code that is long"]),
        ("  two words more", ["  two", "  words", "  more"]),
        ("| a table | with | cells |", ["| a table | with | cells |"]),
    ],
)
def test_only_prose_is_broken(text: str, lines: list[str]) -> None:
    assert fitted(text, 10).split("\n") == lines


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (
            40,
            [
                "tiny   98 MB   too small for work with",
                "               tools",
                "large  1.1 GB  the one to begin with",
            ],
        ),
        (
            34,
            [
                "tiny   98 MB  too small for work",
                "              with tools",
                "large  1.1 GB  the one to begin w…",
            ],
        ),
        (20, ["tiny   98 MB  too s…", "large  1.1 GB  the …"]),
        (10_000, ["tiny   98 MB   too small for work with tools", "large  1.1 GB  the one to begin with"]),
    ],
    ids=["breaks", "little room", "no room", "a pipe"],
)
def test_the_last_column_of_a_table_breaks_below_itself(width: int, lines: list[str]) -> None:
    console = Console(file=io.StringIO(), width=width)
    rows = [("tiny", "98 MB", "too small for work with tools"), ("large", "1.1 GB", "the one to begin with")]

    print_table(console, [[Text(cell) for cell in row] for row in rows])

    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == lines


def test_a_row_without_a_last_cell_breaks_the_one_before_it() -> None:
    console = Console(file=io.StringIO(), width=44)
    rows = [
        ("1", "big", "a server of your own at 127.0.0.1:18113 here", ""),
        ("2", "offline", "built in", "small"),
    ]

    print_table(console, [[Text(cell) for cell in row] for row in rows])

    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "1  big      a server of your own at",
        "            127.0.0.1:18113 here",
        "2  offline  built in  small",
    ]
