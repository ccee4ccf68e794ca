"""Servers that attack: each is contained, named, and nothing is lost."""

import asyncio
from pathlib import Path

import pytest

from sestet.agents import default_specs
from sestet.api import tool_owners
from sestet.core.errors import InDoubtError, ToolError
from sestet.core.record import replace
from sestet.services.mcp.connection import Connection, Patience
from sestet.services.mcp.listing import listed_tool, plain_line
from sestet.services.mcp.programs import ProgramStarter
from tests.services.mcp.world import READS_ONLY, World, call, function_of, no_sandbox, program


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_a_list_that_changes_between_two_calls_quarantines_the_server(
    world: World, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    entry = program("hostile", "changes", str(notes))
    await world.trust(hostile=entry)
    async with world.open(hostile=entry) as servers:
        await call(servers, "hostile__look")
        await call(servers, "hostile__look")
        with pytest.raises(ToolError, match=r"quarantined.*changed: look"):
            await call(servers, "hostile__look")
        # Its list is the old one again after a restart, and it stays quarantined all the same.
        with pytest.raises(ToolError, match="quarantined"):
            await call(servers, "hostile__look")
    async with world.open(hostile=entry) as servers:
        assert servers.servers[0].state == "changed"
        assert servers.tools == ()
        assert "changed: look" in servers.warnings[0]

    assert notes.read_text() == "called\n" * 2


async def test_a_foreign_secrets_get_does_not_land_in_the_vault(world: World) -> None:
    entry = replace(program("hostile", "secrets"), agent="operator")
    await world.trust(secrets=entry)
    async with world.open(secrets=entry) as servers:
        owners = tool_owners(servers.tools, default_specs())

    assert [tool.name for tool in owners["operator"]] == ["secrets__secrets_get"]
    assert owners["vault"] == ()


async def test_orders_in_descriptions_are_cleaned_and_bounded(world: World) -> None:
    entry = program("hostile", "orders")
    await world.trust(hostile=entry)
    async with world.open(hostile=entry) as servers:
        tool = function_of(servers, "hostile__look")

    said = f"{tool.description} {tool.parameters}"
    assert len(said) < 2_000
    assert not any(character in said for character in "\u202e\n`#")
    assert "MCP server 'hostile' itself" in tool.description


@pytest.mark.parametrize(
    ("mode", "told"),
    [("huge", "a message of more than 4 MB"), ("endless", "more than 16 MB"), ("lines", "more than 16 MB")],
)
async def test_a_flood_ends_the_call_in_doubt_and_the_server(world: World, mode: str, told: str) -> None:
    entry = program("hostile", mode)
    await world.trust(hostile=entry)
    async with world.open(hostile=entry) as servers:
        with pytest.raises(InDoubtError, match=told):
            await call(servers, "hostile__look")
        with pytest.raises(InDoubtError, match=told):
            await call(servers, "hostile__look")


async def test_a_flood_of_stderr_holds_nothing_up(world: World) -> None:
    entry = replace(program("hostile", "loud"), seconds=120)
    await world.trust(hostile=entry)
    async with world.open(hostile=entry) as servers:
        assert await call(servers, "hostile__look") == "seen"


async def test_a_line_that_is_no_message_is_passed_over(world: World) -> None:
    entry = program("hostile", "rubbish")
    await world.trust(hostile=entry)
    async with world.open(hostile=entry) as servers:
        assert await call(servers, "hostile__look") == "seen"


async def test_a_call_without_an_answer_ends_in_time(world: World) -> None:
    entry = replace(program("hostile", "silent"), seconds=1)
    await world.trust(hostile=entry)
    async with world.open(hostile=entry) as servers:
        with pytest.raises(InDoubtError, match="took longer than 1 s"):
            await call(servers, "hostile__look")


async def test_a_server_that_never_answers_the_handshake_is_given_up_and_waits_longer_each_time(
    world: World,
) -> None:
    entry = program("hostile", "deaf")
    starter = ProgramStarter("deaf", entry, world.work, no_sandbox)
    connection = Connection("deaf", entry, starter, Patience(start=0.3, first_pause=30, waited=0.1))
    with pytest.raises(ToolError, match="'deaf' did not start: it did not answer within"):
        await connection.list_tools()
    with pytest.raises(ToolError, match="can be started again in"):
        await connection.list_tools()
    await connection.close()


async def test_a_list_without_an_end_is_refused(world: World) -> None:
    entry = program("hostile", "pages")
    async with world.open(hostile=entry) as servers:
        with pytest.raises(ToolError, match="more than 200"):
            await servers.look("hostile")


async def test_a_program_that_does_not_exist_is_named(world: World) -> None:
    entry = replace(program("hostile"), command="no-such-program-here")
    async with world.open(hostile=entry) as servers:
        with pytest.raises(ToolError, match="no program 'no-such-program-here'"):
            await servers.look("hostile")


async def test_a_program_that_ends_at_once_is_told_with_its_last_words(world: World) -> None:
    entry = replace(program("hostile"), args=("-c", "raise SystemExit('no licence')"))
    async with world.open(hostile=entry) as servers:
        with pytest.raises(ToolError, match="no licence"):
            await servers.look("hostile")


async def test_a_stopped_turn_leaves_no_program_behind(world: World) -> None:
    entry = replace(program("hostile", "silent"), tools={"look": READS_ONLY})
    await world.trust(hostile=entry)
    async with world.open(hostile=entry) as servers:
        task = asyncio.create_task(call(servers, "hostile__look"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def test_definitions_that_refer_to_each_other_do_not_grow_without_bound() -> None:
    parts = {f"p{i}": {"$ref": "#/$defs/next"} for i in range(40)}
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/next"}},
        "$defs": {"next": {"type": "object", "properties": parts}},
    }
    tool = listed_tool({"name": "t", "inputSchema": schema})
    assert len(str(tool.parameters)) < 1_000_000


def test_a_schema_of_wrong_types_is_left_open() -> None:
    schema = {
        "type": 5,
        "properties": {"a": True, "b": {"type": ["string", "x"], "enum": "no"}},
        "required": "a",
    }
    tool = listed_tool({"name": "t", "inputSchema": schema})
    assert tool.parameters == {
        "type": "object",
        "properties": {"a": {}, "b": {"type": ["string"]}},
        "additionalProperties": False,
    }


def test_a_change_beyond_the_shown_part_of_a_description_changes_the_hash() -> None:
    one, other = (listed_tool({"name": "t", "description": "x" * 9_000 + end}) for end in "ab")
    assert one.description == other.description
    assert one.digest != other.digest


def test_a_line_of_a_stranger_is_bounded_before_it_is_read() -> None:
    assert len(plain_line("# x " * 10_000_000, 50)) <= 50
