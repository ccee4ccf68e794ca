"""Servers of the MCP kit as sources of tools: trust, ownership, calls, and their ends."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sestet.config.mcp_settings import McpServerSettings, McpToolSettings
from sestet.core.agent import UNMATCHED
from sestet.core.errors import InDoubtError, PersonError, ToolError
from sestet.core.record import replace
from sestet.services.mcp.entries import entry_problem
from sestet.services.mcp.servers import tool_name
from tests.services.mcp.world import PROGRAMS, READS_ONLY, World, call, function_of, program

NOTES = program("notes")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_a_server_that_nobody_looked_at_is_quarantined_and_not_started(world: World) -> None:
    async with world.open(notes=replace(NOTES, command="/does/not/exist")) as servers:
        (server,) = servers.servers

    assert server.state == "untrusted"
    assert servers.tools == ()
    assert "sestet mcp trust notes" in servers.warnings[0]


async def test_a_trusted_server_gives_its_tools_to_the_agent_that_the_owner_names(world: World) -> None:
    await world.trust(notes=NOTES)
    async with world.open(notes=NOTES) as servers:
        tool = function_of(servers, "notes__add_note")
        answer = await call(servers, "notes__add_note", title="milk", text="two litres")

    assert (tool.owner, answer) == ("operator", "added milk: two litres")
    assert tool.outside is not None
    assert "title" in str(tool.parameters)


async def test_undeclared_tools_count_as_the_worst_and_results_are_always_untrusted(world: World) -> None:
    declared = {"add_note": McpToolSettings(risk="safe", reads=(), effect="local", targets=("title",))}
    entry = replace(NOTES, tools=declared)
    await world.trust(notes=entry)
    async with world.open(notes=entry) as servers:
        own, other = (function_of(servers, f"notes__{name}") for name in ("add_note", "fail"))

    assert (own.risk, own.effect, own.targets, own.reads) == ("safe", "local", ("title",), ("untrusted",))
    assert (other.risk, other.effect, other.recovery) == ("dangerous", "money", "unsafe")
    assert other.reads == ("untrusted", "private")


async def test_a_server_without_an_agent_is_listed_and_callable_by_nobody(world: World) -> None:
    entry = replace(NOTES, agent="")
    await world.trust(notes=entry)
    async with world.open(notes=entry) as servers:
        assert servers.tools == ()
        assert {tool.name for tool in servers.quarantined} >= {"notes__add_note"}
        assert all(tool.owner == UNMATCHED and tool.function is None for tool in servers.quarantined)
        assert "belongs to no agent" in servers.warnings[0]


async def test_an_agent_that_does_not_exist_gets_nothing(world: World) -> None:
    entry = replace(NOTES, agent="librarain")
    await world.trust(notes=entry)
    async with world.open(notes=entry) as servers:
        assert servers.tools == ()
        assert "did you mean 'librarian'" in servers.warnings[0]


async def test_another_command_is_another_server(world: World) -> None:
    await world.trust(notes=NOTES)
    async with world.open(notes=replace(NOTES, args=(*NOTES.args, "--other"))) as servers:
        assert servers.servers[0].state == "changed"
        assert servers.tools == ()


async def test_trust_that_is_taken_back_ends_calls_at_once(world: World) -> None:
    await world.trust(notes=NOTES)
    async with world.open(notes=NOTES) as servers:
        await call(servers, "notes__add_note", title="a")
        world.pins.forget("notes")
        with pytest.raises(ToolError, match="quarantined"):
            await call(servers, "notes__add_note", title="b")


async def test_an_error_of_a_tool_is_an_error_and_the_server_goes_on(world: World) -> None:
    await world.trust(notes=NOTES)
    async with world.open(notes=NOTES) as servers:
        with pytest.raises(ToolError, match="out of paper"):
            await call(servers, "notes__fail")
        assert await call(servers, "notes__add_note", title="a") == "added a: "


async def test_a_server_that_dies_in_a_call_leaves_it_in_doubt_and_starts_again(world: World) -> None:
    await world.trust(notes=NOTES)
    async with world.open(notes=NOTES) as servers:
        with pytest.raises(InDoubtError, match="notes"):
            await call(servers, "notes__exit_now")
        assert await call(servers, "notes__add_note", title="a") == "added a: "


async def test_a_call_without_an_effect_is_never_in_doubt(world: World) -> None:
    entry = replace(NOTES, tools={"exit_now": READS_ONLY})
    await world.trust(notes=entry)
    async with world.open(notes=entry) as servers:
        with pytest.raises(ToolError) as error:
            await call(servers, "notes__exit_now")
    assert not isinstance(error.value, InDoubtError)


async def test_a_program_has_only_the_variables_that_its_entry_names(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    entry = replace(NOTES, env={"TOKEN": "abc"})
    await world.trust(notes=entry)
    async with world.open(notes=entry) as servers:
        names = (await call(servers, "notes__environment")).split()
        token = await call(servers, "notes__variable", name="TOKEN")

    assert set(names) <= {"PATH", "HOME", "LANG", "TOKEN", "LC_CTYPE", "PWD"}
    assert token == "abc"


async def test_a_declaration_for_a_tool_that_is_not_there_is_named(world: World) -> None:
    entry = replace(NOTES, tools={"add_notes": READS_ONLY, "fail": McpToolSettings(targets=("who",))})
    await world.trust(notes=entry)
    async with world.open(notes=entry) as servers:
        first, second = servers.warnings

    assert "did you mean 'add_note'" in first
    assert "targets must be" in second
    assert "notes__fail" not in {tool.name for tool in servers.tools}


async def test_resources_and_prompts_can_be_read(world: World) -> None:
    await world.trust(notes=NOTES)
    async with world.open(notes=NOTES) as servers:
        connection = await servers.checked(servers.server("notes"))
        ((uri, _),) = await connection.list_resources()
        ((name, about),) = await connection.list_prompts()
        text = await connection.read_resource(uri)
        prompt = await connection.get_prompt(name, {"topic": "tea"})

    assert (uri, name) == ("note://welcome", "summarise")
    assert "topic" in about
    assert text.startswith("Welcome.")
    assert prompt == "user: Please summarise tea."


@pytest.fixture
def address() -> Iterator[str]:
    """The server of the kit over streamable HTTP, on loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, str(PROGRAMS / "notes.py"), str(port)], stderr=subprocess.DEVNULL
    ) as process:
        try:
            url = f"http://127.0.0.1:{port}/mcp"
            for _ in range(200):
                try:
                    httpx.get(url, timeout=5)
                    break
                except httpx.ConnectError:
                    process.poll()
            yield url
        finally:
            process.terminate()


@pytest.mark.slow
async def test_a_server_over_http_is_called_and_its_end_is_named(world: World, address: str) -> None:
    entry = McpServerSettings(url=address, headers={"x-key": "abc"}, agent="operator")
    await world.trust(notes=entry)
    async with world.open(notes=entry) as servers:
        assert await call(servers, "notes__add_note", title="a") == "added a: "
        with pytest.raises(InDoubtError, match="notes"):
            await call(servers, "notes__exit_now")
        with pytest.raises(ToolError, match="notes"):
            await call(servers, "notes__add_note", title="b")


async def test_an_unknown_server_is_answered_with_the_known_ones(world: World) -> None:
    async with world.open(notes=NOTES) as servers:
        with pytest.raises(PersonError, match="did you mean 'notes'"):
            await servers.look("note")
        with pytest.raises(ToolError, match="there is none"):
            servers.server("notes")


@pytest.mark.parametrize(
    ("name", "entry", "problem"),
    [
        ("a__b", {"command": "x"}, "single '_'"),
        ("a b", {"command": "x"}, "must start with a letter"),
        ("a", {}, "either a command or a url"),
        ("a", {"command": "x", "url": "http://h"}, "either a command or a url"),
        ("a", {"url": "ftp://h"}, "must begin with http"),
        ("a", {"url": "http://u:p@h"}, "credentials"),
        ("a", {"url": "http://h", "sandbox": True}, "for a server with a command"),
        ("a", {"command": "x", "headers": {"k": "v"}}, "for a server with a url"),
        ("a", {"type": "http", "command": "x"}, "needs a url"),
    ],
)
def test_a_wrong_entry_is_named(name: str, entry: dict[str, object], problem: str) -> None:
    assert problem in entry_problem(name, McpServerSettings(**entry))  # pyright: ignore[reportArgumentType]


def test_the_name_of_a_tool_begins_with_its_source_and_fits_every_vendor() -> None:
    assert tool_name("github", "create/issue") == "github__create_issue"
    long, other = tool_name("a", "x" * 90), tool_name("a", "x" * 91)
    assert len(long) == 64
    assert long != other
