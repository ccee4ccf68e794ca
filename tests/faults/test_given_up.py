"""An effect that is given up half-way is said to be in doubt, however the work ended."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import sestet
from sestet.core.errors import InDoubtError
from sestet.core.event import (
    DelegationFinished,
    Event,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
)
from sestet.core.model import ModelRequest
from sestet.core.tool import CallInfo, tool
from tests.faults.opened import TURNS_ALONE, Home, read_all
from tests.faults.plan import PlanModel
from tests.faults.test_in_doubt import outcomes, told
from tests.faults.watched import DeathAfterEvent
from tests.remote.server import Agent, running_agent

DOUBT = [("exec_endless", "in_doubt")]


@tool(risk="safe", effect="local", reads=(), recovery="unsafe")
async def exec_endless(call: CallInfo, /, what: str) -> str:
    """Begin something, and do not come back."""
    await asyncio.Event().wait()
    return what


@tool(risk="safe", effect="none", reads=(), recovery="pure")
async def fs_endless(what: str) -> str:
    """Look at something without end."""
    await asyncio.Event().wait()
    return what


@tool(risk="safe", effect="local", reads=(), recovery="keyed", timeout=0.01)
async def exec_slow(what: str) -> str:
    """Begin something that takes longer than it may."""
    await asyncio.Event().wait()
    return what


@tool(risk="safe", effect="none", reads=(), recovery="pure", timeout=0.01)
async def fs_slow(what: str) -> str:
    """Look at something for longer than it may."""
    await asyncio.Event().wait()
    return what


@tool(risk="safe", effect="external", targets=("what",), reads=(), recovery="unsafe")
async def exec_unanswered(what: str) -> str:
    """Send something to a server that does not answer."""
    raise InDoubtError("the server closed the connection after it had the message")


@tool(risk="safe", effect="local", reads=(), recovery="unsafe")
async def exec_stubborn(what: str) -> str:
    """Finish the work although it is stopped."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return "done all the same"
    return what


TOOLS = (exec_endless, fs_endless, exec_slow, fs_slow, exec_unanswered, exec_stubborn)


def home_of(path: Path, **limits: float) -> Home:
    return Home(path, {**TURNS_ALONE, "limits": limits}, TOOLS)


async def run(home: Home, plan: str, at_call: Callable[[sestet.App, ToolCalled], object]) -> list[Event]:
    """The events of a turn; ``at_call`` is called at each intent."""
    seen: list[Event] = []
    async with home.open() as app, asyncio.timeout(20):
        async for event in app.run_turn("s1", plan):
            seen.append(event)
            if isinstance(event, ToolCalled):
                at_call(app, event)
        assert list(app.journal.events_of(seen[0].stamp.turn_id))[-1] == seen[-1]
    return seen


def nothing(app: sestet.App, event: ToolCalled) -> None:
    """Let the call run."""


def comes_before(events: Sequence[Event], end: type[Event]) -> bool:
    doubt = next(n for n, e in enumerate(events) if isinstance(e, ToolFinished) and e.outcome == "in_doubt")
    return any(isinstance(event, end) for event in events[doubt:])


async def test_a_call_that_a_stopped_turn_gives_up_is_in_doubt(tmp_path: Path) -> None:
    seen = await run(home_of(tmp_path), "operator: exec_endless a", lambda app, event: app.cancel_turn("s1"))

    assert outcomes(seen) == DOUBT
    assert comes_before(seen, DelegationFinished)
    assert isinstance(seen[-1], TurnCancelled)


async def test_a_call_of_the_only_agent_that_a_stopped_turn_gives_up_is_in_doubt(tmp_path: Path) -> None:
    home = Home(tmp_path, {**TURNS_ALONE, "agent": {"multiAgent": False}}, TOOLS)
    seen = await run(home, "exec_endless a", lambda app, event: app.cancel_turn("s1"))

    assert outcomes(seen) == DOUBT
    assert isinstance(seen[-1], TurnCancelled)


async def test_a_call_that_only_looks_at_something_is_never_in_doubt(tmp_path: Path) -> None:
    seen = await run(home_of(tmp_path), "operator: fs_endless a", lambda app, event: app.cancel_turn("s1"))

    assert outcomes(seen) == []


async def test_a_call_that_finishes_although_it_is_stopped_is_not_in_doubt(tmp_path: Path) -> None:
    seen = await run(home_of(tmp_path), "operator: exec_stubborn a", lambda app, event: app.cancel_turn("s1"))

    assert outcomes(seen) == [("exec_stubborn", "ok")]
    assert isinstance(seen[-1], TurnCancelled)


async def test_a_call_that_a_stopped_delegation_gives_up_is_in_doubt(tmp_path: Path) -> None:
    requests: list[ModelRequest] = []
    home = replace(home_of(tmp_path), model=PlanModel(requests.append))
    seen = await run(
        home, "operator: exec_endless a", lambda app, event: app.cancel_delegation("s1", event.delegation_id)
    )

    assert outcomes(seen) == DOUBT
    assert isinstance(seen[-1], TurnFinished)
    assert "not known whether it took effect" in told(requests), "the orchestrator is told"


async def test_a_call_that_a_delegation_has_no_time_for_is_in_doubt(tmp_path: Path) -> None:
    requests: list[ModelRequest] = []
    home = replace(home_of(tmp_path, delegationSeconds=1), model=PlanModel(requests.append))
    seen = await run(home, "operator: exec_endless a", nothing)

    assert outcomes(seen) == DOUBT
    (result,) = (event for event in seen if isinstance(event, DelegationFinished))
    assert result.outcome == "timeout"
    assert "not known whether it took effect" in told(requests), "the orchestrator is told"


async def test_calls_that_a_turn_has_no_time_for_are_in_doubt(tmp_path: Path) -> None:
    seen = await run(
        home_of(tmp_path, seconds=1), "operator: exec_endless a | operator: exec_endless b", nothing
    )

    assert outcomes(seen) == 2 * DOUBT
    assert isinstance(seen[-1], TurnFailed)
    assert seen[-1].cause == "timeout"


async def test_a_call_is_in_doubt_when_its_reader_leaves(tmp_path: Path) -> None:
    async with home_of(tmp_path).open() as app:
        turn = app.run_turn("s1", "operator: exec_endless a")
        seen: list[Event] = []
        while not (seen and isinstance(seen[-1], ToolCalled)):
            seen.append(await anext(turn))
        await turn.aclose()

        written = list(app.journal.events_of(seen[0].stamp.turn_id))

    assert outcomes(written) == DOUBT
    assert isinstance(written[-1], TurnCancelled)


async def test_a_call_that_takes_longer_than_its_tool_may_is_in_doubt(tmp_path: Path) -> None:
    requests: list[ModelRequest] = []
    home = replace(home_of(tmp_path), model=PlanModel(requests.append))
    seen = await run(home, "operator: exec_slow a, fs_slow b", nothing)

    assert outcomes(seen) == [("exec_slow", "in_doubt"), ("fs_slow", "error")]
    assert "took longer than 0.01 seconds" in told(requests)


async def test_a_tool_can_say_that_its_effect_is_in_doubt(tmp_path: Path) -> None:
    seen = await run(home_of(tmp_path), "operator: exec_unanswered a", nothing)

    assert outcomes(seen) == [("exec_unanswered", "in_doubt")]
    (finished,) = (event for event in seen if isinstance(event, ToolFinished))
    assert "closed the connection" in finished.text


async def test_giving_up_a_turn_that_was_cut_off_says_what_is_in_doubt(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    death = DeathAfterEvent("tool_called", "exec_unsafe")
    seen = await home.die(death, lambda app: app.run_turn("s1", "operator: fs_keyed a, exec_unsafe b"))

    async with home.open() as app:
        doubts = await app.abandon_turn(seen[0].stamp.turn_id)
        written = list(app.journal.events_of(seen[0].stamp.turn_id))

    assert outcomes(doubts) == [("exec_unsafe", "in_doubt")]
    assert outcomes(written) == [("fs_keyed", "ok"), ("exec_unsafe", "in_doubt")]
    assert isinstance(written[-1], TurnCancelled)
    assert len({event.seq for event in written}) == len(written)


async def test_giving_up_a_turn_that_only_looked_at_something_says_nothing(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    death = DeathAfterEvent("tool_called", "fs_endless")
    with_intent = "operator: fs_endless a | operator: exec_unsafe b"
    seen = await home.die(death, lambda app: app.run_turn("s1", with_intent))

    async with home.open() as app:
        doubts = await app.abandon_turn(seen[0].stamp.turn_id)

    assert ("fs_endless", "in_doubt") not in outcomes(doubts)


async def _never(task: object) -> None:
    await asyncio.Event().wait()


async def test_a_remote_agent_that_does_not_answer_in_time_leaves_its_request_in_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with running_agent(Agent(_never)) as server:
        settings = {
            **TURNS_ALONE,
            "a2a": {"enabled": True, "remoteAgents": [{"name": "stranger", "url": server.url}]},
            "policy": {
                "allow": [
                    {"tool": "remote_stranger", "target": "stranger", "private": True},
                    {"tool": "exec_unsafe", "target": "*"},
                ]
            },
            "limits": {"delegationSeconds": 1},
        }
        async with Home(tmp_path, settings).open() as app:
            seen = await read_all(app.run_turn("s1", "stranger: book the flight"))

    assert outcomes(seen) == [("transfer_to_agent", "in_doubt")]
    (result,) = (event for event in seen if isinstance(event, DelegationFinished))
    assert (result.agent, result.outcome) == ("stranger", "timeout")


async def test_a_remote_agent_that_answers_leaves_nothing_in_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with running_agent(Agent("It is booked.")) as server:
        settings = {
            **TURNS_ALONE,
            "a2a": {"enabled": True, "remoteAgents": [{"name": "stranger", "url": server.url}]},
            "policy": {
                "allow": [
                    {"tool": "remote_stranger", "target": "stranger", "private": True},
                    {"tool": "exec_unsafe", "target": "*"},
                ]
            },
        }
        async with Home(tmp_path, settings).open() as app:
            plan = "stranger: book the flight then operator: exec_unsafe a"
            seen = await read_all(app.run_turn("s1", plan))

    assert outcomes(seen) == [("exec_unsafe", "ok")]
