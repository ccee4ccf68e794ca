"""Recorded events over HTTP: parts of a conversation, long texts cut, and one whole event."""

from pathlib import Path
from typing import Any

import pytest

import sestet
from sestet.core.record import to_json
from sestet.storage.clipping import LONGEST
from tests.server.served import Served, serving
from tests.server.test_conversations import exec_send, send, to_operator
from tests.server.test_sessions import talk

LONG = "line of a log\n" * 2_000


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def exec_log(part: str = "") -> str:
    """Read a long log."""
    return LONG


async def journal(served: Served, session: str, **query: object) -> dict[str, Any]:
    async with served.client(served.new_token("read", f"reader-{id(query)}")) as client:
        answer = await client.get(f"/api/sessions/{session}/journal", params=query)  # pyright: ignore[reportArgumentType] - texts and numbers
    assert answer.status_code == 200, answer.text
    return answer.json()


def places(part: dict[str, Any]) -> list[tuple[int, ...]]:
    return [tuple(map(int, event["place"].split("."))) for event in part["events"]]


async def test_the_events_after_a_place_come_in_parts_that_join(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two") as served:
        await talk(served, "s1", "a")
        await talk(served, "s1", "b")
        whole = await journal(served, "s1", after="0.0")
        parts = [await journal(served, "s1", after="0.0", limit=2)]
        while parts[-1]["more"]:
            parts.append(await journal(served, "s1", after=parts[-1]["events"][-1]["place"], limit=2))

    assert not whole["more"]
    assert places(whole) == sorted(places(whole))
    assert [event for part in parts for event in part["events"]] == whole["events"]
    assert [part["first"] for part in parts] == [places(part)[0][0] == 1 for part in parts]


async def test_turns_are_paged_back_to_the_first_one(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two", "three") as served:
        for text in "abc":
            await talk(served, "s1", text)
        last = await journal(served, "s1", turns=2)
        older = await journal(served, "s1", turns=2, before=places(last)[0][0])
        whole = await journal(served, "s1")

    assert {turn for turn, _ in places(last)} == {2, 3}
    assert {turn for turn, _ in places(older)} == {1}
    assert (last["first"], last["more"], older["first"], older["more"]) == (False, False, True, True)
    assert older["events"] + last["events"] == whole["events"]


async def test_a_long_text_is_cut_and_its_whole_event_given_on_demand(tmp_path: Path) -> None:
    argument = "x" * (LONGEST + 5)
    replies = (to_operator("read"), sestet.ToolCall("exec_log", {"part": argument}), "Read.")
    async with serving(tmp_path, *replies, tools=[exec_log]) as served, served.client() as client:
        turn = await talk(served, "s1", "read the log")
        events = (await journal(served, "s1"))["events"]
        (finished,) = (event for event in events if event["kind"] == "tool_finished")
        whole = (await client.get(f"/api/turns/{turn}/events/{finished['seq']}")).json()
        missing = await client.get(f"/api/turns/{turn}/events/9999")

    assert finished["text"] == LONG[:LONGEST]
    assert finished["clipped"] == {"text": len(LONG), "call.arguments.part": LONGEST + 5}
    assert (whole["text"], whole["call"]["arguments"]["part"]) == (LONG, argument)
    assert "clipped" not in whole
    assert whole.keys() == finished.keys() - {"clipped"}
    assert missing.status_code == 404


async def test_an_event_with_short_texts_is_the_same_as_in_the_stream(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}))
    async with serving(tmp_path, *replies, tools=[exec_send]) as served:
        turn = await talk(served, "s1", "send a note to carol")
        part = await journal(served, "s1")
        async with served.client() as client, client.stream("GET", f"/api/turns/{turn}/events") as response:
            lines = [line.removeprefix("data: ") async for line in response.aiter_lines() if "data: " in line]

    assert [to_json(event).decode() for event in part["events"]] == lines


async def test_an_answer_ends_when_it_has_enough_and_the_next_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.server.journal.ENOUGH", 40_000)
    logs = [sestet.ToolCall("exec_log", {"part": "y" * LONGEST}) for _ in range(3)]
    async with serving(tmp_path, to_operator("read"), *logs, "Read.", tools=[exec_log]) as served:
        await talk(served, "s1", "read the log")
        parts = [await journal(served, "s1", after="0.0")]
        while parts[-1]["more"]:
            parts.append(await journal(served, "s1", after=parts[-1]["events"][-1]["place"]))
        whole = await journal(served, "s1")

    assert len(parts) > 1
    assert [event for part in parts for event in part["events"]] == whole["events"]


async def test_a_journal_of_nothing_is_not_found(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served, served.client() as client:
        unknown = await client.get("/api/sessions/none/journal")
        await send(served, "s1", "hi")
        begun = await client.get("/api/sessions/s1/journal")
        both = await client.get("/api/sessions/s1/journal", params={"after": "1.1", "before": 3})
        bad = await client.get("/api/sessions/s1/journal", params={"after": "here"})

    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")
    assert begun.status_code == 200
    assert (both.status_code, bad.status_code) == (400, 400)
