"""Which Pythons a machine has, and what is said of each."""

import tomllib
from pathlib import Path

import pytest

from scripts.other_pythons import SUPPORTED, Trial, find_python, try_version

ROOT = Path(__file__).parents[2]


def build(pyenv: Path, version: str, says: str) -> Path:
    """An interpreter that says its version as Python does."""
    python = pyenv / "versions" / version / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{says}\n", encoding="utf-8")
    python.chmod(0o755)
    return python


@pytest.fixture
def no_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def test_the_newest_build_of_pyenv_that_works_is_found(no_path: Path) -> None:
    build(no_path, "3.12.9", "echo 3.12")
    newest = build(no_path, "3.12.10", "echo 3.12")
    build(no_path, "3.12.11", "exit 1")
    build(no_path, "3.13.0", "echo 3.12")

    assert find_python("3.12", no_path) == str(newest)
    assert find_python("3.13", no_path) is None
    assert find_python("3.14", no_path) is None


def test_the_path_comes_before_pyenv(no_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(no_path, "3.12.9", "echo 3.12")
    on_path = build(no_path, "other", "echo 3.12").rename(no_path / "python3.12")
    monkeypatch.setenv("PATH", str(on_path.parent))

    assert find_python("3.12", no_path) == "python3.12"


def test_each_version_is_tested_or_said_not_to_be() -> None:
    def run(version: str, python: str) -> int:
        return 1 if version == "3.13" else 0

    assert try_version("3.11", "python3.11", "3.11", run).code is None
    assert try_version("3.12", "python3.12", "3.11", run) == Trial("3.12", "passed, with python3.12", 0)
    assert try_version("3.13", "python3.13", "3.11", run) == Trial("3.13", "failed, with python3.13", 1)
    assert "NOT TESTED" in try_version("3.14", None, "3.11", run).said


def test_the_versions_that_the_package_names_are_among_those_that_are_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    prefix = "Programming Language :: Python :: 3."
    named = [name.removeprefix(prefix[:-2]) for name in project["classifiers"] if name.startswith(prefix)]

    assert set(named) <= set(SUPPORTED)
    assert f"{', '.join(named[:-1])} and {named[-1]}" in (ROOT / "README.md").read_text(encoding="utf-8")
