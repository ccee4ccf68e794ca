"""However a turn ends, its last events tell the same facts about what its calls did."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sestet.core.errors import StorageError
from sestet.core.event import DelegationStarted, Effects, Event, ToolFinished, TurnCancelled, TurnFinished
from sestet.core.label import CLEAN, Origin
from sestet.core.tool import tool
from sestet.services.forgetting import Forgetting
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.journal import Journal
from sestet.storage.memories import MemoryStore
from tests.faults.opened import TURNS_ALONE, Home, read_into
from tests.faults.test_in_doubt import outcomes
from tests.faults.test_locked import ROUNDS, lock_of
from tests.faults.watched import DeathAfterEvent, DeathAtEvent, watched_connections
from tests.remote.server import Agent, running_agent


@tool(risk="safe", effect="none", reads=(), recovery="pure")
async def fs_endless(what: str) -> str:
    """Look at something without end."""
    await asyncio.Event().wait()
    return what


def forget(path: Path, turn_id: str) -> list[Event]:
    """The events of a turn that forgetting ends."""
    database = Database(path / FILE_NAME)
    MemoryStore(database).add("I like tea", Origin("s1", turn_id, CLEAN))
    done = Forgetting(database).forget("m1")
    assert done.ended == ("turn 1 of session 's1'",)
    events = list(Journal(database).events_of(turn_id))
    database.close()
    return events


async def abandon(home: Home, turn_id: str) -> list[Event]:
    async with home.open() as app:
        await app.abandon_turn(turn_id)
        return list(app.journal.events_of(turn_id))


def facts(events: Sequence[Event]) -> tuple[list[tuple[str, str]], Effects | None]:
    assert isinstance(events[-1], TurnCancelled)
    assert len({event.seq for event in events}) == len(events)
    return outcomes(events), events[-1].effects


async def test_forgetting_and_giving_up_tell_the_same_of_a_turn_that_was_cut_off(
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
                    {"tool": "fs_keyed", "target": "*"},
                ]
            },
        }
        home = Home(tmp_path / "one", settings, (fs_endless,))
        plan = "stranger: book it then operator: fs_keyed a, exec_unsafe b | operator: fs_endless c"
        death = DeathAfterEvent("tool_called", "exec_unsafe")
        seen = await home.die(death, lambda app: app.run_turn("s1", plan))
        turn_id = seen[0].stamp.turn_id
        shutil.copytree(tmp_path / "one", tmp_path / "two")
        given_up = await abandon(replace(home, path=tmp_path / "two"), turn_id)

    forgotten = forget(tmp_path / "one", turn_id)

    assert facts(forgotten) == facts(given_up)
    told, effects = facts(given_up)
    assert told == [("fs_keyed", "ok"), ("exec_unsafe", "in_doubt")]
    assert effects is not None
    assert effects.sent == ("stranger",)
    assert len(effects.in_doubt) == 1


async def test_a_remote_request_that_forgetting_leaves_in_doubt_bears_the_name_of_its_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with running_agent(Agent("It is booked.")) as server:
        settings = {
            **TURNS_ALONE,
            "a2a": {"enabled": True, "remoteAgents": [{"name": "stranger", "url": server.url}]},
            "policy": {"allow": [{"tool": "remote_stranger", "target": "stranger", "private": True}]},
        }
        home = Home(tmp_path, settings)
        death = DeathAfterEvent("tool_called")
        seen = await home.die(death, lambda app: app.run_turn("s1", "stranger: book it"))

    events = forget(tmp_path, seen[0].stamp.turn_id)

    (doubt,) = (event for event in events if isinstance(event, ToolFinished))
    assert doubt.outcome == "in_doubt"
    assert "remote_stranger" in doubt.text
    assert facts(events)[1] == Effects(in_doubt=("stranger",))


async def test_a_call_that_was_stopped_before_it_began_is_no_effect(tmp_path: Path) -> None:
    home = Home(tmp_path)
    seen: list[Event] = []
    async with home.open() as app, lock_of(tmp_path) as lock:
        async for event in app.run_turn("s1", "operator: fs_pure a, exec_unsafe b"):
            seen.append(event)
            if isinstance(event, ToolFinished) and event.call.name == "fs_pure":
                lock.take()
                for _ in range(ROUNDS // 2):
                    await asyncio.sleep(0)
                app.cancel_turn("s1")

    assert facts(seen) == ([("fs_pure", "ok"), ("exec_unsafe", "refused")], Effects())


#: Such delegations begin and end in commits of their own; a single one shares those of its turn.
TWO_AT_ONCE = "stranger: book it | planner:"


def with_stranger(url: str) -> dict[str, object]:
    return {
        **TURNS_ALONE,
        "a2a": {"enabled": True, "remoteAgents": [{"name": "stranger", "url": url}]},
        "policy": {"allow": [{"tool": "remote_stranger", "target": "stranger", "private": True}]},
    }


async def test_a_remote_request_that_was_stopped_is_not_sent_again_when_the_process_died_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    async def never(task: object) -> None:
        app.cancel_turn("s1")
        await asyncio.Event().wait()

    async with running_agent(Agent(never)) as server:
        home = Home(tmp_path, with_stranger(server.url))
        seen: list[Event] = []
        with watched_connections(DeathAtEvent("before", 1, "turn_cancelled").watch):
            async with home.open() as app:
                with pytest.raises(StorageError, match="the process is dead"):
                    await read_into(seen, app.run_turn("s1", TWO_AT_ONCE))
        sent = server.methods
        assert outcomes(seen) == [("transfer_to_agent", "in_doubt")]

        resumed = await home.resume(seen)

        assert server.methods == sent, "nothing was sent again"
    assert isinstance(resumed[-1], TurnFinished)
    assert resumed[-1].effects == Effects(in_doubt=("stranger",))


async def test_a_remote_request_that_is_stopped_while_its_intent_waits_was_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with running_agent(Agent("It is booked.")) as server:
        home = Home(tmp_path, with_stranger(server.url))
        seen: list[Event] = []
        async with home.open() as app, lock_of(tmp_path) as lock:
            async for event in app.run_turn("s1", TWO_AT_ONCE):
                seen.append(event)
                if isinstance(event, DelegationStarted) and event.agent == "stranger":
                    lock.take()
                    for _ in range(ROUNDS // 2):
                        await asyncio.sleep(0)
                    app.cancel_turn("s1")
        assert server.methods == []

    assert facts(seen) == ([("transfer_to_agent", "refused")], Effects())
