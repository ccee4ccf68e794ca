"""Whether a call has the arguments that a case wants."""

import pytest

from sestet.core.schema import JsonObject, object_schema
from sestet.core.tool import Tool
from sestet.evals.attempts import argument_problems

TOOL = Tool(
    "fs_find",
    parameters=object_schema(
        {
            "path": {"type": "string", "default": "."},
            "text": {"type": "string"},
            "lines": {"type": "integer", "default": 400},
            "deep": {"type": "boolean", "default": False},
            "tags": {"type": "array", "items": {"type": "string"}},
            "label": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
    ),
)


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ({"text": "Timeout"}, {"text": " timeout. "}),
        ({"path": "src"}, {"path": "src/"}),
        ({"path": "."}, {}),
        ({"path": "."}, {"path": "./"}),
        ({}, {"path": ".", "lines": 400, "label": None}),
        ({"text": {"contains": ["a parrot", "OWN"]}}, {"text": "I own A Parrot"}),
        ({"lines": 20}, {"lines": 20}),
        ({"tags": ["a", "b"]}, {"tags": ["a", "b"]}),
    ],
)
def test_what_nobody_minds_is_right(wanted: JsonObject, given: JsonObject) -> None:
    assert list(argument_problems(TOOL, wanted, given)) == []


@pytest.mark.parametrize(
    ("wanted", "given", "problem"),
    [
        ({"text": "timeout"}, {"text": "time out"}, 'text: wanted "timeout", got "time out"'),
        ({"text": "timeout"}, {}, 'text: wanted "timeout", got nothing'),
        ({"path": "src"}, {}, 'path: wanted "src", got "."'),
        ({"lines": 20}, {"lines": 21}, "lines: wanted 20, got 21"),
        ({"lines": 20}, {"lines": "20"}, "lines: expected integer, got '20'; lines: wanted 20, got \"20\""),
        ({}, {"lines": 20}, "lines: not wanted, got 20"),
        ({}, {"zzz": 1}, "zzz: is not known"),
        ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}, 'tags: wanted ["a", "b"], got ["b", "a"]'),
        ({"text": {"contains": ["x", "y"]}}, {"text": "x"}, 'text: wanted {"contains": ["x", "y"]}, got "x"'),
        ({"deep": True}, {"deep": 1}, "deep: expected boolean, got 1; deep: wanted true, got 1"),
    ],
)
def test_what_is_wrong_is_said(wanted: JsonObject, given: JsonObject, problem: str) -> None:
    assert "; ".join(argument_problems(TOOL, wanted, given)) == problem
