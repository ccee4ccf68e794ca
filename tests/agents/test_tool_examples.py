"""The examples of every tool: requests of people from which its arguments can be filled."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from sestet import agents
from sestet.core.tool import Tool
from sestet.models.offline.matching import match_tool
from sestet.models.offline.parameters import parameters_of

_TOOLS = [tool for name in agents.room_names() for tool in agents.room_tools(name)]
_SLOT = re.compile(r"\{(\w+)\}")

every_tool = pytest.mark.parametrize("tool", _TOOLS, ids=[tool.name for tool in _TOOLS])


@every_tool
def test_a_tool_has_examples_of_which_none_is_given_twice(tool: Tool) -> None:
    assert tool.examples
    assert len(set(tool.examples)) == len(tool.examples)


@pytest.mark.parametrize("name", agents.NAMES)
def test_a_tool_of_the_six_has_six_to_eighteen_examples(name: str) -> None:
    numbers = {tool.name: len(tool.examples) for tool in agents.room_tools(name)}
    assert {tool: number for tool, number in numbers.items() if not 6 <= number <= 18} == {}


@every_tool
def test_the_slots_of_an_example_are_arguments_and_fill_all_that_are_required(tool: Tool) -> None:
    known = set(cast("Mapping[str, object]", tool.parameters["properties"]))
    required = set(cast("Sequence[str]", tool.parameters.get("required", ())))
    for example in tool.examples:
        slots = set(_SLOT.findall(example))
        assert slots <= known, example
        # Without a slot, the whole request goes to the one required argument.
        assert required <= slots or (not slots and len(required) == 1), example


@every_tool
def test_an_example_leads_to_its_own_tool_among_all_tools(tool: Tool) -> None:
    for example in tool.examples:
        request, arguments = filled(tool, example)

        match = match_tool(request, _TOOLS)

        assert match is not None, request
        assert match.tool.name == tool.name, request
        assert arguments.items() <= match.arguments.items(), request


def filled(tool: Tool, example: str) -> tuple[str, dict[str, object]]:
    """An example with a fitting value in each slot, and the expected arguments."""
    arguments: dict[str, object] = {}
    for slot in _SLOT.findall(example):
        parameter = parameters_of(tool)[slot]
        named = ("a: 7",) if parameter.type == "object" else (f"7{slot}7", "http://7.example/")
        samples = (*parameter.choices, *parameter.listed, *named, "m7", "o7", "c7", "t7", 7)
        sample = next(s for s in samples if re.fullmatch(parameter.form or ".+", str(s)))
        arguments[slot] = {"a": "7"} if sample == "a: 7" else sample
    said = {slot: "a: 7" if value == {"a": "7"} else str(value) for slot, value in arguments.items()}
    return _SLOT.sub(lambda slot: said[slot[1]], example), arguments
