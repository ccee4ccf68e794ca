"""The tutorial works as it stands: its commands run on its files, and print what the page says."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

import sestet
from tests.docs.markdown import Block, read_blocks
from tests.docs.test_examples import output_after

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
#: The home directory on the page.
HOME = "/home/ann"


class Step(NamedTuple):
    """A file to save, or commands with what they print."""

    block: Block
    file: str
    prints: str


def find_steps(page: str) -> list[Step]:
    steps: list[Step] = []
    for block, following in pairwise([*read_blocks(page), None]):
        if block is None:
            continue
        saved = re.search(r" file=(\S+)$", block.info)
        if saved or block.info == "sh run":
            steps.append(Step(block, saved[1] if saved else "", output_after(block, following) or ""))
    return steps


def follow(steps: list[Step], home: Path) -> list[tuple[str, str]]:
    """For each step, the output on the page and the real output."""
    work = home / "work"
    work.mkdir(parents=True)
    seen: list[tuple[str, str]] = []
    for step in steps:
        if step.file:
            file = Path(step.file.replace("~", str(home), 1))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(step.block.code, encoding="utf-8")
        else:
            seen.append((comparable(step.prints), comparable(run(step.block.code, home, work))))
    return seen


def run(code: str, home: Path, work: Path) -> str:
    programs = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=work,
        # Warnings of the test runner about its own plug-ins are no part of the page.
        env={"HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.replace(str(home), HOME) + (f"exit code {done.returncode}" if done.returncode else "")


def comparable(text: str) -> str:
    """The text without values that differ between machines: times of tests and widths of columns."""
    return re.sub(r"in \d+\.\d+s", "in 0.00s", re.sub(r"(?<=\S) {2,}(?=\S)", "  ", text)).strip()


@pytest.mark.slow
def test_the_tutorial_leads_to_a_specialist_with_two_tools_and_a_test(tmp_path: Path) -> None:
    steps = find_steps(PAGE)
    assert sum(bool(step.file) for step in steps) == 3
    for said, printed in follow(steps, tmp_path / "home"):
        assert printed == said


@pytest.mark.slow
def test_a_page_that_says_something_else_is_found(tmp_path: Path) -> None:
    page = "```sh run\necho a; false\n```\n\n```text\nb\n```\n"
    assert follow(find_steps(page), tmp_path / "home") == [("b", "a\nexit code 1")]


def test_every_command_of_the_tutorial_runs_but_the_installation() -> None:
    idle = [
        block.code for block in read_blocks(PAGE) if block.info.startswith("sh") and block.info != "sh run"
    ]
    assert idle == ["make setup\nsource .venv/bin/activate\n"]


async def test_the_tool_of_the_readme_works_in_the_config_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = (block.code for block in read_blocks(readme) if "async def exec_load" in block.code)
    file = tmp_path / "sestet" / "tools" / "exec_load.py"
    file.parent.mkdir(parents=True)
    file.write_text(code, encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    async with sestet.open(home=tmp_path) as app:
        *_, end = [event async for event in app.run_turn("s", "how busy is this computer")]

    assert end.author == "operator"
    assert end.kind == "turn_finished"
    assert end.text.startswith("The load is ")
