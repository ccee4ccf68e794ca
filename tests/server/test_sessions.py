"""Stored conversations over HTTP: show, export, delete, give up, undo, standing answers."""

import asyncio
from pathlib import Path

import pytest

import sestet
from tests.server.served import Served, serving
from tests.server.test_conversations import events, exec_send, read_turn, send, to_operator


async def talk(served: Served, session: str, text: str) -> str:
    turn = (await send(served, session, text))["turn"]
    await read_turn(served, turn)
    return turn


async def test_a_conversation_is_shown_with_its_turns(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served, served.client(served.new_token("read")) as client:
        turn = await talk(served, "s1", "hi")
        shown = (await client.get("/api/sessions/s1")).json()

    assert (shown["id"], shown["title"]) == ("s1", "hi")
    assert [(each["turn"], each["state"], each["text"]) for each in shown["turns"]] == [
        (turn, "finished", "Hello!")
    ]


async def test_a_conversation_is_exported_as_markdown_and_as_json(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served, served.client() as client:
        await talk(served, "s1", "hi")
        markdown = await client.get("/api/sessions/s1/export")
        as_json = await client.get("/api/sessions/s1/export", params={"form": "json"})

    assert markdown.headers["content-type"].startswith("text/markdown")
    assert markdown.text.startswith("# hi\n")
    assert "Hello!" in markdown.text
    assert as_json.json()["turns"][0]["events"][0]["kind"] == "turn_started"


async def test_a_deleted_conversation_is_gone_and_its_readers_streams_end(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served, served.client() as client:
        await talk(served, "s1", "hi")
        preview = (await client.get("/api/sessions/s1/deletion")).json()
        async with client.stream("GET", "/api/sessions/s1/events") as response:
            reader = events(response)
            while (await anext(reader))["kind"] != "turn_finished":
                pass
            deleted = await client.delete("/api/sessions/s1")
            async with asyncio.timeout(5):
                assert [event async for event in reader] == []
        after = await client.get("/api/sessions/s1")

    assert (preview["turns"], preview["open_turns"]) == (1, 0)
    assert (deleted.status_code, deleted.json()["deleted"]) == (200, "s1")
    assert after.status_code == 404


async def test_a_conversation_whose_turn_runs_is_not_deleted(tmp_path: Path) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    @sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
    async def exec_wait() -> str:
        """Wait."""
        asked.set()
        await go_on.wait()
        return "done"

    replies = (to_operator("wait"), sestet.ToolCall("exec_wait", {}), "Done.")
    async with serving(tmp_path, *replies, tools=[exec_wait]) as served, served.client() as client:
        turn = (await send(served, "s1", "wait"))["turn"]
        await asked.wait()
        refused = await client.delete("/api/sessions/s1")
        go_on.set()
        await read_turn(served, turn)

    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")


async def test_a_turn_that_waits_is_given_up(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}))
    async with serving(tmp_path, *replies, tools=[exec_send]) as served, served.client() as client:
        turn = await talk(served, "s1", "send a note to carol")
        given_up = await client.post(f"/api/turns/{turn}/abandon")
        again = await client.post(f"/api/turns/{turn}/abandon")

    assert (given_up.status_code, given_up.json()["state"]) == (200, "cancelled")
    assert given_up.json()["approvals"] == []
    assert again.status_code == 409


async def test_a_standing_answer_is_listed_and_taken_back(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}), "Sent.")
    async with serving(tmp_path, *replies, tools=[exec_send]) as served, served.client() as client:
        turn = (await send(served, "s1", "send a note to carol"))["turn"]
        seen = await read_turn(served, turn)
        (question,) = (await client.get("/api/approvals")).json()["approvals"]
        body = {"decision": "approve", "scope": "always"}
        decided = await client.post(f"/api/approvals/{question['id']}", json=body)
        assert decided.status_code == 200, decided.text
        await read_turn(served, turn, **{"Last-Event-ID": seen[-1]["place"]})
        (grant,) = (await client.get("/api/grants")).json()["grants"]
        revoked = await client.delete(f"/api/grants/{grant['id']}")
        left = (await client.get("/api/grants")).json()["grants"]
        again = await client.delete(f"/api/grants/{grant['id']}")

    assert grant["pattern"] == {"to": "carol"}
    assert (revoked.status_code, left, again.status_code) == (200, [], 404)


async def test_changes_of_files_are_planned_and_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    monkeypatch.chdir(work)
    replies = (
        to_operator("write"),
        sestet.ToolCall("fs_write", {"path": "tea.txt", "text": "green"}),
        "Written.",
    )
    async with serving(home, *replies) as served, served.client() as client:
        turn = await talk(served, "s1", "write green into tea.txt")
        for question in (await client.get("/api/approvals")).json()["approvals"]:
            seen = await read_turn(served, turn)
            await client.post(f"/api/approvals/{question['id']}", json={"decision": "approve"})
            await read_turn(served, turn, **{"Last-Event-ID": seen[-1]["place"]})
        assert (work / "tea.txt").read_text() == "green"
        (changes,) = (await client.get("/api/changes")).json()["changes"]
        path = f"/api/changes/{changes['id']}/undo"
        plan = (await client.get(path)).json()
        done = await client.post(path)
        again = await client.post(path)

    assert [step["action"] for step in plan["steps"]] == ["delete"]
    assert (done.status_code, done.json()["undone"]) == (200, True)
    assert not (work / "tea.txt").exists()
    assert again.status_code == 404


async def test_a_token_that_only_reads_deletes_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served, served.client(served.new_token("read")) as client:
        await talk(served, "s1", "hi")
        refused = await client.delete("/api/sessions/s1")
        there = await client.get("/api/sessions/s1")

    assert (refused.status_code, there.status_code) == (403, 200)
