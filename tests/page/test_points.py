"""The list of points and the tests agree in both directions."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.page.points import POINTS

_FOLDER = Path(__file__).parent
#: A test with one of these marks may be skipped or may fail, so it shows nothing.
_NOT_RUN = {"skip", "skipif", "xfail"}


class Claim(NamedTuple):
    """A mark of a test; the number is 0 when the mark is not one literal number."""

    number: int
    where: str


def test_every_point_has_a_test() -> None:
    assert sorted(set(POINTS) - {claim.number for claim in _claims()}) == []


def test_every_claim_names_a_point() -> None:
    assert [claim for claim in _claims() if claim.number not in POINTS] == []


def test_the_points_are_numbered_from_one_to_forty() -> None:
    assert list(POINTS) == list(range(1, 41))


def _claims() -> Iterator[Claim]:
    for file in sorted(_FOLDER.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                marks = [_mark(each) for each in node.decorator_list]
                if not any(name in _NOT_RUN for name, _ in marks):
                    yield from (
                        Claim(number, f"{file.name}:{node.name}") for name, number in marks if name == "point"
                    )


def _mark(decorator: ast.expr) -> tuple[str, int]:
    """The name of a mark, and its number if it has one."""
    call = decorator if isinstance(decorator, ast.Call) else None
    target = call.func if call else decorator
    name = target.attr if isinstance(target, ast.Attribute) else ""
    match call.args if call else []:
        case [ast.Constant(value=int(number))]:
            return name, number
        case _:
            return name, 0
