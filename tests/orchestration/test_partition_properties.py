"""Properties of every partition, for tools of any names."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sestet
from sestet.core.record import replace

Buckets: TypeAlias = Mapping[str, Sequence[sestet.Tool]]

_MATCH_ORDER = ("librarian", "chronicler", "navigator", "vault", "operator")
_PREFIXES = sorted(prefix for spec in sestet.default_specs() for prefix in spec.prefixes)

_plain_names = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
_owned_names = st.builds(
    str.__add__, st.sampled_from(_PREFIXES), st.from_regex(r"[a-z_]{0,5}", fullmatch=True)
)
_toolsets = st.lists(_plain_names | _owned_names, unique=True, max_size=30).map(
    lambda names: [sestet.Tool(name=name) for name in names]
)
# Few letters, so that prefixes and names often overlap.
_short = st.text("ab_", min_size=1, max_size=4)
_short_toolsets = st.lists(_short, unique=True, max_size=12).map(
    lambda names: [sestet.Tool(name=name) for name in names]
)


@given(_toolsets)
def test_every_tool_is_in_exactly_one_bucket(tools: list[sestet.Tool]) -> None:
    parts = sestet.partition_tools(tools)

    assert sorted(tool.name for bucket in parts for tool in bucket) == sorted(tool.name for tool in tools)


@given(_toolsets)
def test_each_bucket_keeps_the_order_of_the_tools(tools: list[sestet.Tool]) -> None:
    for bucket in sestet.partition_tools(tools):
        members = set(bucket)
        assert list(bucket) == [tool for tool in tools if tool in members]


@given(_toolsets)
def test_the_planner_is_always_empty(tools: list[sestet.Tool]) -> None:
    assert sestet.partition_tools(tools).planner == ()


@given(_toolsets)
def test_a_tool_is_unmatched_exactly_when_no_prefix_fits(tools: list[sestet.Tool]) -> None:
    unmatched = sestet.partition_tools(tools).unmatched

    assert list(unmatched) == [tool for tool in tools if not tool.name.startswith(tuple(_PREFIXES))]


@given(_toolsets, st.data())
def test_the_owner_of_a_tool_depends_on_its_name_alone(tools: list[sestet.Tool], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(tools))

    assert sestet.partition_tools(tools) == sestet.partition_tools(tools)
    assert _owners(sestet.partition_tools(tools)._asdict()) == _owners(
        sestet.partition_tools(shuffled)._asdict()
    )


@given(_toolsets.filter(bool), st.data())
def test_a_tool_that_stands_twice_is_an_error_that_names_it(
    tools: list[sestet.Tool], data: st.DataObject
) -> None:
    twice = data.draw(st.sampled_from(tools))
    position = data.draw(st.integers(0, len(tools)))

    with pytest.raises(ValueError, match=f"'{twice.name}'"):
        sestet.partition_tools([*tools[:position], replace(twice, description="again"), *tools[position:]])


@given(_short_toolsets, st.lists(st.lists(_short, min_size=1, max_size=3), max_size=4))
def test_user_defined_agents_are_matched_in_the_order_given(
    tools: list[sestet.Tool], prefixes: list[list[str]]
) -> None:
    specs = [
        sestet.AgentSpec(name=f"agent{number}", prefixes=tuple(wanted))
        for number, wanted in enumerate(prefixes)
    ]

    owners = _owners(_partition(tools, specs))

    assert owners == {tool.name: _first_match(tool.name, specs) for tool in tools}


@given(_toolsets, st.lists(st.sampled_from(_PREFIXES), min_size=1, max_size=4), st.integers(0, 6))
def test_user_defined_agents_are_matched_before_the_six_wherever_they_stand(
    tools: list[sestet.Tool], prefixes: list[str], position: int
) -> None:
    mine = sestet.AgentSpec(name="beekeeper", prefixes=tuple(prefixes))
    shipped = sestet.default_specs()

    buckets = _partition(tools, [*shipped[:position], mine, *shipped[position:]])

    assert list(buckets["beekeeper"]) == [tool for tool in tools if tool.name.startswith(mine.prefixes)]


@given(
    _short_toolsets,
    st.fixed_dictionaries({name: st.lists(_short, min_size=1, max_size=3) for name in _MATCH_ORDER}),
    st.permutations(range(6)),
)
def test_the_match_order_of_the_six_holds_for_overlapping_prefixes(
    tools: list[sestet.Tool], prefixes: dict[str, list[str]], order: list[int]
) -> None:
    six = sestet.default_specs()[:6]
    overlapping = [replace(spec, prefixes=tuple(prefixes.get(spec.name, spec.prefixes))) for spec in six]

    owners = _owners(_partition(tools, [overlapping[index] for index in order]))

    by_name = {spec.name: spec for spec in overlapping}
    in_match_order = [by_name[name] for name in _MATCH_ORDER]
    assert owners == {tool.name: _first_match(tool.name, in_match_order) for tool in tools}


def test_an_agent_that_stands_twice_is_an_error_that_names_it() -> None:
    specs = [*sestet.default_specs(), sestet.AgentSpec(name="operator", prefixes=("x_",))]

    with pytest.raises(ValueError, match="'operator'"):
        sestet.partition_tools([], specs)


def test_other_agents_than_the_six_make_a_mapping_with_unmatched() -> None:
    specs = [sestet.AgentSpec(name="beekeeper", prefixes=("hive_",))]
    opened, odd = sestet.Tool(name="hive_open"), sestet.Tool(name="odd")

    assert sestet.partition_tools([opened, odd], specs) == {"beekeeper": (opened,), "unmatched": (odd,)}


def _partition(tools: list[sestet.Tool], specs: Sequence[sestet.AgentSpec]) -> Buckets:
    parts = sestet.partition_tools(tools, specs)
    return parts._asdict() if isinstance(parts, sestet.RoleToolSet) else parts


def _owners(buckets: Buckets) -> dict[str, str]:
    return {tool.name: name for name, bucket in buckets.items() for tool in bucket}


def _first_match(tool_name: str, specs: Sequence[sestet.AgentSpec]) -> str:
    return next((spec.name for spec in specs if tool_name.startswith(spec.prefixes)), "unmatched")
