"""The list of conversations over HTTP: what each is doing, and going on with a turn that was cut off."""

import asyncio
from pathlib import Path
from typing import Any

import sestet
from tests.detached.test_turns import HangingModel
from tests.server.served import SETTINGS, Served, serving
from tests.server.test_conversations import exec_send, read_turn, send, to_operator
from tests.server.test_sessions import talk


async def listed(served: Served) -> dict[str, dict[str, Any]]:
    async with served.client() as client:
        answer = await client.get("/api/sessions")
    return {each["id"]: each for each in answer.json()["sessions"]}


async def cut_off(home: Path, session: str) -> None:
    """Leave a turn behind as a killed process does."""
    model = HangingModel()
    async with sestet.open(SETTINGS, model=model, home=home) as app:

        async def read() -> None:
            async for _ in app.run_turn(session, "hi"):
                pass

        reader = asyncio.create_task(read())
        await model.asked.wait()
    await asyncio.wait((reader,))
    assert reader.exception() is not None


async def test_the_list_says_what_the_latest_turn_of_each_conversation_does(tmp_path: Path) -> None:
    replies = ("Hello!", to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}))
    async with serving(tmp_path, *replies, tools=[exec_send]) as served:
        done = await talk(served, "done", "hi")
        paused = await talk(served, "asks", "send a note to carol")
        found = await listed(served)

    assert {name: (each["state"], each["turn"], each["cut_off"]) for name, each in found.items()} == {
        "done": ("finished", done, False),
        "asks": ("paused", paused, False),
    }
    assert all(each["since"] >= each["created_at"] > 0 for each in found.values())


async def test_a_running_turn_is_told_before_the_message_that_waits_for_it(tmp_path: Path) -> None:
    model = HangingModel()
    async with serving(tmp_path, model=model) as served, served.client() as client:
        running = await send(served, "s1", "one")
        await model.asked.wait()
        waiting = await send(served, "s1", "two")
        during = (await listed(served))["s1"]
        refused = await client.post(f"/api/turns/{running['turn']}/resume")
        for each in (waiting, running):
            await client.post(f"/api/turns/{each['turn']}/cancel")
        await read_turn(served, running["turn"])

    assert (during["state"], during["turn"], during["cut_off"]) == ("running", running["turn"], False)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")


async def test_a_message_that_waits_for_another_process_is_queued(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two") as served:
        await talk(served, "s1", "a")
        async with served.app.runner.locks.hold("s1"):
            accepted = await send(served, "s1", "b")
            found = (await listed(served))["s1"]
        await read_turn(served, accepted["turn"])

    assert (found["state"], found["turn"]) == ("queued", accepted["turn"])


async def test_a_turn_that_was_cut_off_is_listed_and_goes_on(tmp_path: Path) -> None:
    await cut_off(tmp_path, "s1")
    async with serving(tmp_path, "Hello!") as served, served.client() as client:
        before = (await listed(served))["s1"]
        resumed = await client.post(f"/api/turns/{before['turn']}/resume")
        seen = await read_turn(served, before["turn"])
        after = (await listed(served))["s1"]
        again = await client.post(f"/api/turns/{before['turn']}/resume")

    assert (before["state"], before["cut_off"]) == ("running", True)
    assert (resumed.status_code, resumed.json()["state"]) == (200, "running")
    assert seen[-1]["kind"] == "turn_finished"
    assert (after["state"], after["cut_off"], after["since"]) == ("finished", False, before["since"])
    assert again.status_code == 409


async def test_a_turn_that_another_process_runs_is_not_cut_off(tmp_path: Path) -> None:
    model = HangingModel()
    async with serving(tmp_path) as served, served.client() as client:
        async with sestet.open(SETTINGS, model=model, home=tmp_path) as other:

            async def read() -> None:
                async for _ in other.run_turn("s1", "hi"):
                    pass

            reader = asyncio.create_task(read())
            await model.asked.wait()
            during = (await listed(served))["s1"]
            refused = await client.post(f"/api/turns/{during['turn']}/resume")
        await asyncio.wait((reader,))
        assert reader.exception() is not None
        after = (await listed(served))["s1"]

    assert (during["state"], during["cut_off"], refused.status_code) == ("running", False, 409)
    assert after["cut_off"]


async def test_a_turn_that_waits_for_a_decision_is_not_resumed_without_one(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}))
    async with serving(tmp_path, *replies, tools=[exec_send]) as served, served.client() as client:
        turn = await talk(served, "s1", "send a note to carol")
        refused = await client.post(f"/api/turns/{turn}/resume")

    assert (refused.status_code, refused.json()["error"]["way_out"]) == (
        409,
        "decide its questions, or give it up",
    )
