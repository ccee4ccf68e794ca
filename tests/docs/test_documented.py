"""Everything that exists is documented, and everything documented exists."""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, cast, get_args, get_origin

import msgspec
import pytest

import sestet
from scripts.generate_docs import find_stale, generate, iter_commands
from sestet.agents import room_names, room_tools
from sestet.config import Settings
from sestet.core.event import EVENTS, OutcomeKind, event_fields
from sestet.core.record import Record
from sestet.core.tool import Declared
from sestet.storage.database import Database
from tests.docs.markdown import (
    read_anchors,
    read_first_cells,
    read_headings,
    read_links,
    read_sections,
)

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
READING_PATH_LINES = 1_000


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def missing(wanted: Iterator[str] | list[str], found: list[str]) -> list[str]:
    return [name for name in wanted if name not in found]


def section(page: str, heading: str) -> str:
    (text,) = (section.text for section in read_sections(read(page)) if section.heading == heading)
    return text


def setting_keys(hint: object, path: str = "") -> Iterator[str]:
    """Every dotted key, found from the records themselves."""
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) is tuple and _is_record(get_args(hint)[0]):
        yield path
        yield from setting_keys(get_args(hint)[0], f"{path}[]")
    elif get_origin(hint) is Mapping:
        yield path
        if _is_record(get_args(hint)[1]):
            yield from setting_keys(get_args(hint)[1], f"{path}.<id>")
    elif isinstance(hint, type) and issubclass(hint, Record):
        for field in msgspec.structs.fields(hint):
            yield from setting_keys(field.type, f"{path}.{field.encode_name}".removeprefix("."))
    else:
        yield path


def _is_record(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, Record)


def test_every_setting_has_a_row() -> None:
    assert missing(setting_keys(Settings), read_first_cells(read("docs/configuration.md"))) == []


def test_every_row_of_the_settings_is_a_setting() -> None:
    rows = read_first_cells(section("docs/configuration.md", "All settings"))
    assert set(rows) == set(setting_keys(Settings))


def test_every_command_has_a_heading() -> None:
    words = [command.words for command in iter_commands() if not command.node.hidden]
    assert "sestet chat" in words
    assert missing(words, read_headings(read("docs/cli.md"))) == []


def test_every_agent_has_a_row() -> None:
    names = [spec.name for spec in sestet.default_specs()]
    assert missing(names, read_first_cells(read("docs/agents.md"))) == []


def test_every_field_of_a_plaque_has_a_row() -> None:
    # The prefixes are the keys of the capabilities, the instruction is the body, and marks fill the last two.
    names = set(sestet.AgentSpec.__struct_fields__) - {"prefixes", "instruction", "needs", "lacks"}
    assert set(read_first_cells(section("docs/agents.md", "How to write an AGENT.md"))) == names


def test_every_tool_has_a_row() -> None:
    names = [tool.name for agent in room_names() for tool in room_tools(agent)]
    assert names
    assert missing(names, read_first_cells(section("docs/tools.md", "The built-in tools"))) == []


def test_everything_a_tool_can_declare_has_a_row() -> None:
    rows = read_first_cells(section("docs/tools.md", "What a tool declares about itself"))
    assert set(rows) == Declared.__annotations__.keys()


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: cast("type[object]", event).__name__)
def test_every_event_has_a_heading_and_a_row_for_each_of_its_fields(event: type) -> None:
    (known,) = (each for each in EVENTS if each is event)
    assert missing(list(event_fields(known)), read_first_cells(section("docs/turn.md", known.kind))) == []


def test_every_outcome_has_a_row() -> None:
    rows = read_first_cells(section("docs/turn.md", "Outcomes of a delegation"))
    assert set(rows) == set(get_args(OutcomeKind))


def test_every_public_name_has_a_heading() -> None:
    headings = [heading.split(" ")[0] for heading in read_headings(read("docs/library.md"))]
    assert missing([f"sestet.{name}" for name in sestet.__all__], headings) == []


def test_every_table_of_the_database_has_a_row(tmp_path: Path) -> None:
    database = Database(tmp_path / "sestet.db")
    names = [name for name in stored_names(database.connection) if not is_shadow(name)]
    database.close()
    assert set(read_first_cells(section("docs/storage.md", "Tables"))) == set(names)


def stored_names(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").fetchall()
    return [str(name) for (name,) in rows]


def is_shadow(name: str) -> bool:
    """Whether a table is SQLite's own, behind a sequence or a full-text index."""
    return name.startswith("sqlite_") or bool(re.search(r"_index_\w+$", name))


def test_every_page_is_named_by_the_index() -> None:
    pages = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "index.md"]
    assert missing(pages, list(read_links(read("docs/index.md")))) == []


def test_every_task_of_the_makefile_has_a_row() -> None:
    tasks = re.findall(r"^([a-z-]+):.*## ", read("Makefile"), flags=re.MULTILINE)
    rows = read_first_cells(section("AGENTS.md", "Commands"))
    assert missing([f"make {task}" for task in tasks if task != "help"], rows) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: cast("Path", path).name)
def test_every_relative_link_resolves(page: Path) -> None:
    broken = [target for target in read_links(page.read_text(encoding="utf-8")) if not resolves(page, target)]
    assert broken == []


def resolves(page: Path, target: str) -> bool:
    if re.match(r"\w+:", target):
        return True
    path, _, anchor = target.partition("#")
    place = (page.parent / path) if path else page
    if not place.resolve().is_relative_to(ROOT) or not place.exists():
        return False
    return not anchor or anchor in read_anchors(place.read_text(encoding="utf-8"))


def test_the_generated_parts_are_up_to_date() -> None:
    assert find_stale(generate()) == []


def test_a_change_in_a_generated_part_is_found(tmp_path: Path) -> None:
    pages = generate()
    (tmp_path / "docs").mkdir()
    for page, text in pages.items():
        (tmp_path / page).write_text(text, encoding="utf-8")
    assert find_stale(pages, tmp_path) == []
    changed = Path("docs/agents.md")
    (tmp_path / changed).write_text(pages[changed].replace("`vault`", "`safe`", 1), encoding="utf-8")
    assert find_stale(pages, tmp_path) == [changed]


def test_the_reading_path_leads_from_the_readme_to_the_wiring_in_less_than_a_thousand_lines() -> None:
    first, *steps = read_links(section("AGENTS.md", "Reading path"))
    assert (first, steps[-1]) == ("README.md", "src/sestet/app.py")
    lines = {step: len(read(step).splitlines()) for step in steps}
    assert sum(lines.values()) < READING_PATH_LINES, lines


def test_the_map_names_every_part_of_the_source_and_nothing_else() -> None:
    package = ROOT / "src" / "sestet"
    folders = {f"src/sestet/{path.parent.relative_to(package)}/" for path in package.glob("*/__init__.py")}
    modules = {f"src/sestet/{path.name}" for path in package.glob("*.py") if path.name != "__init__.py"}
    named = read_first_cells(section("AGENTS.md", "Map"))
    assert {path for path in named if path.startswith("src/")} == folders | modules
    assert [path for path in named if not (ROOT / path).exists()] == []
