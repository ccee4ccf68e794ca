"""``sestet docs``: the pages are where the program is, and every message names one that exists."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

from sestet.services.manual import pages
from tests.cli.conftest import Call
from tests.cli.program import Home

ROOT = Path(__file__).parents[2]
PAGES = {path.stem for path in (ROOT / "docs").glob("*.md")}


def test_every_page_is_listed_with_what_it_is_for(call: Call) -> None:
    listed = dict(line.split("\t") for line in call("docs").out.splitlines())

    assert listed.keys() == PAGES - {"index"}
    assert listed["cli"] == "each command and option"
    assert all(listed.values())
    assert json.loads(call("docs", "--json").out) == [
        {"topic": topic, "about": about} for topic, about in listed.items()
    ]


def test_a_page_in_a_pipe_is_the_markdown_of_its_file(call: Call) -> None:
    text = (ROOT / "docs/memory.md").read_text(encoding="utf-8")

    assert call("docs", "memory").out == text
    assert call("docs", "docs/Memory.md").out == text
    assert json.loads(call("docs", "memory", "--json").out)["text"] == text


def test_a_page_at_a_terminal_is_drawn_without_marks_links_and_a_pager(home: Home) -> None:
    with home.terminal("docs", "agents") as terminal:
        terminal.expect("User-defined specs")
        assert terminal.wait() == 0
        assert "Who owns a tool" in terminal.raw
        assert "<!--" not in terminal.raw
        assert "](" not in terminal.raw


def test_an_unknown_page_is_answered_with_the_nearest(call: Call) -> None:
    assert call("docs", "memry") == (1, "", "sestet: there is no page 'memry'; did you mean 'memory'?\n")
    assert call("docs", "???") == (1, "", "sestet: there is no page '???'; 'sestet docs' lists them\n")


def test_the_wheel_has_every_page() -> None:
    builder = WheelBuilder(str(ROOT))
    files = {file.distribution_path for file in builder.recurse_included_files()}

    assert {f"sestet/docs/{name}.md" for name in PAGES} <= files


def test_no_message_names_a_file_of_the_docs_folder_and_each_page_that_one_names_exists() -> None:
    named: list[str] = []
    for file in _sources():
        for text in _texts(ast.parse(file.read_text(encoding="utf-8"))):
            assert not re.search(r"\bdocs/[\w-]+\.md", text), f"{file}: {text!r}"
            named += re.findall(r"sestet docs ([a-z-]+)", text)
    named += _arguments_of_page()

    assert {"models", "graph"} <= set(named) <= {page.topic for page in pages()}


def _texts(tree: ast.Module) -> Iterator[str]:
    """Every text in the code, except documentation for its reader."""
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.value


def _sources() -> Iterator[Path]:
    """Every file of the wheel."""
    files = (ROOT / "src").rglob("*.py")
    return (file for file in files if "training" not in file.parts)


def _arguments_of_page() -> Iterator[str]:
    for file in _sources():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "page":
                yield ast.literal_eval(node.args[0])
