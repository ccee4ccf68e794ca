"""Conversations of newcomers: real tools in a folder of their own, and a grade for each reply."""

import json
from pathlib import Path

import pytest

from sestet.config import Settings
from sestet.core.errors import PersonError
from sestet.evals.figures import figures
from sestet.evals.newcomers import Newcomers, grade
from sestet.evals.runs import Run, RunLog
from sestet.evals.sets import NewcomerCase, read_newcomer_set
from sestet.evals.trial import carry_out, try_newcomers

CASE = NewcomerCase("where is tea?", "c1", (), (), right=("tea\\.md",), embarrassing=("secret",))


def write(file: Path, *rows: object) -> Path:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def files_below(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*"))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    first = [
        {"say": "list the files here", "right": ["tea\\.md"]},
        {"say": "read tea.md", "right": ["four minutes"]},
    ]
    second = [{"say": "list the files here", "right": ["milk\\.md"], "embarrassing": ["tea\\.md"]}]
    return write(
        tmp_path / "mine.jsonl",
        {"id": "first", "files": {"tea.md": "four minutes"}, "turns": first},
        {"id": "second", "files": {"shop/milk.md": "2 l", "milk.md": ""}, "turns": second},
    )


@pytest.mark.parametrize(
    ("reply", "honest", "verdict"),
    [
        ("it is in tea.md", False, "right"),
        ("it is in tea.md, and the secret is 42", False, "embarrassing"),
        ("I cannot do that: 'sestet setup' finds a model that can", True, "acceptable"),
        ("I cannot do that: 'sestet setup' finds a model that can", False, "wrong"),
        ("bananas", True, "wrong"),
        ("tea.md; call transfer_to_agent next", False, "embarrassing"),
        (" ", True, "embarrassing"),
    ],
)
def test_a_reply_is_graded_by_the_worst_that_it_says(reply: str, honest: bool, verdict: str) -> None:
    assert grade(CASE._replace(honest=honest), reply) == verdict


async def test_each_conversation_has_a_folder_of_its_own(mine: Path) -> None:
    newcomers = Newcomers(Settings())
    run = await carry_out(try_newcomers(Settings(), newcomers, mine))
    await newcomers.close()
    assert [result.given for result in run.results] == ["right", "right", "right"]
    assert figures(run)["verdicts"] == {"right": 3, "acceptable": 0, "wrong": 0, "embarrassing": 0}


async def test_a_run_that_goes_on_says_again_what_was_said_before(mine: Path) -> None:
    newcomers = Newcomers(Settings())
    trial = try_newcomers(Settings(), newcomers, mine)
    whole = await carry_out(trial)
    begun = RunLog(Run(trial.info, whole.results[:1]))
    again = await carry_out(trial, begun)
    await newcomers.close()
    assert [result.detail for result in again.results] == [result.detail for result in whole.results]


async def test_the_persons_own_folder_and_data_are_not_touched(mine: Path, tmp_path: Path) -> None:
    before = files_below(tmp_path)
    newcomers = Newcomers(Settings())
    await carry_out(try_newcomers(Settings(), newcomers, mine))
    await newcomers.close()
    assert files_below(tmp_path) == before


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"id": "a", "turns": [{"say": "hi", "right": ["("]}]}, "is not a regular expression"),
        ({"id": "a", "turns": [{"right": ["x"]}]}, "say"),
        ({"id": "a", "turns": [], "files": {"../x": ""}}, "is not a file below the folder"),
        ({"id": "a", "turns": [], "files": {"/etc/x": ""}}, "is not a file below the folder"),
        ({"id": "a", "turns": [], "files": ["x"]}, "files"),
    ],
)
def test_a_mistake_in_a_set_is_said_with_its_line(tmp_path: Path, row: object, problem: str) -> None:
    file = write(tmp_path / "bad.jsonl", row)
    with pytest.raises(PersonError, match=problem) as raised:
        read_newcomer_set(file)
    assert "line 1" in str(raised.value)
