"""Tools of MCP servers in whole turns: who may call them, what is asked, which labels follow."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import sestet
from sestet.config.mcp_settings import McpServerSettings
from sestet.core.event import ApprovalRequested, DelegationFinished, Event, ToolFinished, TurnStarted
from sestet.core.record import replace
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.services.mcp.pins import PinList
from tests.runtime.transcript import transfer
from tests.services.mcp.world import READS_ONLY, World, program

LOOK = sestet.ToolCall("hostile__look", {})
PLAIN = program("hostile")


def in_settings(**entries: McpServerSettings) -> Mapping[str, object]:
    return {"mcpServers": {name: _as_settings(entry) for name, entry in entries.items()}}


def _as_settings(entry: McpServerSettings) -> Mapping[str, object]:
    tools = {
        name: {"risk": each.risk, "effect": each.effect, "reads": list(each.reads)}
        for name, each in entry.tools.items()
    }
    given = {"command": entry.command, "args": list(entry.args), "agent": entry.agent, "tools": tools}
    return {name: value for name, value in given.items() if value}


async def turn(
    world: World, settings: Mapping[str, object], *script: ScriptItem
) -> tuple[list[Event], ScriptedModel]:
    model = ScriptedModel(list(script))
    async with sestet.open(settings, model=model, home=world.data) as app:
        events = [event async for event in app.run_turn("s", "please look")]
        while questions := app.approvals.pending():
            app.decide(questions[0].id, "approve")
            events += [event async for event in app.resume_turn(questions[0].turn_id)]
    return events, model


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.chdir(made.work)
    return made


async def test_an_undeclared_tool_asks_and_its_result_is_untrusted(world: World) -> None:
    await world.trust(hostile=PLAIN)
    script = (transfer("operator"), LOOK, "it saw something", "done")
    events, _ = await turn(world, in_settings(hostile=PLAIN), *script)

    (asked,) = (event for event in events if isinstance(event, ApprovalRequested))
    (result,) = (
        event for event in events if isinstance(event, ToolFinished) and event.call.name == LOOK.name
    )
    assert "MCP server 'hostile'" in str(asked)
    assert (result.outcome, result.text) == ("ok", "seen")
    assert result.label.untrusted
    assert result.label.private


async def test_the_specialist_that_reads_a_strangers_descriptions_is_labelled_and_the_turn_is_not(
    world: World,
) -> None:
    entry = replace(PLAIN, tools={"look": READS_ONLY})
    await world.trust(hostile=entry)
    script = (transfer("operator"), "nothing to do", transfer("planner"), "a plan", "done")
    events, model = await turn(world, in_settings(hostile=entry), *script)

    labels = {event.agent: event.label for event in events if isinstance(event, DelegationFinished)}
    assert labels["operator"].untrusted
    assert "hostile" in str(labels["operator"].sources)
    (started,) = (event for event in events if isinstance(event, TurnStarted))
    assert not started.label.untrusted
    # The orchestrator reads only the owner's words about the server.
    assert "A tool." not in model.requests[0].instruction
    assert "the tools of the MCP server hostile" in model.requests[0].instruction


async def test_a_quarantined_tool_is_shown_and_nobody_is_told_of_it(world: World) -> None:
    entry = replace(PLAIN, agent="")
    await world.trust(hostile=entry)
    async with sestet.open(in_settings(hostile=entry), model=ScriptedModel([]), home=world.data) as app:
        unmatched = [tool.name for tool in app.unmatched]
        owned = [tool.name for agent in app.root.sub_agents for tool in agent.tools or ()]
        warnings, prompt = " ".join(app.warnings), app.root.instruction

    assert unmatched == ["hostile__look"]
    assert "hostile__look" not in owned
    assert "hostile" not in prompt
    assert "'hostile' is quarantined" in warnings


async def test_a_flat_agent_gets_no_quarantined_tool(world: World) -> None:
    await world.trust(hostile=PLAIN)
    settings = {"agent": {"multiAgent": False}, **in_settings(hostile=replace(PLAIN, agent="nobody"))}
    async with sestet.open(settings, model=ScriptedModel([]), home=world.data) as app:
        assert "hostile__look" not in [tool.name for tool in app.root.tools or ()]


async def test_no_server_is_started_before_its_first_call(world: World, tmp_path: Path) -> None:
    """The schemas come from the trusted list: a first reply waits for no server."""
    await world.trust(hostile=PLAIN)
    mark = tmp_path / "started"
    code = f"import pathlib; pathlib.Path({str(mark)!r}).touch(); raise SystemExit"
    entry = replace(PLAIN, args=("-c", code))
    known = world.pins.read()["hostile"]
    world.pins.trust("hostile", entry, known.tools)
    _, model = await turn(world, in_settings(hostile=entry), transfer("operator"), "nothing to do", "done")

    assert "hostile__look" in [tool.name for tool in model.requests[1].tools]
    assert not mark.exists()


async def test_a_trusted_list_that_lies_in_the_workspace_trusts_nothing(world: World) -> None:
    await world.trust(hostile=PLAIN)
    inside = PinList(world.data, [world.data.parent])
    assert inside.read() == {}
    assert "lies in the workspace" in inside.why_unusable()


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": 1, "servers": []}', b"\xff", b"[" * 100_000])
async def test_a_damaged_list_trusts_nothing(world: World, content: bytes) -> None:
    await world.trust(hostile=PLAIN)
    (world.data / "mcp.json").write_bytes(content)
    assert world.pins.read() == {}


async def test_a_list_that_another_user_can_write_trusts_nothing(world: World) -> None:
    await world.trust(hostile=PLAIN)
    assert json.loads((world.data / "mcp.json").read_bytes())["servers"].keys() == {"hostile"}
    (world.data / "mcp.json").chmod(0o666)
    assert world.pins.read() == {}


async def test_the_librarian_reads_resources_that_a_server_lists_and_no_others(world: World) -> None:
    notes = replace(program("notes"), agent="operator")
    await world.trust(notes=notes)
    read = sestet.ToolCall("search_mcp_resource", {"server": "notes", "uri": "note://welcome"})
    other = sestet.ToolCall("search_mcp_resource", {"server": "notes", "uri": "note://my-secret"})
    listed = sestet.ToolCall("search_mcp_list", {})
    script = (transfer("librarian"), listed, read, other, "read it", "done")
    events, _ = await turn(world, in_settings(notes=notes), *script)

    results = [event for event in events if isinstance(event, ToolFinished)]
    assert [event.outcome for event in results][:3] == ["ok", "ok", "error"]
    assert "note://welcome" in results[0].text
    assert results[1].text.startswith("Welcome.")
    assert results[1].label.untrusted
    assert "lists no resource" in results[2].text
