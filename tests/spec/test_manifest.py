"""The manifest and the tests agree in both directions, and the manifest is the specifications' own list."""

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .scenarios import DECISIONS, DIGEST, SCENARIOS, Heading

_TESTS = Path(__file__).resolve().parents[1]
_DOCUMENTS = _TESTS.parents[1] / "shared" / "specs"
_STANDING = {scenario.id for scenario in SCENARIOS if scenario.superseded_by is None}
#: A test with one of these marks may be skipped or may fail, so it proves nothing.
_NOT_RUN = {"skip", "skipif", "xfail"}
_HEADING = re.compile(r"(?P<level>#{2,4}) (?:Requirement: |Scenario: |\d+\. )?(?P<title>.+)")


class Claim(NamedTuple):
    """A scenario mark in a test file; the id is empty when the mark is not one literal string."""

    id: str
    where: str


def test_every_id_and_every_heading_stands_once_in_the_manifest() -> None:
    ids = Counter(scenario.id for scenario in SCENARIOS)
    headings = Counter(scenario.heading for scenario in SCENARIOS)

    assert [name for name, count in ids.items() if count > 1] == []
    assert [heading for heading, count in headings.items() if count > 1] == []


def test_an_id_begins_with_its_document() -> None:
    assert [
        scenario.id for scenario in SCENARIOS if not scenario.id.startswith(f"{scenario.document}-")
    ] == []


def test_every_standing_scenario_is_claimed_by_a_test() -> None:
    claimed = {claim.id for claim in _claims()}

    assert sorted(_STANDING - claimed) == []


def test_every_claim_names_a_standing_scenario() -> None:
    assert [claim for claim in _claims() if claim.id not in _STANDING] == []


def test_a_superseded_scenario_names_the_standing_one_that_replaced_it_and_says_why() -> None:
    superseded = [scenario for scenario in SCENARIOS if scenario.superseded_by is not None]

    assert [scenario.id for scenario in superseded if scenario.superseded_by not in _STANDING] == []
    assert [scenario.id for scenario in superseded if not scenario.note] == []


def test_the_manifest_lists_exactly_the_scenarios_of_the_documents() -> None:
    listed = {scenario.heading for scenario in SCENARIOS}
    # A clone without the documents beside it is held by the digest alone.
    written = set(_documented()) if _DOCUMENTS.is_dir() else listed

    assert sorted(listed ^ written) == []
    assert _digest(listed) == DIGEST


def test_claims_are_found_on_tests_that_run_and_nowhere_else() -> None:
    source = """
@pytest.mark.scenario("a")
@pytest.mark.scenario("b")
def test_two(): ...

@pytest.mark.scenario("c")
async def test_coroutine(): ...

@pytest.mark.scenario(NAME)
def test_not_literal(): ...

@pytest.mark.skip
@pytest.mark.scenario("d")
def test_skipped(): ...

@pytest.mark.scenario("e")
def helper(): ...
"""
    assert [claim.id for claim in _claims_in(ast.parse(source), "file")] == ["a", "b", "c", ""]


def _claims() -> list[Claim]:
    return [
        claim
        for path in sorted(_TESTS.rglob("test_*.py"))
        for claim in _claims_in(ast.parse(path.read_text("utf-8")), path.name)
    ]


def _claims_in(module: ast.Module, file: str) -> Iterator[Claim]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            marks = [(_mark_name(decorator), decorator) for decorator in node.decorator_list]
            if any(name in _NOT_RUN for name, _ in marks):
                continue
            for name, decorator in marks:
                if name == "scenario" and isinstance(decorator, ast.Call):
                    yield Claim(_only_string(decorator), f"{file}::{node.name}")


def _mark_name(decorator: ast.expr) -> str:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(function).removeprefix("pytest.mark.")


def _only_string(mark: ast.Call) -> str:
    match mark.args:
        case [ast.Constant(value=str(text))]:
            return text
        case _:
            return ""


def _documented() -> Iterator[Heading]:
    """The scenarios of 000 to 003, and the decisions of 004."""
    for path in sorted(_DOCUMENTS.glob("00[0-4]_*.txt")):
        document, parent, requirement = path.name[:3], "", ""
        for line in path.read_text("utf-8").splitlines():
            heading = _HEADING.fullmatch(line.strip())
            match (heading["level"], heading["title"]) if heading else ("", ""):
                case ("##", title):
                    parent = title
                case ("###", title) if parent == DECISIONS:
                    yield Heading(document, DECISIONS, title)
                case ("###", title):
                    requirement = title
                case ("####", title):
                    yield Heading(document, requirement, title)
                case _:
                    pass


def _digest(headings: set[Heading]) -> str:
    return hashlib.sha256("\n".join("\t".join(heading) for heading in sorted(headings)).encode()).hexdigest()
