"""The lock files agree with pyproject.toml, with each other, and with every machine."""

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")


class Declared(NamedTuple):
    """The requirements that pyproject.toml states, by what they are for."""

    run: list[str]
    build: list[str]
    dev: list[str]
    extras: list[str]


def read_declared() -> Declared:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    return Declared(
        run=project["project"]["dependencies"],
        build=groups["build"],
        dev=[each for each in groups["dev"] if isinstance(each, str)],
        extras=[each for extra in project["project"]["optional-dependencies"].values() for each in extra],
    )


def read_pins(lock: str) -> dict[str, str]:
    text = (ROOT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, flags=re.MULTILINE))


def unmet(requirements: list[str], pins: dict[str, str]) -> list[str]:
    parsed = [Requirement(text) for text in requirements]
    return [
        str(each)
        for each in parsed
        if (pin := pins.get(canonicalize_name(each.name))) is None or pin not in each.specifier
    ]


def test_the_lock_for_running_meets_what_running_and_building_need() -> None:
    declared = read_declared()
    assert unmet(declared.run + declared.build, read_pins("requirements.lock")) == []


def test_the_lock_for_development_meets_every_declared_requirement() -> None:
    requirements = [text for part in read_declared() for text in part]
    assert unmet(requirements, read_pins("requirements-dev.lock")) == []


def test_a_requirement_that_is_missing_or_pinned_too_low_is_unmet() -> None:
    assert unmet(["here>=2", "gone"], {"here": "1.9"}) == ["here>=2", "gone"]


def test_what_is_run_is_what_is_tested() -> None:
    assert read_pins("requirements.lock").items() <= read_pins("requirements-dev.lock").items()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert entries
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_index_and_no_path(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert re.findall(r"://|^\s*--(?!hash=)\S+|/\w+", text, flags=re.MULTILINE) == []
