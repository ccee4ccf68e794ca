"""Type hints become JSON Schema, and the same schema checks values."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, List, Literal  # noqa: UP035 - see below

import msgspec
import pytest

from sestet.core.record import Record
from sestet.core.schema import find_problems, schema_of


class Town(Record, rename="camel"):
    zip_code: str
    lies_at: tuple[int, ...] = ()


@dataclass(frozen=True)
class Point:
    x: int
    label: Annotated[str, "what it is called"] = "here"


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Mapping[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (
            Annotated[int, "how many", {"minimum": 1}],
            {"type": "integer", "description": "how many", "minimum": 1},
        ),
        (
            Point,
            {
                "type": "object",
                "properties": {
                    "x": {"type": "integer"},
                    "label": {"type": "string", "description": "what it is called", "default": "here"},
                },
                "additionalProperties": False,
                "required": ["x"],
            },
        ),
        (
            Town,
            {
                "type": "object",
                "properties": {
                    "zipCode": {"type": "string"},
                    "liesAt": {"type": "array", "items": {"type": "integer"}},
                },
                "additionalProperties": False,
                "required": ["zipCode"],
            },
        ),
    ],
)
def test_a_hint_becomes_a_schema(hint: object, schema: object) -> None:
    assert schema_of(hint) == schema


@pytest.mark.parametrize(
    "hint",
    [
        bytes,
        int | str,
        object,
        list,
        List,  # noqa: UP006 - people still write it
        list["Point"],
        tuple[()],
        tuple[int, str],
        dict[int, str],
        Literal["a", 1],
    ],
    ids=repr,
)
def test_a_hint_without_a_schema_is_an_error(hint: object) -> None:
    with pytest.raises(TypeError, match="no JSON Schema"):
        schema_of(hint)


@pytest.mark.parametrize(
    ("hint", "value", "problem"),
    [
        (int, True, "expected integer, got True"),
        (bool, 1, "expected boolean, got 1"),
        (str, None, "expected string, got None"),
        (Literal["local", "none"], "locl", "expected one of local, none, got 'locl'; did you mean 'local'?"),
        (Annotated[int, {"minimum": 1}], 0, "must be at least 1, got 0"),
        (Annotated[int, {"maximum": 9}], 10, "must be at most 9, got 10"),
        (int | None, "x", "expected integer, got 'x'"),
        (Annotated[int | None, {"minimum": 1}], -3, "must be at least 1, got -3"),
        (float, float("nan"), "expected number, got nan"),
        (Annotated[float, {"maximum": 1}], float("-inf"), "expected number, got -inf"),
    ],
)
def test_a_value_of_the_wrong_kind_is_one_problem(hint: object, value: object, problem: str) -> None:
    assert [found.message for found in find_problems(schema_of(hint), value)] == [problem]


def test_every_problem_is_found_with_its_place() -> None:
    schema = schema_of(Mapping[str, list[Point]])

    problems = list(find_problems(schema, {"p": [{"x": 1}, {"lable": "z"}, {"x": "1"}]}))

    assert [(problem.where, problem.message) for problem in problems] == [
        ("p.1.x", "is required"),
        ("p.1.lable", "is not known; did you mean 'label'?"),
        ("p.2.x", "expected integer, got '1'"),
    ]


def test_a_fitting_value_has_no_problems() -> None:
    assert not list(find_problems(schema_of(Point), {"x": 1, "label": "there"}))
    assert not list(find_problems(schema_of(int | None), None))
    assert not list(find_problems(schema_of(Point), MappingProxyType({"x": 1})))


def test_a_type_that_json_does_not_have_fits_nothing() -> None:
    (problem,) = find_problems({"type": "strng"}, "text")

    assert problem.message == "expected strng, got 'text'"


def test_a_choice_between_numbers_is_not_made_by_a_flag() -> None:
    assert find_problems({"enum": [1, 0]}, True)
    assert not find_problems({"enum": [1, 0]}, 1)


def test_a_key_that_is_no_text_is_a_problem_like_any_other() -> None:
    (problem,) = find_problems(schema_of(Point), {"x": 1, 2: 3})

    assert (problem.path, problem.message) == (("2",), "is not known")


@pytest.mark.parametrize(
    ("hint", "value", "built"),
    [
        (Point, {"x": 1}, Point(1)),
        (list[Point] | None, [{"x": 1, "label": "a"}], [Point(1, "a")]),
        (list[Point] | None, None, None),
        (Mapping[str, Annotated[Point, "a place"]], {"home": {"x": 2}}, {"home": Point(2)}),
        (tuple[Point, ...], [{"x": 3}], (Point(3),)),
        (list[int], [1, 2], [1, 2]),
        (Town, {"zipCode": "0150", "liesAt": [59, 10]}, Town("0150", (59, 10))),
    ],
)
def test_a_fitting_value_becomes_what_the_hint_says(hint: object, value: object, built: object) -> None:
    assert not find_problems(schema_of(hint), value)
    assert msgspec.convert(value, hint) == built
