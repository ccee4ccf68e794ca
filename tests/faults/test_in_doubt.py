"""A call that was cut off in its effect is in doubt, whatever changed before the turn was resumed."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sestet.core.agent import AgentSpec
from sestet.core.event import DelegationFinished, Event, ToolFinished, TurnFinished
from sestet.core.message import ToolMessage
from sestet.core.model import ModelRequest
from sestet.core.record import replace as changed
from sestet.core.tool import CallInfo, tool
from sestet.storage.database import FILE_NAME
from tests.faults.opened import TURNS_ALONE, Home, read_all
from tests.faults.plan import PlanModel
from tests.faults.watched import DeathAfterEvent
from tests.remote.server import Agent, running_agent

COURIER = AgentSpec("courier", "Delivers parcels.", prefixes=("parcel_",))
PLAN = "courier: parcel_send a"


@tool(risk="safe", effect="external", targets=("what",), reads=(), recovery="unsafe")
async def parcel_send(call: CallInfo, /, what: str) -> str:
    """Send a parcel."""
    return f"sent {what}"


@tool(risk="safe", effect="none", reads=(), recovery="pure")
async def parcel_track(what: str) -> str:
    """Say where a parcel is."""
    return f"{what} is under way"


def outcomes(events: Sequence[Event]) -> list[tuple[str, str]]:
    return [(e.call.name, e.outcome) for e in events if isinstance(e, ToolFinished)]


def couriers(path: Path) -> Home:
    return Home(path, tools=(parcel_send, parcel_track), specs=(COURIER,))


def heard_by(home: Home, requests: list[ModelRequest]) -> Home:
    return replace(home, model=PlanModel(requests.append))


def told(requests: Sequence[ModelRequest]) -> str:
    """All results that models were shown."""
    return "\n".join(m.text for r in requests for m in r.messages if isinstance(m, ToolMessage))


def check_doubt(events: Sequence[Event], requests: Sequence[ModelRequest], name: str = "parcel_send") -> None:
    assert [outcome for outcome in outcomes(events) if outcome[0] == name] == [(name, "in_doubt")]
    assert "not known whether it took effect" in told(requests), "the model is told"
    assert isinstance(events[-1], TurnFinished)


async def test_a_call_whose_tool_is_gone_is_in_doubt(tmp_path: Path) -> None:
    home, requests = couriers(tmp_path), list[ModelRequest]()
    seen = await home.die(DeathAfterEvent("tool_called"), lambda app: app.run_turn("s1", PLAN))

    resumed = await heard_by(replace(home, tools=(parcel_track,)), requests).resume(seen)

    check_doubt(resumed, requests)


async def test_a_pure_call_whose_tool_is_gone_is_refused(tmp_path: Path) -> None:
    home = couriers(tmp_path)
    plan = "courier: parcel_track a"
    seen = await home.die(DeathAfterEvent("tool_called"), lambda app: app.run_turn("s1", plan))

    resumed = await replace(home, tools=(parcel_send,)).resume(seen)

    assert outcomes(resumed) == [("parcel_track", "refused")]


async def test_a_call_whose_arguments_no_longer_fit_is_in_doubt(tmp_path: Path) -> None:
    home, requests = couriers(tmp_path), list[ModelRequest]()
    seen = await home.die(DeathAfterEvent("tool_called"), lambda app: app.run_turn("s1", PLAN))
    other_type = {"type": "object", "properties": {"what": {"type": "integer"}}, "required": ["what"]}
    stricter = changed(parcel_send, parameters=other_type)

    resumed = await heard_by(replace(home, tools=(stricter,)), requests).resume(seen)

    check_doubt(resumed, requests)


async def test_a_call_whose_agent_is_gone_is_in_doubt(tmp_path: Path) -> None:
    home, requests = couriers(tmp_path), list[ModelRequest]()
    seen = await home.die(DeathAfterEvent("tool_called"), lambda app: app.run_turn("s1", PLAN))

    resumed = await heard_by(replace(home, tools=(), specs=()), requests).resume(seen)

    check_doubt(resumed, requests)
    (result,) = (event for event in resumed if isinstance(event, DelegationFinished))
    assert (result.agent, result.outcome) == ("courier", "failed")


async def test_the_other_delegations_keep_their_place_when_an_agent_is_gone(tmp_path: Path) -> None:
    home, requests = couriers(tmp_path), list[ModelRequest]()
    death = DeathAfterEvent("tool_called", "parcel_send")
    plan = "courier: parcel_track a, parcel_send b | operator: fs_pure c, fs_keyed d, fs_pure e"
    seen = await home.die(death, lambda app: app.run_turn("s1", plan))

    resumed = await heard_by(replace(home, tools=(), specs=()), requests).resume(seen)

    check_doubt(resumed, requests)
    results = {e.delegation_id: (e.agent, e.outcome) for e in resumed if isinstance(e, DelegationFinished)}
    assert results == {"d1": ("courier", "failed"), "d2": ("operator", "ok")}
    assert home.effects.of("fs_keyed").total() == 1


async def test_a_call_is_in_doubt_although_fewer_rounds_are_allowed_now(tmp_path: Path) -> None:
    home, requests = couriers(tmp_path), list[ModelRequest]()
    plan = f"operator: fs_pure a then {PLAN}"
    death = DeathAfterEvent("tool_called", "parcel_send")
    seen = await home.die(death, lambda app: app.run_turn("s1", plan))

    fewer = {**TURNS_ALONE, "agent": {"maxDelegationRounds": 1}}
    resumed = await heard_by(replace(home, settings=fewer), requests).resume(seen)

    check_doubt(resumed, requests)


def single(home: Home) -> Home:
    return replace(home, settings={**TURNS_ALONE, "agent": {"multiAgent": False}})


async def test_a_call_of_a_specialist_is_in_doubt_when_one_agent_does_everything_now(tmp_path: Path) -> None:
    home, requests = couriers(tmp_path), list[ModelRequest]()
    seen = await home.die(DeathAfterEvent("tool_called"), lambda app: app.run_turn("s1", PLAN))

    resumed = await heard_by(single(home), requests).resume(seen)

    check_doubt(resumed, requests)


async def test_a_call_of_the_only_agent_is_in_doubt_when_specialists_have_the_tools_now(
    tmp_path: Path,
) -> None:
    home, requests = couriers(tmp_path), list[ModelRequest]()
    death = DeathAfterEvent("tool_called")
    seen = await single(home).die(death, lambda app: app.run_turn("s1", "parcel_send a"))

    resumed = await heard_by(home, requests).resume(seen)

    check_doubt(resumed, requests)


async def test_a_recorded_result_is_read_although_its_tool_is_gone(tmp_path: Path) -> None:
    home, requests = couriers(tmp_path), list[ModelRequest]()
    seen = await home.die(DeathAfterEvent("tool_finished"), lambda app: app.run_turn("s1", PLAN))

    resumed = await heard_by(replace(home, tools=(parcel_track,)), requests).resume(seen)

    assert outcomes(resumed) == []
    assert "sent a" in told(requests)


async def test_a_mistake_counts_after_a_crash_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    plan = "operator: no_such a, no_such b, no_such c, fs_keyed d"
    death = DeathAfterEvent("tool_finished", number=2)
    seen = await home.die(death, lambda app: app.run_turn("s1", plan))

    resumed = await home.resume(seen)

    (result,) = (event for event in resumed if isinstance(event, DelegationFinished))
    assert result.outcome == "failed"
    assert not home.effects.of("fs_keyed")


NOBODY: Mapping[str, object] = TURNS_ALONE


@pytest.mark.parametrize("is_gone", [True, False])
async def test_a_request_to_a_remote_agent_is_in_doubt_although_the_agent_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_gone: bool
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    requests: list[ModelRequest] = []
    async with running_agent(Agent("It is booked.")) as server:
        peer = {"name": "stranger", "url": server.url}
        settings = {
            **TURNS_ALONE,
            "a2a": {"enabled": True, "remoteAgents": [peer]},
            "policy": {"allow": [{"tool": "remote_stranger", "target": "stranger", "private": True}]},
        }
        home = Home(tmp_path, settings)
        death = DeathAfterEvent("tool_called")
        seen = await home.die(death, lambda app: app.run_turn("s1", "stranger: book the flight"))
        sent = len(server.methods)

        later = replace(home, settings=NOBODY) if is_gone else home
        resumed = await heard_by(later, requests).resume(seen)

        assert len(server.methods) == sent, "nothing was sent again"
    check_doubt(resumed, requests, "transfer_to_agent")
    (result,) = (event for event in resumed if isinstance(event, DelegationFinished))
    assert (result.agent, result.outcome) == ("stranger", "failed")


async def test_a_journal_of_an_earlier_version_leaves_no_doubt_unsaid(tmp_path: Path) -> None:
    """It does not say which call a delegation belongs to, nor what can be done about a call."""
    home = couriers(tmp_path)
    seen = await home.die(DeathAfterEvent("tool_called"), lambda app: app.run_turn("s1", PLAN))
    other = sqlite3.connect(tmp_path / FILE_NAME)
    other.execute("UPDATE events SET data = json_remove(data, '$.call_id', '$.recovery')")
    other.commit()
    other.close()

    resumed = await replace(home, tools=(), specs=()).resume(seen)

    assert outcomes(resumed) == [("parcel_send", "in_doubt")]


async def test_nothing_is_asked_about_a_call_that_is_in_doubt(tmp_path: Path) -> None:
    """The intents of a turn come before every other check, so the person is not asked either."""
    home, requests = couriers(tmp_path), list[ModelRequest]()
    seen = await home.die(DeathAfterEvent("tool_called"), lambda app: app.run_turn("s1", PLAN))
    dangerous = changed(parcel_send, risk="dangerous", calls_per_turn=0)

    async with heard_by(replace(home, tools=(dangerous,)), requests).open() as app:
        resumed = await read_all(app.resume_turn(seen[0].stamp.turn_id))
        assert app.approvals.pending() == []

    check_doubt(resumed, requests)
