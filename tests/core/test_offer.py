"""A plaque offers what the tools that are there can do, and says what is missing."""

import pytest

import sestet
from sestet.agents._shared.plaque import parse_plaque
from sestet.core.errors import DefinitionError
from sestet.core.offer import fit_to_tools

_PLAQUE = """---
name: gardener
description: Looks after plants
capabilities:
  plant_: plant care
keywords:
  - water the plants
  - buy seeds [needs plant_buy]
accepts:
  - A bed
  - a shop [needs plant_buy]
returns: What was done
cannot:
  - buy anything [lacks plant_buy]
examples:
  - is the bed dry
  - buy some seeds [needs plant_buy]
---
You are the gardener.

## What You Do
- Water the beds.
- Buy seeds. [needs plant_buy]
"""


def gardener(*tools: str) -> sestet.AgentSpec:
    return fit_to_tools(parse_plaque(_PLAQUE.encode()), tools)


def test_an_entry_that_needs_a_tool_is_gone_without_it() -> None:
    spec = gardener("plant_water")

    assert spec.keywords == ("water the plants",)
    assert spec.accepts == ("A bed",)
    assert spec.examples == ("is the bed dry",)
    assert spec.cannot == ("buy anything",)
    assert "Buy seeds" not in spec.instruction
    assert "- Water the beds." in spec.instruction


def test_an_entry_that_needs_a_tool_is_there_with_it_and_without_its_mark() -> None:
    spec = gardener("plant_water", "plant_buy_seeds")

    assert spec.keywords == ("water the plants", "buy seeds")
    assert spec.accepts == ("A bed", "a shop")
    assert spec.cannot == ()
    assert spec.instruction.endswith("- Buy seeds.")


def test_a_plaque_without_marks_stays_as_it_is() -> None:
    plain = sestet.AgentSpec("poet", keywords=("write [a poem]",), accepts="A mood", instruction="You write.")

    assert fit_to_tools(plain, ()) is plain


def test_the_orchestrator_and_the_specialist_read_only_of_tools_that_are_there() -> None:
    spec = parse_plaque(_PLAQUE.encode())

    def read_by(*names: str) -> str:
        tools = [sestet.Tool(name=name) for name in names]
        root = sestet.build_agent_tree(sestet.OrchestrationConfig(tools=tools, specs=[spec]))
        return root.instruction + root.sub_agents[0].instruction

    assert "seeds" not in read_by("plant_water")
    assert "- Accepts: A bed; a shop\n" in read_by("plant_water", "plant_buy")


@pytest.mark.parametrize(
    ("mark", "problem"),
    [
        ("[needs fs_read]", "'buy seeds [needs fs_read]': the agent owns no prefix that fits 'fs_read'"),
        ("[lacks plant_buy]", "'buy seeds' stands twice with different marks"),
    ],
)
def test_a_mark_that_cannot_be_right_is_an_error_that_quotes_it(mark: str, problem: str) -> None:
    plaque = _PLAQUE.replace(
        "buy seeds [needs plant_buy]", f"buy seeds {mark}\n  - buy seeds [needs plant_buy]"
    )

    with pytest.raises(DefinitionError) as error:
        parse_plaque(plaque.encode())

    assert problem in str(error.value)
