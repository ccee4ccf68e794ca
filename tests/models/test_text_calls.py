"""A whole turn over a server on loopback whose model makes its calls in text."""

import json
from pathlib import Path

import pytest

import sestet
from sestet.core.errors import ConfigError, PersonError
from sestet.core.event import ApprovalRequested, Event, ToolFinished, TurnFinished
from tests.models.model_server import Answer, ModelServer, refused, said, serve
from tests.models.openai_wire import finish, text


def wrote(reply: object) -> Answer:
    """A reply in two pieces."""
    written = reply if isinstance(reply, str) else json.dumps(reply)
    return said(text(written[:7]), text(written[7:]), finish())


def asks(agent: str, request: str) -> Answer:
    arguments = {"agent_name": agent, "request": request, "reply": True}
    return wrote({"tool": "transfer_to_agent", "arguments": arguments})


def settings(server: ModelServer) -> dict[str, object]:
    home = {"baseUrl": server.url, "toolCalls": "text", "retries": 0}
    return {"agent": {"provider": "home", "model": "tiny"}, "providers": {"home": home}}


async def run(app: sestet.App, words: str) -> list[Event]:
    return [event async for event in app.run_turn("s1", words)]


async def test_calls_in_text_drive_a_turn_from_the_request_to_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("Buy milk.", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    fenced = '```json\n{"name": "fs_read", "parameters": {"Path": "notes.txt"}}\n```'
    replies = [asks("operator", "read notes.txt"), wrote(fenced), wrote({"answer": "It says: buy milk."})]
    async with serve(*replies) as server, sestet.open(settings(server), home=tmp_path / "home") as app:
        end = (await run(app, "read notes.txt"))[-1]

    assert isinstance(end, TurnFinished)
    assert (end.author, end.text) == ("operator", "It says: buy milk.")
    first, _, last = (received.body for received in server.received)
    assert "tools" not in first
    assert first["response_format"]["json_schema"]["schema"]["anyOf"][0]["properties"]["tool"] == {
        "const": "transfer_to_agent"
    }
    assert last["messages"][-1]["content"].startswith("fs_read gave this result:\nnotes.txt")


async def test_what_it_would_change_is_asked_about_every_time(tmp_path: Path) -> None:
    remember = wrote({"tool": "memory_remember", "arguments": {"fact": "I like tea"}})
    again = wrote({"tool": "memory_remember", "arguments": {"fact": "I like coffee"}})
    replies = [
        asks("chronicler", "tea"),
        remember,
        wrote({"answer": "Done."}),
        asks("chronicler", "c"),
        again,
    ]
    async with serve(*replies) as server, sestet.open(settings(server), home=tmp_path) as app:
        asked = [event for event in await run(app, "I like tea") if isinstance(event, ApprovalRequested)]
        assert asked[0].reason == "it changes something, and a small local model chose it"
        with pytest.raises(PersonError, match="only be approved once at a time"):
            app.decide(asked[0].approval_id, "approve", "always")
        app.approvals.decide(asked[0].approval_id, "approve", "always")
        rest = [event async for event in app.resume_turn(asked[0].stamp.turn_id)]
        assert [event.outcome for event in rest if isinstance(event, ToolFinished)] == ["ok"]
        # The standing answer was given for a larger model.
        assert any(isinstance(event, ApprovalRequested) for event in await run(app, "and coffee"))
        assert app.is_small


async def test_a_server_that_knows_no_schema_is_asked_without_one(tmp_path: Path) -> None:
    answers = [refused(400, "response_format is not supported"), wrote("Hello there!")]
    async with serve(*answers) as server, sestet.open(settings(server), home=tmp_path) as app:
        end = (await run(app, "hello"))[-1]

    assert isinstance(end, TurnFinished)
    assert end.text == "Hello there!"
    assert ["response_format" in received.body for received in server.received] == [True, False]


async def test_only_servers_that_speak_openais_protocol_take_calls_in_text(tmp_path: Path) -> None:
    home = {"type": "anthropic", "apiKey": "k", "toolCalls": "text"}
    given = {"agent": {"provider": "home", "model": "m"}, "providers": {"home": home}}
    with pytest.raises(ConfigError, match=r"providers\.home\.toolCalls: 'text' is for servers"):
        async with sestet.open(given, home=tmp_path):
            pass
