"""Test sets: the shipped ones are valid, and errors in other ones name the file and the line."""

import json
import re
from pathlib import Path

import pytest

from sestet.agents import default_specs, room_tools
from sestet.core.agent import AgentSpec
from sestet.core.errors import PersonError
from sestet.evals.sets import (
    EXAMPLE,
    RoutingCase,
    cases_of_examples,
    read_multipart_set,
    read_routing_set,
    read_tool_set,
    shipped_set,
)
from sestet.models.router import DIRECT
from sestet.models.router.weights import read_weights
from tests.evals.samples import plain

NAMES = [spec.name for spec in default_specs()]
TOOLS = {name: room_tools(name) for name in NAMES}
GOOD = '{"request": "list the files", "agent": "operator"}\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.jsonl"


def complaint(file: Path, content: str | bytes) -> str:
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(PersonError) as raised:
        read_routing_set(file, NAMES)
    return str(raised.value).replace(str(file), "mine.jsonl")


def test_the_shipped_sets_are_read_whole_and_no_request_stands_twice() -> None:
    sets = (
        read_routing_set(shipped_set("routing"), NAMES),
        read_multipart_set(shipped_set("multipart"), NAMES),
        read_tool_set(shipped_set("tools"), TOOLS),
    )
    for cases in sets:
        requests = [case.request for case in cases]
        assert len(requests) == len(set(requests)) >= 60


def test_every_owner_that_the_router_has_learned_has_cases_of_both_kinds() -> None:
    cases = read_routing_set(shipped_set("routing"), NAMES)
    learned = read_weights().header["agents"]
    assert DIRECT in learned
    assert {(case.agent, case.kind) for case in cases} == {
        (agent, kind) for agent in learned for kind in ("plain", "hard")
    }


def test_no_example_of_a_plaque_or_a_tool_is_a_case() -> None:
    sets = [shipped_set("routing"), shipped_set("tools"), shipped_set("multipart")]
    lines = [line for file in sets for line in file.read_text(encoding="utf-8").splitlines()]
    requests = {plain(json.loads(line)["request"]) for line in lines}
    examples = [example for spec in default_specs() for example in spec.examples]
    examples += [example for tools in TOOLS.values() for tool in tools for example in tool.examples]
    assert [example for example in examples if plain(example) in requests] == []


def test_further_keys_blank_lines_and_a_byte_order_mark_are_no_mistakes(file: Path) -> None:
    lines = '\ufeff{"request": "a", "agent": "direct", "kind": "odd", "note": 1}\r\n\n' + GOOD
    file.write_text(lines, encoding="utf-8")
    assert read_routing_set(file, NAMES) == [
        RoutingCase("a", "direct", "odd"),
        RoutingCase("list the files", "operator"),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"request": "a", "agent": "liberian"}', "got 'liberian'; did you mean 'librarian'?"),
        ('{"request": "a"}', "agent: is required"),
        ('{"request": 3, "agent": "vault"}', "request: expected string, got 3"),
        ('{"request": " ", "agent": "vault"}', "request: is empty"),
        ("[1]", "expected an object such as"),
        ('{"request": "a"', "is not JSON: Expecting ',' delimiter at column 16"),
        ("[" * 100_000, "is JSON that is nested too deeply or has too long a number"),
        (f'{{"request": {"9" * 5_000}}}', "is JSON that is nested too deeply or has too long a number"),
    ],
    ids=["unknown agent", "no agent", "no text", "blank", "no object", "no JSON", "deep", "long number"],
)
def test_what_is_wrong_is_said_with_file_and_line(file: Path, line: str, problem: str) -> None:
    said = complaint(file, f"{GOOD}\n{line}\n")
    assert said.startswith("mine.jsonl, line 3: ")
    assert problem in said


def test_all_problems_are_said_at_once_but_not_hundreds(file: Path) -> None:
    lines = complaint(file, "?\n" * 300).splitlines()
    assert lines[0].startswith("mine.jsonl, line 1: is not JSON")
    assert lines[10:] == ["and 290 more"]


def test_a_set_that_is_empty_missing_or_no_text_is_refused(file: Path) -> None:
    assert complaint(file, "\n\n").startswith("mine.jsonl: the set is empty; a case is one line such as")
    assert complaint(file, f"{GOOD}caf\xe9".encode("latin-1")) == "mine.jsonl, line 2: is not text in UTF-8"
    with pytest.raises(PersonError, match=r"gone: cannot be read: No such file"):
        read_routing_set(Path("gone"), NAMES)


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ({"tool": "fs_reed"}, "got 'fs_reed'; did you mean 'fs_read'?"),
        ({"agent": "vault"}, "tool: expected one of"),
        ({"arguments": {"paht": "a"}}, "arguments.paht: is not known; did you mean 'path'?"),
        ({"arguments": []}, "arguments: expected object"),
        ({"arguments": {"path": {"contains": "a"}}}, "arguments.path.contains: expected array, got 'a'"),
    ],
    ids=["unknown tool", "another's tool", "unknown argument", "no arguments", "no list of parts"],
)
def test_a_case_for_tools_names_a_real_tool_and_its_arguments(
    file: Path, case: dict[str, object], problem: str
) -> None:
    right = {"request": "a", "agent": "operator", "tool": "fs_read", "arguments": {"path": "a"}}
    file.write_text(json.dumps({**right, **case}), encoding="utf-8")
    tools = {**TOOLS, "vault": TOOLS["chronicler"]}
    with pytest.raises(PersonError, match=re.escape(problem)):
        read_tool_set(file, tools)


def test_a_specialist_without_cases_is_tried_on_its_own_examples() -> None:
    newcomer = AgentSpec("newcomer", examples=("water the roses", "is it time to sow beans"))
    known = AgentSpec("vault", examples=("seal this note",))
    shipped = read_routing_set(shipped_set("routing"), NAMES)
    assert cases_of_examples((known, newcomer), shipped) == [
        RoutingCase("water the roses", "newcomer", EXAMPLE),
        RoutingCase("is it time to sow beans", "newcomer", EXAMPLE),
    ]
