"""Remote agents beside the local ones, through the public library."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

import sestet
from sestet.core.event import DelegationFinished, TurnFinished
from tests.remote.server import Agent, Server, refused_url, running_agent

_REQUEST = "What is the weather in Köln tomorrow?"


@pytest.fixture(autouse=True)
def no_proxy_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
async def weather() -> AsyncIterator[Server]:
    async with running_agent(Agent("Sunny, 21 degrees.")) as server:
        yield server


def _settings(url: str) -> dict[str, object]:
    allowed = {"tool": "remote_weather", "target": "weather"}
    a2a = {"enabled": True, "remoteAgents": [{"name": "weather", "url": url}]}
    return {"a2a": a2a, "policy": {"allow": [allowed]}}


def _delegate(agent_name: str, request: str) -> sestet.ToolCall:
    arguments = {"agent_name": agent_name, "request": request, "reply": True}
    return sestet.ToolCall("transfer_to_agent", arguments)


@pytest.mark.scenario("003-remote-loaded")
async def test_a_remote_agent_is_appended_to_the_sub_agents_and_described_in_the_instruction(
    tmp_path: Path, weather: Server
) -> None:
    async with sestet.open({}, home=tmp_path / "a", model=sestet.ScriptedModel([])) as app:
        local = [agent.name for agent in app.root.sub_agents]
    async with sestet.open(
        _settings(weather.url), home=tmp_path / "b", model=sestet.ScriptedModel([])
    ) as app:
        root, warnings = app.root, app.warnings

    assert [agent.name for agent in root.sub_agents] == [*local, "weather"]
    assert root.sub_agents[-1].description.startswith("Weather Office. Knows the weather of every town.")
    assert "### weather\n" in root.instruction
    assert root.sub_agents[-1].description in root.instruction
    assert warnings == ()


@pytest.mark.scenario("003-remote-loaded")
async def test_a_remote_agent_is_given_the_delegated_request_alone_and_its_answer_is_the_reply(
    tmp_path: Path, weather: Server
) -> None:
    model = sestet.ScriptedModel([_delegate("weather", _REQUEST)])

    async with sestet.open(_settings(weather.url), home=tmp_path, model=model) as app:
        events = [event async for event in app.run_turn("s1", "My secret is swordfish. Will it rain?")]

    assert isinstance(events[-1], TurnFinished)
    assert (events[-1].author, events[-1].text) == ("weather", "Sunny, 21 degrees.")
    card, sent = weather.received
    assert card.path == "/.well-known/agent-card.json"
    assert sent.body["params"]["message"]["parts"] == [{"text": _REQUEST}]
    assert "swordfish" not in str(sent)


@pytest.mark.scenario("003-remote-unreachable")
async def test_an_unreachable_remote_agent_is_skipped_with_a_warning_and_the_local_ones_work(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = refused_url()
    model = sestet.ScriptedModel([_delegate("planner", "plan a picnic"), "1. Pack a basket."])

    async with sestet.open({}, home=tmp_path / "a", model=sestet.ScriptedModel([])) as app:
        local = [agent.name for agent in app.root.sub_agents]
    async with sestet.open(_settings(url), home=tmp_path / "b", model=model) as app:
        root, warnings = app.root, app.warnings
        events = [event async for event in app.run_turn("s1", "plan a picnic")]

    assert [agent.name for agent in root.sub_agents] == local
    assert "### weather" not in root.instruction
    (warning,) = warnings
    assert f"the remote agent 'weather' at '{url}' is skipped: " in warning
    assert ("sestet.remote", "WARNING", warning) in [
        (record.name, record.levelname, record.getMessage()) for record in caplog.records
    ]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].text == "1. Pack a basket."


@pytest.mark.scenario("003-remote-unreachable")
async def test_a_remote_agent_that_goes_away_later_is_a_failed_delegation(tmp_path: Path) -> None:
    model = sestet.ScriptedModel([_delegate("weather", _REQUEST), "I could not reach the weather office."])

    async with AsyncExitStack() as stack:
        async with running_agent(Agent("sunny")) as server:
            opening = sestet.open(_settings(server.url), home=tmp_path, model=model)
            app = await stack.enter_async_context(opening)
        events = [event async for event in app.run_turn("s1", "Will it rain?")]

    (finished,) = [event for event in events if isinstance(event, DelegationFinished)]
    assert (finished.agent, finished.outcome) == ("weather", "failed")
    assert "the remote agent 'weather' could not be asked" in finished.text + finished.cause
    assert isinstance(events[-1], TurnFinished)
