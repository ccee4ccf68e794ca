"""Contracts of every room; and the form of the six plaques, which other rooms need not share."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Protocol

import pytest
from ruamel.yaml import YAML

import sestet
from sestet import agents
from sestet.agents._shared.plaque import read_plaque
from sestet.core import front_matter
from sestet.core.offer import entries_of, fit_to_tools, named_tools

_ROOMS = Path(agents.__file__).parent
_FOUR_HEADINGS = ["## What You Do", "## Input Format", "## Output Format", "## Constraints"]
_FIELDS = [
    "name",
    "description",
    "capabilities",
    "keywords",
    "accepts",
    "returns",
    "cannot",
    "examples",
    "not_for",
    "always_include",
]
#: Category words and old names that a model could take for the name of an agent.
_BANNED = {"browser", "exec", "executor", "researcher", "memory-manager", "crypto", "subagent", "sub-agent"}
#: Keywords that would fit several rooms.
_AMBIGUOUS = re.compile(
    r"search|run|find|open|read|write|save|store|list|show|get|look|check|send"
    r"|file|page|note|key|secret|skill|memory|remember|plan|step|price"
)


class _Reader(Protocol):
    """The one method of YAML that is used here, with types."""

    def load(self, stream: str, /) -> object: ...


every_room = pytest.mark.parametrize("name", agents.room_names())
#: The form of a plaque is a habit of the six, and no rule for others.
each_of_the_six = pytest.mark.parametrize("name", agents.NAMES)


@each_of_the_six
def test_the_prompt_has_the_four_headings_after_one_sentence_of_introduction(name: str) -> None:
    lines = _split(name).body.splitlines()

    assert lines[0].startswith(f"You are the {name}, ")
    assert [line for line in lines if line.startswith("#")] == _FOUR_HEADINGS
    assert 25 <= len(lines) <= 45


@each_of_the_six
def test_the_front_matter_has_every_field_in_its_order(name: str) -> None:
    without_tools = [] if name != "planner" else ["capabilities"]

    assert list(_split(name).values) == [field for field in _FIELDS if field not in without_tools]


@every_room
def test_our_reader_and_yaml_read_the_same_front_matter(name: str) -> None:
    text = _plaque(name)
    _, between, _ = text.split("---\n", 2)

    assert front_matter.split(text).values == _yaml().load(between)


def test_every_folder_with_a_plaque_is_a_room_and_bears_its_name() -> None:
    folders = {path.parent.name for path in _ROOMS.glob("*/AGENT.md")}

    assert folders == set(agents.room_names()) == set(agents.match_order())
    assert tuple(spec.name for spec in sestet.default_specs()) == agents.room_names()


def test_the_six_come_first_and_other_rooms_follow_by_name() -> None:
    six, others = agents.room_names()[:6], agents.room_names()[6:]

    assert six == agents.NAMES
    assert set(agents.match_order()[:6]) == set(agents.NAMES)
    assert agents.match_order()[:6] == agents.MATCH_ORDER
    assert others == agents.match_order()[6:] == tuple(sorted(others))


def test_a_plaque_can_say_that_its_specialist_does_one_thing_at_a_time(tmp_path: Path) -> None:
    plaque = tmp_path / "AGENT.md"
    plaque.write_text("---\nname: gardener\ndescription: Waters\nexclusive: true\n---\nYou water.\n", "utf-8")

    assert read_plaque(plaque).exclusive
    assert not any(spec.exclusive for spec in _six())


def test_of_the_six_only_the_planner_is_always_included_and_only_it_owns_nothing() -> None:
    specs = _six()

    assert [spec.name for spec in specs if spec.always_include] == ["planner"]
    assert [spec.name for spec in specs if not spec.capabilities] == ["planner"]


@every_room
def test_no_value_holds_a_banned_word_or_an_agent_s_name(name: str) -> None:
    for value in _values(_spec(name)):
        words = set(re.findall(r"[a-z-]+", value.lower()))
        assert words.isdisjoint(_BANNED), value
        assert [agent for agent in agents.room_names() if agent in value.lower()] == []


@every_room
def test_the_prompt_names_no_other_room_and_no_tool(name: str) -> None:
    body = _spec(name).instruction

    assert [other for other in agents.room_names() if other != name and other in body.lower()] == []
    assert [tool.name for tool in _every_tool() if tool.name in body] == []


@each_of_the_six
def test_the_plaque_is_as_long_as_it_should_be(name: str) -> None:
    spec = _complete(_spec(name))

    assert not spec.description.endswith(".")
    assert 6 <= len(spec.keywords) <= 12
    assert 2 <= len(spec.cannot) <= 4
    assert 5 <= len(spec.examples) <= 6
    assert spec.not_for


@every_room
def test_a_plaque_speaks_as_a_person_types(name: str) -> None:
    spec = _spec(name)

    assert spec.examples
    assert all(example == example.lower() for example in spec.examples)
    assert all("\n" not in value for value in _values(spec))


def test_the_six_plaques_together_stay_under_6000_characters() -> None:
    assert sum(len(value) for spec in _six() for value in _values(_complete(spec))) < 6_000


def test_no_keyword_stands_on_two_plaques_and_none_is_a_word_that_fits_several() -> None:
    counted = Counter(keyword for spec in sestet.default_specs() for keyword in spec.keywords)

    assert [keyword for keyword, count in counted.items() if count > 1] == []
    assert [keyword for keyword in counted if _AMBIGUOUS.fullmatch(keyword)] == []


def test_an_example_holds_no_keyword_of_another_room() -> None:
    specs = sestet.default_specs()
    misleading = [
        (spec.name, example, other.name, keyword)
        for spec in specs
        for example in spec.examples
        for other in specs
        for keyword in other.keywords
        if other.name != spec.name and re.search(rf"\b{re.escape(keyword)}\b", example)
    ]

    assert misleading == []


@every_room
def test_when_not_this_agent_points_to_other_agents_that_exist(name: str) -> None:
    others = set(_spec(name).not_for)

    assert others <= set(agents.room_names()) - {name}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("operator", "librarian"),
        ("operator", "vault"),
        ("navigator", "librarian"),
        ("librarian", "chronicler"),
        ("vault", "chronicler"),
    ],
)
def test_two_rooms_that_are_easily_confused_point_at_each_other(one: str, other: str) -> None:
    assert other in _spec(one).not_for
    assert one in _spec(other).not_for


@every_room
def test_a_tool_is_routed_to_the_room_it_lies_in(name: str) -> None:
    tools = agents.room_tools(name)

    assert sestet.partition_tools(tools)._asdict()[name] == tools


def test_a_standing_answer_to_a_command_holds_in_its_directory_only() -> None:
    tools = [tool for name in agents.room_names() for tool in agents.room_tools(name)]
    with_directory = [tool for tool in tools if "cwd" in str(tool.parameters)]

    assert with_directory
    assert [tool.name for tool in with_directory if "cwd" not in tool.binds] == []


def test_no_tool_lies_in_two_rooms() -> None:
    counted = Counter(tool.name for tool in _every_tool())

    assert [tool for tool, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("size", range(len(agents.room_names())))
def test_the_instruction_never_names_an_agent_that_was_not_created(size: int) -> None:
    always = {spec.name for spec in sestet.default_specs() if spec.always_include}
    with_tools = [name for name in agents.room_names() if name not in always]
    for created in combinations(with_tools, size):
        root = _tree_of(created)

        exist = {agent.name for agent in root.sub_agents}
        assert exist == {*created, *always}
        missing = set(agents.room_names()) - exist
        assert [name for name in missing if name in root.instruction.lower()] == []


def test_a_tree_without_the_planner_does_not_name_it() -> None:
    specs = [spec for spec in sestet.default_specs() if spec.name != "planner"]
    config = sestet.OrchestrationConfig(tools=_one_tool_a_prefix(agents.room_names()), specs=specs)

    assert "planner" not in sestet.build_agent_tree(config).instruction.lower()


def test_the_instruction_with_all_six_stays_under_9000_characters() -> None:
    config = sestet.OrchestrationConfig(tools=_one_tool_a_prefix(agents.NAMES), specs=_six())

    assert len(sestet.build_agent_tree(config).instruction) < 9_000


def test_the_instruction_holds_no_raw_name_of_an_owned_tool() -> None:
    tools = {tool.name: tool for tool in (*_one_tool_a_prefix(agents.room_names()), *_every_tool())}
    owned = [tool for tool in tools.values() if tool not in sestet.partition_tools(tools.values()).unmatched]

    root = sestet.build_agent_tree(sestet.OrchestrationConfig(tools=owned))

    assert [tool.name for tool in owned if tool.name in root.instruction] == []


def test_every_specialist_gets_the_reject_format_and_the_way_to_report() -> None:
    for agent in _tree_of(agents.room_names()).sub_agents:
        headings = [line for line in agent.instruction.splitlines() if line.startswith("## ")]
        assert headings[-2:] == ["## When It Is Not Yours", "## Reporting Back"]
        assert "\n[REJECT] <one sentence: why this is not yours>\n" in agent.instruction
        assert "`reject_task`" in agent.instruction


def _yaml() -> _Reader:
    return YAML(typ="safe")


def _plaque(name: str) -> str:
    return (_ROOMS / name / "AGENT.md").read_text("utf-8")


def _split(name: str) -> front_matter.FrontMatter:
    return front_matter.split(_plaque(name))


def _spec(name: str) -> sestet.AgentSpec:
    return next(spec for spec in sestet.default_specs() if spec.name == name)


def _six() -> list[sestet.AgentSpec]:
    return [spec for spec in sestet.default_specs() if spec.name in agents.NAMES]


def _complete(spec: sestet.AgentSpec) -> sestet.AgentSpec:
    """The plaque of a specialist that has every tool it names."""
    return fit_to_tools(spec, named_tools(spec))


def _values(spec: sestet.AgentSpec) -> Iterator[str]:
    """Every text of a plaque that the orchestrator may read, except the name."""
    yield spec.description
    for several in (
        entries_of(spec.accepts),
        entries_of(spec.returns),
        spec.keywords,
        spec.cannot,
        spec.examples,
        spec.capabilities.values(),
        spec.not_for.values(),
    ):
        yield from several


def _every_tool() -> Iterator[sestet.Tool]:
    for name in agents.room_names():
        yield from agents.room_tools(name)


def _one_tool_a_prefix(names: tuple[str, ...]) -> tuple[sestet.Tool, ...]:
    return tuple(sestet.Tool(name=f"{prefix}_xyz") for name in names for prefix in _spec(name).prefixes)


def _tree_of(names: tuple[str, ...]) -> sestet.Agent:
    return sestet.build_agent_tree(sestet.OrchestrationConfig(tools=_one_tool_a_prefix(names)))


def test_every_tool_that_asks_says_what_is_at_stake_and_what_a_longer_yes_allows() -> None:
    asking = [tool for tool in _every_tool() if tool.risk != "safe" or tool.effect in ("external", "money")]
    assert asking
    for tool in asking:
        # Money never moves on a standing answer, so no words may promise it.
        assert bool(tool.standing) == (tool.effect != "money"), tool.name
        assert tool.caution or tool.risk == "safe", tool.name
