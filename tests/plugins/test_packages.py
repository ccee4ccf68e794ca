"""Plug-ins of installed packages, found without reading every package at each start."""

import json
import sys
from pathlib import Path

import pytest

import sestet
from sestet.plugins.find import find_plugins
from sestet.plugins.load import CACHE, find_entry_points
from tests.plugins.conftest import World, tool_file, write

MODULE = (
    tool_file("exec_feed")
    + """
SPEC = sestet.AgentSpec("beekeeper", "Looks after the bees", capabilities={"hive_": "bee care"})


def make():
    return [exec_feed, SPEC]


def broken():
    raise SystemExit("no")


NUMBER = 7
ODD_NAME = [sestet.AgentSpec(5)]
ODD_PREFIXES = [sestet.AgentSpec("poet", prefixes=["poem_"])]
ODD_CAPABILITIES = [sestet.AgentSpec("poet", capabilities={"poem_": 5})]
BOTH = (exec_feed, SPEC)
"""
)


@pytest.fixture
def site(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with installed packages, as the only one that Python looks into."""
    # With only one folder to look into, Python could load nothing else of Sestet later.
    assert sestet.App
    place = tmp_path / "site"
    place.mkdir()
    module = f"bees_{abs(hash(str(tmp_path)))}"
    write(place / f"{module}.py", MODULE)
    monkeypatch.setattr(sys, "path", [str(place), str(world.work), ""])
    return place


def install(site: Path, value: str, name: str = "bees") -> None:
    module = next(site.glob("bees_*.py")).stem
    text = f"[console_scripts]\nx = y:z\n\n[sestet.plugins]\n{name} = {module}{value}\n\n[other]\na = b\n"
    write(site / f"{name}-1.0.dist-info" / "entry_points.txt", text)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("", ["beekeeper", "exec_feed"]),
        (":exec_feed", ["exec_feed"]),
        (":SPEC", ["beekeeper"]),
        (":BOTH", ["beekeeper", "exec_feed"]),
        (":make", ["beekeeper", "exec_feed"]),
    ],
)
def test_an_entry_point_gives_tools_and_specs(site: Path, value: str, found: list[str]) -> None:
    install(site, value)

    plugins = find_plugins()

    assert plugins.problems == ()
    assert sorted(plugins.origins) == found
    assert all(where.startswith("package bees 1.0 (bees = ") for where in plugins.origins.values())


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (":gone", "AttributeError"),
        (":NUMBER", "7 is neither a tool nor an agent's spec"),
        (":broken", "SystemExit: no"),
        ("_gone", "ModuleNotFoundError"),
        (":ODD_NAME", "Expected `str`, got `int` - at `$.name`"),
        (":ODD_PREFIXES", "its prefixes must be a tuple"),
        (":ODD_CAPABILITIES", "Expected `str`, got `int`"),
    ],
)
def test_an_entry_point_that_gives_nothing_is_named_and_the_rest_goes_on(
    site: Path, value: str, reason: str
) -> None:
    install(site, value, "a_broken")
    install(site, ":exec_feed", "sound")

    plugins = find_plugins()

    assert list(plugins.origins) == ["exec_feed"]
    (problem,) = plugins.problems
    assert problem.startswith("package a_broken 1.0 (a_broken = ")
    assert reason in problem


def test_the_working_directory_is_no_place_for_packages(site: Path, world: World) -> None:
    write(world.work / "evil-1.0.dist-info" / "entry_points.txt", "[sestet.plugins]\nevil = evil\n")
    assert find_entry_points(None) == []


def test_odd_entries_of_the_search_path_are_left_out(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, ":exec_feed")
    monkeypatch.setattr(sys, "path", [site, 5, *sys.path])

    assert list(find_plugins().origins) == ["exec_feed"]


def test_packages_are_looked_through_again_only_when_a_folder_has_changed(site: Path, world: World) -> None:
    install(site, ":exec_feed")
    assert [entry.name for entry in find_entry_points(world.data)] == ["bees"]
    cache = world.data / CACHE
    assert cache.stat().st_mode & 0o777 == 0o600

    kept = json.loads(cache.read_text("utf-8"))
    cache.write_text(json.dumps({**kept, "found": []}), encoding="utf-8")
    assert find_entry_points(world.data) == [], "the list is taken as it is"

    install(site, ":SPEC", "more")
    assert [entry.name for entry in find_entry_points(world.data)] == ["bees", "more"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"places": 1}', "\0"])
def test_a_broken_list_is_made_again(site: Path, world: World, content: str) -> None:
    install(site, ":exec_feed")
    write(world.data / CACHE, content)
    assert [entry.name for entry in find_entry_points(world.data)] == ["bees"]
    assert find_entry_points(world.data)[0].package == "bees 1.0"
