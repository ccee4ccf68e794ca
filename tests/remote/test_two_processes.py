"""Round trips between two real processes: discovery, streaming, an approval there, cancel, and a kill."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest

from tests.remote.two_processes import PATIENCE, Json, Sestet, Wire, ask, events_of

pytestmark = pytest.mark.slow

CANARY = "zanzibar-7731"
FAR_RULES: list[Json] = [
    {
        "agent": "orchestrator",
        "when": "*forecast*",
        "say": "Sun first, rain later.",
        "piece": 5,
        "seconds": 0.05,
    },
    {"agent": "orchestrator", "when": "*slowly*", "say": "word " * 400, "piece": 5, "seconds": 0.1},
    {"agent": "orchestrator", "when": "*files*", "delegate": "operator", "reply": True},
    {"agent": "operator", "call": "fs_list", "arguments": {"path": "."}},
    {"agent": "operator", "after": "fs_list", "say": "There is nothing."},
]
NEAR_RULES: list[Json] = [
    {"agent": "orchestrator", "when": "my code*", "say": "Noted."},
    {"agent": "orchestrator", "after": "transfer_to_agent", "say": "It did not answer."},
    {"agent": "orchestrator", "delegate": "far", "reply": True},
]


class Pair(NamedTuple):
    near: Sestet
    far: Sestet
    wire: Wire


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncGenerator[Pair]:
    far = Sestet(tmp_path / "far", {"a2a": {"server": {"enabled": True}}}, FAR_RULES)
    async with Wire().listening() as wire:
        token = (await far.run("tokens", "new", "near", "--scope", "a2a")).split()[0]
        entry = {"name": "far", "url": f"http://{wire.place}", "apiKey": token}
        a2a = {"enabled": True, "remoteAgents": [entry]}
        policy = {"allow": [{"tool": "remote_far", "target": "far", "private": True}]}
        near = Sestet(tmp_path / "near", {"a2a": a2a, "policy": policy}, NEAR_RULES)
        try:
            await far.start("--allow-host", wire.place)
            wire.port = int(far.url.rpartition(":")[2])
            await near.start()
            yield Pair(near, far, wire)
        finally:
            await near.end()
            await far.end()


async def until(client: httpx2.AsyncClient, turn: str, kind: str) -> list[Json]:
    """The events of a turn up to the first of this kind."""
    seen = list[Json]()
    async with asyncio.timeout(PATIENCE), aclosing(events_of(client, turn)) as events:
        async for event in events:
            seen.append(event)
            if event["kind"] == kind:
                return seen
    raise AssertionError([event["kind"] for event in seen])


async def test_two_processes_work_together(pair: Pair) -> None:
    near, far, wire = pair
    async with near.client() as here, far.client() as there:
        # Discovery.
        tree = (await here.get("/api/agents")).json()
        assert "'far'" in str(tree)

        # A delegation whose answer is streamed; nothing of earlier turns is on the wire.
        await until(here, await ask(here, "s1", f"my code is {CANARY}"), "turn_finished")
        streamed = await until(here, await ask(here, "s1", "the forecast, please"), "turn_finished")
        assert [each["text"] for each in streamed if each["kind"] == "text_streamed"]
        assert (streamed[-1]["author"], streamed[-1]["text"]) == ("far", "Sun first, rain later.")
        assert b"the forecast, please" in wire.sent
        assert CANARY.encode() not in wire.sent

        # A question to the owner on the far side; the near side waits for it.
        turn = await ask(here, "s2", "list the files")
        waiting = await until(here, turn, "text_streamed")
        assert "waits for the approval of its own owner" in waiting[-1]["text"]
        (question,) = (await there.get("/api/approvals")).json()["approvals"]
        assert question["sources"] == ["the caller near"]
        await there.post(f"/api/approvals/{question['id']}", json={"decision": "approve"})
        assert (await until(here, turn, "turn_finished"))[-1]["text"] == "There is nothing."

        # A turn that is stopped here stops the task there.
        turn = await ask(here, "s3", "tell it slowly")
        await until(here, turn, "text_streamed")
        await here.post(f"/api/turns/{turn}/cancel")
        await until(here, turn, "turn_cancelled")
        async with asyncio.timeout(PATIENCE):
            while "turn_cancelled" not in await _last_kinds(there):  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.05)

        # The far side dies in the middle.
        turn = await ask(here, "s4", "tell it slowly again")
        await until(here, turn, "text_streamed")
        await far.end(signal.SIGKILL)
        end = await until(here, turn, "turn_finished")
        (result,) = [each for each in end if each["kind"] == "delegation_finished"]
        assert result["outcome"] == "failed"
        assert "'far' could not be asked for its result" in result["cause"]
        assert end[-1]["effects"]["in_doubt"] == ["far"]


async def _last_kinds(client: httpx2.AsyncClient) -> set[str]:
    sessions = (await client.get("/api/sessions")).json()["sessions"]
    return {
        event["kind"]
        for session in sessions
        for event in (await client.get(f"/api/sessions/{session['id']}/journal")).json()["events"]
    }


async def test_a_task_goes_on_after_its_server_was_killed(tmp_path: Path) -> None:
    slow: Json = {"say": "word " * 20, "piece": 5, "seconds": 0.1}
    far = Sestet(tmp_path, {"a2a": {"server": {"enabled": True}}}, [slow])
    token = (await far.run("tokens", "new", "near", "--scope", "a2a")).split()[0]
    headers = {"Authorization": f"Bearer {token}", "A2A-Version": "1.0"}
    sent = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    body = {"message": sent, "configuration": {"returnImmediately": True}}

    async def call(method: str, **params: object) -> Json:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False) as client:
            return (await client.post(f"{far.url}/a2a", json=request)).json()["result"]

    try:
        await far.start()
        task = (await call("SendMessage", **body))["task"]
        async with asyncio.timeout(PATIENCE):
            while task["status"]["state"] != "TASK_STATE_WORKING":
                task = await call("GetTask", id=task["id"])
        await far.end(signal.SIGKILL)
        await far.start()
        async with asyncio.timeout(PATIENCE):
            while task["status"]["state"] == "TASK_STATE_WORKING":
                await asyncio.sleep(0.05)
                task = await call("GetTask", id=task["id"])
    finally:
        await far.end()

    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert task["artifacts"][0]["parts"][0]["text"] == "word " * 20
