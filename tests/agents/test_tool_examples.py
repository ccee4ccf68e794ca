"""What holds for the examples of every tool: people's words, from which its arguments can be filled."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from sestet import agents
from sestet.core.tool import Tool
from sestet.models.lexical import match_tool

_TOOLS = [tool for name in agents.NAMES for tool in agents.room_tools(name)]
_SLOT = re.compile(r"\{(\w+)\}")

every_tool = pytest.mark.parametrize("tool", _TOOLS, ids=[tool.name for tool in _TOOLS])


@every_tool
def test_a_tool_has_examples_of_which_none_is_given_twice(tool: Tool) -> None:
    assert 6 <= len(tool.examples) <= 12
    assert len(set(tool.examples)) == len(tool.examples)


@every_tool
def test_the_slots_of_an_example_are_arguments_and_fill_all_that_are_required(tool: Tool) -> None:
    known = set(cast("Mapping[str, object]", tool.parameters["properties"]))
    required = set(cast("Sequence[str]", tool.parameters.get("required", ())))
    for example in tool.examples:
        slots = set(_SLOT.findall(example))
        assert slots <= known, example
        # Without a slot, the whole request goes to the one argument that is required.
        assert required <= slots or (not slots and len(required) == 1), example


@every_tool
def test_an_example_leads_to_its_own_tool_among_all_tools(tool: Tool) -> None:
    for example in tool.examples:
        said = _SLOT.sub(lambda slot: f"7{slot[1]}7" if slot[1] != "start" else "7", example)

        match = match_tool(said, _TOOLS)

        assert match is not None
        assert (match.tool.name, example) == (tool.name, example)
        for slot in _SLOT.findall(example):
            assert match.arguments[slot] == (7 if slot == "start" else f"7{slot}7"), example
