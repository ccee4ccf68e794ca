"""Conversations over HTTP: messages, events, cancelling, decisions."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import sestet
from sestet.detached.feeds import Feed
from sestet.server import event_stream
from sestet.storage.session_log import START, SessionLog
from tests.server.served import Served, serving


@sestet.tool(risk="guarded", effect="external", targets=("to",), recovery="unsafe", reads=())
async def exec_send(to: str) -> str:
    """Send a note to somebody."""
    return f"sent to {to}"


def to_operator(request: str) -> sestet.ToolCall:
    return sestet.ToolCall("transfer_to_agent", {"agent_name": "operator", "request": request, "reply": True})


async def events(response: httpx2.Response) -> AsyncGenerator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


async def read_turn(served: Served, turn: str, **headers: str) -> list[dict[str, Any]]:
    async with (
        served.client() as client,
        client.stream("GET", f"/api/turns/{turn}/events", headers=headers) as response,
    ):
        return [event async for event in events(response)]


async def send(served: Served, session: str, text: str, **more: object) -> dict[str, Any]:
    async with served.client() as client:
        answer = await client.post(f"/api/sessions/{session}/messages", json={"text": text, **more})
    assert answer.status_code == 202, answer.text
    return answer.json()


async def test_a_message_is_accepted_and_its_turn_followed_to_its_end(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served:
        accepted = await send(served, "s1", "hi")
        seen = await read_turn(served, accepted["turn"])

    assert [event["kind"] for event in seen if event["kind"] != "text_streamed"] == [
        "turn_started",
        "model_called",
        "turn_finished",
    ]
    assert seen[-1]["text"] == "Hello!"


async def test_a_new_conversation_gets_a_name_and_is_listed(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served, served.client() as client:
        accepted = (await client.post("/api/sessions", json={"text": "hi"})).json()
        await read_turn(served, accepted["turn"])
        listed = (await client.get("/api/sessions")).json()["sessions"]

    assert [(each["id"], each["title"], each["turns"]) for each in listed] == [(accepted["session"], "hi", 1)]


async def test_the_same_message_sent_twice_is_one_turn(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served:
        first = await send(served, "s1", "hi", key="k1")
        second = await send(served, "s1", "hi", key="k1")

    assert first["turn"] == second["turn"]


async def test_a_client_that_reconnects_gets_the_rest(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two") as served:
        first = await send(served, "s1", "a")
        seen = await read_turn(served, first["turn"])
        second = await send(served, "s1", "b")
        await read_turn(served, second["turn"])
        async with served.client() as client:
            url, headers = "/api/sessions/s1/events", {"Last-Event-ID": seen[-1]["place"]}
            async with client.stream("GET", url, headers=headers) as response:
                async for event in events(response):
                    assert event["turn"] == second["turn"]
                    if event["kind"] == "turn_finished":
                        break


async def test_a_question_is_decided_and_its_turn_goes_on(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}), "Sent.")
    async with serving(tmp_path, *replies, tools=[exec_send]) as served, served.client() as client:
        accepted = await send(served, "s1", "send a note to carol")
        seen = await read_turn(served, accepted["turn"])
        assert seen[-1]["kind"] == "turn_paused"
        (question,) = (await client.get("/api/approvals")).json()["approvals"]
        assert question["arguments"] == {"to": "carol"}

        decided = await client.post(f"/api/approvals/{question['id']}", json={"decision": "approve"})
        assert decided.status_code == 200
        rest = await read_turn(served, accepted["turn"], **{"Last-Event-ID": seen[-1]["place"]})
        again = await client.post(f"/api/approvals/{question['id']}", json={"decision": "deny"})

    assert rest[-1]["kind"] == "turn_finished"
    assert rest[-1]["effects"]["sent"] == ["carol"]
    assert (again.status_code, again.json()["error"]["code"]) == (409, "conflict")


async def test_a_turn_is_cancelled_while_its_reader_watches(tmp_path: Path) -> None:
    asked = asyncio.Event()

    @sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
    async def exec_wait() -> str:
        """Wait for ever."""
        asked.set()
        await asyncio.Event().wait()
        return ""

    replies = (to_operator("wait"), sestet.ToolCall("exec_wait", {}))
    async with serving(tmp_path, *replies, tools=[exec_wait]) as served, served.client() as client:
        accepted = await send(served, "s1", "wait")
        reader = asyncio.create_task(read_turn(served, accepted["turn"]))
        await asked.wait()
        answer = await client.post(f"/api/turns/{accepted['turn']}/cancel")
        seen = await reader

    assert answer.status_code == 200
    assert seen[-1]["kind"] == "turn_cancelled"


async def test_the_events_of_a_message_that_was_cancelled_in_the_queue_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "QUIET_SECONDS", 0.05)
    asked = asyncio.Event()

    @sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
    async def exec_wait() -> str:
        """Wait for ever."""
        asked.set()
        await asyncio.Event().wait()
        return ""

    replies = (to_operator("wait"), sestet.ToolCall("exec_wait", {}))
    async with serving(tmp_path, *replies, tools=[exec_wait]) as served, served.client() as client:
        await send(served, "s1", "wait")
        await asked.wait()
        waiting = await send(served, "s1", "and then?")
        reader = asyncio.create_task(read_turn(served, waiting["turn"]))
        await client.post(f"/api/turns/{waiting['turn']}/cancel")
        async with asyncio.timeout(20):
            assert await reader == []
            assert await read_turn(served, waiting["turn"]) == []


async def test_the_events_of_a_burst_come_to_a_reader_together(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served:
        await read_turn(served, (await send(served, "s1", "hi"))["turn"])
        log = SessionLog(served.app.database)
        first, second, *_ = log.after("s1", START, 10)
        feed = Feed(log, "another")
        reading = asyncio.create_task(anext(feed.follow(START)))
        await asyncio.sleep(0)
        feed.add([first])
        for _ in range(5):
            await asyncio.sleep(0)
        feed.add([second])

        assert await reading == [first, second]


async def test_unknown_things_are_named(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        for method, path in (
            ("GET", "/api/turns/none"),
            ("GET", "/api/turns/none/events"),
            ("POST", "/api/turns/none/cancel"),
            ("GET", "/api/nothing"),
        ):
            answer = await client.request(method, path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found"), path


async def test_bad_bodies_are_explained(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        path = "/api/sessions/s1/messages"
        for content, status in (
            (b"{", 400),
            (b"[]", 400),
            (b'{"text": 3}', 400),
            (b'{"text": "hi", "colour": "red"}', 400),
            (b'{"text": " "}', 400),
            (b"[" * 10_000, 400),
            (b"\xff", 400),
        ):
            answer = await client.post(path, content=content, headers={"Content-Type": "application/json"})
            assert answer.status_code == status, content[:40]
            assert answer.json()["error"]["message"]
        plain = await client.post(path, content=b"{}", headers={"Content-Type": "text/plain"})
        assert plain.status_code == 415


async def test_a_message_goes_to_the_specialist_that_it_names(tmp_path: Path) -> None:
    async with serving(tmp_path, "It is noon.") as served:
        accepted = await send(served, "s1", "the time?", agent="operator")
        seen = await read_turn(served, accepted["turn"])

    assert seen[0]["agent"] == "operator"
    assert (seen[-1]["author"], seen[-1]["text"]) == ("operator", "It is noon.")


async def test_a_message_for_an_unknown_specialist_is_refused_with_the_names(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        answer = await client.post("/api/sessions", json={"text": "hi", "agent": "gardener"})
        listed = (await client.get("/api/sessions")).json()["sessions"]

    assert (answer.status_code, listed) == (400, [])
    error = answer.json()["error"]
    assert "there is no specialist 'gardener'; the specialists are: " in error["message"]
    assert "operator" in error["message"]
