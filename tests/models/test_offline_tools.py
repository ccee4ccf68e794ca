"""Tools and arguments without a model: by examples, by the forms of things, by the words beside them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Annotated, cast

import pytest

from sestet import agents
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.tool import Tool, tool
from sestet.models.offline import matching
from sestet.models.offline.matching import find_tool, guess_tool, lacks_number, match_tool
from sestet.models.offline.words import clauses_of

_ROOMS = {spec.name: agents.room_tools(spec.name) for spec in agents.default_specs()}


def found(agent: str, request: str, *, foreseen: bool = False) -> tuple[str, dict[str, JsonValue]]:
    match = match_tool(request, _ROOMS[agent]) if foreseen else find_tool(request, _ROOMS[agent])
    return (match.tool.name, match.arguments) if match else ("", {})


@pytest.mark.parametrize(
    "request_text",
    [
        "search the files for tea",
        "SEARCH the   Files\tfor tea",
        # Without regard to case, a long s is an s.
        "\N{LATIN SMALL LETTER LONG S}earch the files for tea",
    ],
)
def test_a_request_fits_an_example_in_any_case_and_spacing(request_text: str) -> None:
    assert found("operator", request_text, foreseen=True) == ("fs_search", {"text": "tea"})


def test_only_examples_whose_words_the_request_has_become_patterns() -> None:
    compiled = matching._pattern  # pyright: ignore[reportPrivateUsage] - its cache counts them
    compiled.cache_clear()
    match_tool("quokka", _ROOMS["operator"])
    assert compiled.cache_info().misses == 0


@pytest.mark.parametrize(
    ("agent", "request_text", "tool", "arguments"),
    [
        ("operator", "let me have a look at docs/plan.md", "fs_read", {"path": "docs/plan.md"}),
        ("operator", "show the first 5 lines of notes.txt", "fs_read", {"path": "notes.txt", "lines": 5}),
        ("operator", "read a.log from line 120 on", "fs_read", {"path": "a.log", "start": 120}),
        ("operator", "what is inside the invoices directory", "fs_list", {"path": "invoices"}),
        ("operator", "search the *.md files for tea", "fs_search", {"text": "tea", "glob": "*.md"}),
        ("operator", 'search the files for "green tea"', "fs_search", {"text": "green tea"}),
        ("operator", "please delete notes.txt", "fs_delete", {"path": "notes.txt"}),
        (
            "operator",
            "write three lines to todo.txt",
            "fs_write",
            {"text": "three lines", "path": "todo.txt"},
        ),
        (
            "chronicler",
            "I'm a vegetarian, keep that in mind",
            "memory_remember",
            {"fact": "I'm a vegetarian"},
        ),
        ("chronicler", "my name is Jonas", "memory_remember", {"fact": "my name is Jonas"}),
        ("chronicler", "where does my sister live?", "memory_recall", {"query": "where does my sister live"}),
        ("chronicler", "m2 is wrong: I am 40", "memory_update", {"memory": "m2", "fact": "I am 40"}),
        ("chronicler", "list your three newest observations", "memory_list_observations", {"limit": 3}),
        (
            "librarian",
            "save this as a procedure in the knowledge base: water the plants on Friday",
            "save_knowledge",
            {"category": "procedure", "content": "water the plants on Friday"},
        ),
        (
            "librarian",
            "is there anything on rent in our knowledge base?",
            "search_knowledge",
            {"query": "rent"},
        ),
        (
            "librarian",
            "add to the graph that the outage was caused by a full disk",
            "graph_add",
            {"subject": "the outage", "predicate": "caused_by", "object": "a full disk"},
        ),
        (
            "librarian",
            "show the graph around Anna, two steps",
            "graph_traverse",
            {"start_node": "Anna", "max_depth": 2},
        ),
        (
            "librarian",
            "how are Anna and Berlin connected?",
            "graph_path",
            {"from_node": "Anna", "to_node": "Berlin"},
        ),
    ],
)
def test_a_request_in_other_words_finds_its_tool_and_fills_it(
    agent: str, request_text: str, tool: str, arguments: dict[str, JsonValue]
) -> None:
    assert found(agent, request_text) == (tool, arguments)


@pytest.mark.parametrize(
    ("agent", "request_text"),
    [
        ("operator", "upload notes.txt"),
        ("operator", "rename the folder docs"),
        ("operator", "upload three lines to todo.txt"),
        ("chronicler", "encrypt my diary"),
        ("chronicler", "write a poem about the sea"),
        ("chronicler", "write me an email to my boss"),
    ],
)
def test_a_deed_that_no_tool_names_is_not_done_by_another_tool(agent: str, request_text: str) -> None:
    assert found(agent, request_text) == ("", {})


@pytest.mark.parametrize("agent", ["librarian", "chronicler"])
@pytest.mark.parametrize(
    "question", ["what have we saved about rent?", "do I like tea?", "which facts do you remember of Anna?"]
)
def test_nothing_is_changed_on_a_guess_from_a_question(agent: str, question: str) -> None:
    match = guess_tool(question, _ROOMS[agent])

    assert match is None or match.tool.effect == "none"


@pytest.mark.parametrize(
    ("agent", "request_text"),
    [
        ("chronicler", "don't remember that I like tea"),
        ("chronicler", "please do not note that I like tea"),
        ("chronicler", "never remember that I like tea"),
        ("chronicler", "you should not remember that I like tea"),
        ("chronicler", "I don't want you to remember that I smoke"),
        ("chronicler", "don\N{RIGHT SINGLE QUOTATION MARK}t write down that I was ill"),
        ("librarian", "please don't save this knowledge: tea is good"),
    ],
)
def test_what_is_not_to_be_done_is_not_done(agent: str, request_text: str) -> None:
    match = find_tool(request_text, _ROOMS[agent])

    assert match is None or match.tool.effect == "none"


@pytest.mark.parametrize("request_text", ["don't forget that I do not smoke", "dont forget I do not smoke"])
def test_what_is_not_to_be_forgotten_is_remembered(request_text: str) -> None:
    assert found("chronicler", request_text)[0] == "memory_remember"


@pytest.mark.parametrize("question", ["remember when we went to Rome?", "remember what I told you?"])
def test_what_is_asked_is_not_kept(question: str) -> None:
    assert found("chronicler", question)[0] == "memory_recall"


@pytest.mark.parametrize(
    ("request_text", "tool", "arguments"),
    [
        ("could you remember my name is Eva?", "memory_remember", {"fact": "my name is Eva"}),
        ("can you remember that when it rains I walk?", "memory_remember", {"fact": "when it rains I walk"}),
        ("write down that the plumber came", "observe_event", {"event": "the plumber came"}),
    ],
)
def test_a_polite_request_keeps_what_it_says(
    request_text: str, tool: str, arguments: dict[str, JsonValue]
) -> None:
    assert found("chronicler", request_text) == (tool, arguments)


@tool(
    risk="safe",
    reads=(),
    effect="none",
    recovery="pure",
    examples=("dim the lamp to {level}", "set the level of the lamp to {level}"),
)
async def lamp_dim(level: Annotated[float, "The level, from 0 to 1"]) -> str:
    """Dim the lamp."""
    return f"The lamp is at {level}."


@pytest.mark.parametrize(
    ("request_text", "level"),
    [
        ("dim the lamp to 0.5", 0.5),
        ("dim the lamp to 1", 1.0),
        ("dim the lamp to 0", 0.0),
        ("dim the lamp to .75", 0.75),
        ("dim the lamp to -.5", -0.5),
        ("dim the lamp to 1,5", 1.5),
        ("dim the lamp to half", 0.5),
        ("dim the lamp to two", 2.0),
        ("please dim the lamp a bit, to a level of 0.25", 0.25),
    ],
)
def test_a_number_with_a_fraction_is_an_argument(request_text: str, level: float) -> None:
    match = find_tool(request_text, [lamp_dim])

    assert match is not None
    assert match.arguments == {"level": level}


def test_words_in_the_place_of_a_number_are_told() -> None:
    assert lacks_number("please dim the lamp to a cosy light", [lamp_dim]) == (
        "“a cosy light” is no number, and that takes one, as in “dim the lamp to 2”."
    )
    assert lacks_number("dim the mirror", [lamp_dim]) == ""


def test_a_long_text_is_taken_whole_by_an_example_with_one_slot() -> None:
    fact = "I like " + "tea, " * 5_000 + "and milk"

    assert found("chronicler", f"remember that {fact}") == ("memory_remember", {"fact": fact})
    assert found("librarian", "add " + "a, " * 5_000 + "b to the graph") == ("", {})


@pytest.mark.parametrize("gap", [" ", "\n", "\t"])
def test_wide_gaps_do_not_matter(gap: str) -> None:
    assert found("operator", f"read{gap * 400}notes.txt{gap * 400}") == ("fs_read", {"path": "notes.txt"})


def test_a_gap_without_end_is_looked_at_once() -> None:
    gap = " " * 300_000

    assert [clause.text for clause in clauses_of(f"one{gap}two{gap}- three")] == [f"one{gap}two", "three"]


def cases() -> Iterator[tuple[str, str, str, JsonObject]]:
    lines = files("sestet").joinpath("evals", "sets", "tools.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines:
        case = json.loads(line)
        yield case["request"], case["agent"], case["tool"], case["arguments"]


def is_right(wanted: JsonObject, given: Mapping[str, JsonValue]) -> bool:
    return all(_fits(value, given.get(name)) for name, value in wanted.items())


def _fits(wanted: JsonValue, given: JsonValue) -> bool:
    if isinstance(wanted, Mapping):
        parts = cast("Sequence[str]", wanted["contains"])
        return all(part.casefold() in str(given).casefold() for part in parts)
    if isinstance(wanted, str):
        return isinstance(given, str) and given.strip().rstrip("/.").casefold() == wanted.casefold()
    return given == wanted


def test_in_its_own_room_it_makes_four_of_five_calls_right() -> None:
    """The figure on the page about models; the set is never learned from."""
    results = [(tool, wanted, found(agent, request)) for request, agent, tool, wanted in cases()]
    right = [tool == name and is_right(wanted, given) for tool, wanted, (name, given) in results]

    assert sum(right) / len(right) >= 0.8
    # A wrong guess that changes something is worse than none.
    changed = [
        name for tool, _, (name, _) in results if name and name != tool and _tool(name).effect != "none"
    ]
    assert len(changed) / len(right) <= 0.03, changed


def _tool(name: str) -> Tool:
    return next(tool for tools in _ROOMS.values() for tool in tools if tool.name == name)
