"""A decorated function becomes a tool; a missing declaration counts as the worst case."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import pytest

from sestet.core.errors import DefinitionError
from sestet.core.label import CLEAN
from sestet.core.schema import JsonObject, object_schema
from sestet.core.tool import CallInfo, Tool, ToolFunction, tool


class Shelf:
    """A service."""

    def __init__(self, books: str) -> None:
        self.books = books


@tool(risk="safe", effect="none", reads=(), recovery="pure", examples=("find {title}",))
async def books_find(
    call: CallInfo, shelf: Shelf, /, title: Annotated[str, "its title"], limit: int = 5
) -> str:
    """Find a book."""
    return f"{call.agent} found {title} in {shelf.books}, {limit}"


def test_a_function_becomes_a_tool_with_its_schema() -> None:
    assert books_find.name == "books_find"
    assert books_find.description == "Find a book."
    assert books_find.parameters == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "its title"},
            "limit": {"type": "integer", "default": 5},
        },
        "additionalProperties": False,
        "required": ["title"],
    }
    assert books_find.examples == ("find {title}",)


def test_a_name_is_enough_and_then_everything_counts_as_the_worst() -> None:
    bare = Tool(name="exec_shell")

    assert (bare.risk, bare.effect, bare.recovery) == ("dangerous", "money", "unsafe")
    assert bare.reads == ("untrusted", "private")


async def test_services_are_put_before_the_arguments_of_the_model() -> None:
    bound = books_find.bind({Shelf: Shelf("the hall")})

    assert bound is not None
    assert bound.function is not None
    info = CallInfo("s", "t", "librarian", "c", CLEAN)
    assert await bound.function(info, title="Emma", limit=1) == "librarian found Emma in the hall, 1"


def test_a_tool_whose_service_is_switched_off_does_not_exist() -> None:
    assert books_find.bind({}) is None


async def test_the_decorator_needs_no_parentheses() -> None:
    @tool
    async def time_now() -> str:
        """Tell the time."""
        return "noon"

    assert time_now.function is not None
    assert await time_now.function() == "noon"


def test_mistakes_in_a_definition_name_the_tool_and_the_argument() -> None:
    async def undocumented(x: int) -> str:
        return str(x)

    def blocking() -> str:
        """Blocks."""
        return ""

    async def odd(when: bytes) -> str:
        """Takes bytes."""
        return str(when)

    with pytest.raises(DefinitionError, match="'undocumented' needs a docstring"):
        tool(undocumented)
    with pytest.raises(DefinitionError, match="'blocking' must be an 'async def'"):
        tool(blocking)  # pyright: ignore[reportArgumentType] - the mistake under test
    with pytest.raises(DefinitionError, match="'odd', argument 'when': no JSON Schema"):
        tool(odd)


BOUNDED: JsonObject = {"type": "integer", "minimum": 0, "maximum": 9}


@pytest.mark.parametrize(
    ("schema", "allowed"),
    [
        ({"type": "boolean"}, True),
        (BOUNDED, True),
        ({"type": "string", "enum": ["yes", "no"]}, True),
        ({"type": "object", "properties": {"n": BOUNDED}, "additionalProperties": False}, True),
        ({"anyOf": [BOUNDED, {"type": "null"}]}, True),
        ({}, False),
        ({"type": "string"}, False),
        ({"type": "string", "enum": []}, False),
        ({"type": "boolean", "anyOf": [{"type": "string"}]}, False),
        ({"type": "integer", "minimum": 0}, False),
        ({"type": "array", "items": BOUNDED}, False),
        ({"type": "object", "properties": {"n": BOUNDED}}, False),
        ({"type": "object", "properties": {"n": {"type": "string"}}, "additionalProperties": False}, False),
        ({"type": "integer", "minimum": 0, "maximum": 10**70}, False),
        ({"type": "integer", "minimum": -(2**62), "maximum": 2**62}, True),
        ({"type": "number", "minimum": 0, "maximum": 1}, True),
        # A whole number is a number too, and this one has a thousand bits.
        ({"type": "number", "minimum": 0, "maximum": 1e300}, False),
        ({"type": "number", "minimum": 0, "maximum": float("nan")}, False),
        ({"type": "integer", "minimum": 0, "maximum": 10**400}, False),
        (object_schema({name: {"type": "number", "minimum": 0, "maximum": 1} for name in "ab"}), False),
        (object_schema({str(n): {"type": "boolean"} for n in range(100)}), False),
        ({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 0, "maximum": 10**70}]}, False),
    ],
)
def test_a_fixed_result_has_no_room_for_anybodys_text(schema: JsonObject, allowed: bool) -> None:
    async def looked() -> bool:
        """Look."""
        return True

    if allowed:
        assert tool(fixed_result=schema)(looked).fixed_result == schema
    else:
        with pytest.raises(DefinitionError, match="'looked': values that fit"):
            Tool("looked", fixed_result=schema)
        with pytest.raises(
            DefinitionError, match="'looked': values that fit its fixed_result could carry text"
        ):
            tool(fixed_result=schema)(looked)


@dataclass(frozen=True)
class Shelfmark:
    room: str
    number: int = 1


async def test_a_tool_gets_the_dataclasses_and_tuples_that_it_asks_for() -> None:
    async def found(shelf: Shelf, /, place: Shelfmark, others: tuple[Shelfmark, ...] = ()) -> str:
        return f"{shelf.books}: {place.room} {place.number}, {others}"

    @tool(recovery="probe", probe=found)
    async def books_fetch(shelf: Shelf, /, place: Shelfmark, others: tuple[Shelfmark, ...] = ()) -> str:
        """Fetch a book."""
        return await found(shelf, place, others)

    bound = books_fetch.bind({Shelf: Shelf("hall")})

    assert bound is not None
    for function in (bound.function, bound.probe):
        assert function is not None
        assert await function(place={"room": "B"}, others=[]) == "hall: B 1, ()"


def test_a_dataclass_may_be_a_default() -> None:
    @tool
    async def books_fetch(place: Shelfmark = Shelfmark("A")) -> str:  # noqa: B008 - frozen
        """Fetch a book."""
        return place.room

    assert "required" not in books_fetch.parameters


@dataclass
class Chain:
    next: "Chain | None" = None


async def looped(chain: Chain) -> str:
    """Takes a chain."""
    return str(chain)


async def open_ended(*titles: str, **rest: str) -> str:
    """Takes anything."""
    return str((titles, rest))


async def defaulted(limit: Annotated[int, {"minimum": 1}] = 0) -> str:
    """Takes too little."""
    return str(limit)


async def find(title: str) -> str:
    """Find."""
    return title


class Room:
    async def find(self, title: str) -> str:
        """Find."""
        return title


@pytest.mark.parametrize(
    ("function", "mistake"),
    [
        (looped, "tool 'looped', argument 'chain': its type contains itself"),
        (open_ended, r"tool 'open_ended': .* name them instead of '\*titles: str'"),
        (defaulted, "tool 'defaulted', the default of 'limit': must be at least 1, got 0"),
        (partial(find, title="Emma"), "tool 'partial' must be an 'async def' function"),
        (
            Room.find,
            "tool 'find': the argument 'self' needs a type; to use a method, make the tool from an object",
        ),
    ],
)
def test_a_function_that_cannot_be_a_tool_says_why(function: ToolFunction, mistake: str) -> None:
    with pytest.raises(DefinitionError, match=mistake):
        tool(function)


def test_a_type_that_is_nowhere_to_be_found_is_named() -> None:
    async def look(title: str) -> str:
        """Find."""
        return title

    look.__annotations__["title"] = "Nowhere"

    with pytest.raises(DefinitionError, match="tool 'look': name 'Nowhere' is not defined"):
        tool(look)


def test_a_method_of_an_object_can_be_a_tool() -> None:
    assert tool(Room().find).parameters["required"] == ["title"]


async def find_elsewhere(name: str) -> str | None:
    return name


@pytest.mark.parametrize(
    ("declared", "mistake"),
    [
        ({"risk": "low"}, "'low' is none of safe, guarded, dangerous"),
        ({"effect": "outside"}, "'outside' is none of none, store, local, external, money"),
        ({"recovery": "never"}, "'never' is none of pure, keyed, probe, unsafe"),
        ({"reads": ("secret",)}, "reads must be a tuple of untrusted, private"),
        ({"reads": "private"}, "reads must be a tuple of untrusted, private"),
        ({"targets": ("to",)}, r"targets must be a tuple of names of its arguments, got \('to',\)"),
        ({"standing": "send ANY text to {to}"}, "the slots of standing must be among its targets, got 'send"),
        ({"targets": "title"}, "targets must be a tuple of names of its arguments, got 'title'"),
        ({"examples": "find {title}"}, "examples must be a tuple of texts"),
        ({"timeout": 0}, "timeout must be seconds above 0, got 0"),
        ({"recovery": "probe"}, "recovery 'probe' needs a probe"),
        ({"recovery": "probe", "probe": find_elsewhere}, "its probe must have the parameters of the tool"),
        ({"recovery": "probe", "probe": Room}, "its probe must be an 'async def' function"),
    ],
)
def test_a_declaration_that_is_not_known_is_refused_rather_than_taken_for_harmless(
    declared: Any,  # Any: the mistakes under test
    mistake: str,
) -> None:
    with pytest.raises(DefinitionError, match=f"tool 'find': {mistake}"):
        tool(**declared)(find)
