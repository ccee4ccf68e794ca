"""The batteries: slow tests that have a mark and a target of their own, and that no check leaves out."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.conftest import BATTERIES

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def prerequisites(target: str) -> list[str]:
    found = re.search(rf"^{target}:([^#\n]*)", MAKEFILE, re.MULTILINE)
    return found[1].split() if found else []


def test_a_battery_is_slow_and_chosen_by_its_name() -> None:
    files = ["core/test_words.py", "faults/test_old_files.py", "services/sandbox/test_seatbelt.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not slow or sandbox", *files],
        cwd=ROOT / "tests",
        capture_output=True,
        text=True,
        check=False,
    )
    chosen = {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}
    assert chosen == {"tests/core/test_words.py", "tests/services/sandbox/test_seatbelt.py"}, done.stdout


def test_every_battery_is_a_folder_with_tests() -> None:
    assert all(any((ROOT / "tests" / folder).glob("test_*.py")) for folder in BATTERIES)


def test_every_battery_has_its_mark_and_its_target() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    marks = {mark.partition(":")[0] for mark in settings["tool"]["pytest"]["markers"]}
    targets = set(
        re.findall(r"^test-([a-z]+):.*\n\t\$\(PYTEST(?:_BROWSER)?\) -m \1$", MAKEFILE, re.MULTILINE)
    )
    assert set(BATTERIES.values()) <= marks & targets


def test_the_check_runs_every_test() -> None:
    assert "test-all" in prerequisites("check")
    found = re.search(r"^test-all:.*\n\t(.*)$", MAKEFILE, re.MULTILINE)
    assert found
    assert re.findall(r"-m (\".*?\"|\w+)", found[1]) == ['"not browser"', "browser"]


def test_a_run_in_two_parts_tells_the_failure_of_either() -> None:
    """Each part runs, also if the other has failed, and make ends with a failure if one has."""
    for target in ("test-slow", "test-all"):
        for first, second in (("true", "false"), ("false", "true"), ("true", "true")):
            done = subprocess.run(
                [
                    "make",
                    "-s",
                    "-o",
                    ".venv/.dev",
                    "-o",
                    "src/sestet/server/page/index.html",
                    target,
                    f"PYTEST={first}",
                    f"PYTEST_BROWSER=echo ran; {second}",
                ],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.stdout.startswith("ran"), done.stderr
            assert (done.returncode == 0) == (first == second)
