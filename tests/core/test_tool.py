"""A decorated function becomes a tool; what is not declared counts as the worst."""

from typing import Annotated

import pytest

from sestet.core.errors import DefinitionError
from sestet.core.label import CLEAN
from sestet.core.schema import JsonObject
from sestet.core.tool import CallInfo, Tool, tool


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
    ],
)
def test_a_fixed_result_has_no_room_for_anybodys_text(schema: JsonObject, allowed: bool) -> None:
    async def looked() -> bool:
        """Look."""
        return True

    if allowed:
        assert tool(fixed_result=schema)(looked).fixed_result == schema
    else:
        with pytest.raises(DefinitionError, match="'looked': what fits its fixed_result could carry text"):
            tool(fixed_result=schema)(looked)
