"""Sestet as an MCP server, driven by the kit's own client over HTTP and over stdio."""

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import sestet
from sestet.core.event import TurnStarted
from tests.runtime.transcript import transfer
from tests.server.served import Served, serving

MAIL = sestet.ToolCall("exec_mail", {"to": "bob@example.org"})


@sestet.tool(risk="dangerous", reads=(), effect="external", targets=("to",), recovery="unsafe")
async def exec_mail(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


@asynccontextmanager
async def connected(served: Served, token: str | None = None) -> AsyncGenerator[Client]:
    shown = served.token if token is None else token
    headers = {"Authorization": f"Bearer {shown}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http,
        Client(streamable_http_client(f"{served.url}/mcp", http_client=http)) as client,
    ):
        yield client


def text_of(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, types.TextContent))


async def test_a_client_asks_and_goes_on_with_its_conversation(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello.", "You said hi.") as served, connected(served) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        first = await client.call_tool("ask", {"text": "hi", "session": "work"})
        second = await client.call_tool("ask", {"text": "what did I say?", "session": "work"})

        assert {"ask", "ask_result", "search_knowledge", "memory_recall"} <= set(names)
        assert not any(
            name.startswith(("fs_", "exec_", "secrets_", "save_", "memory_remember")) for name in names
        )
        assert [text_of(first), text_of(second)] == ["Hello.", "You said hi."]
        assert first.structured_content is not None
        events = served.app.journal.events_of(first.structured_content["turn"])
        (started,) = (event for event in events if isinstance(event, TurnStarted))
        assert (started.stamp.session_id, started.label.untrusted) == ("mcp-work", True)


async def test_a_call_that_waits_is_told_at_once_and_decided_by_the_owner(tmp_path: Path) -> None:
    replies = (transfer("operator"), MAIL, "mailed", "It is sent.")
    async with serving(tmp_path, *replies, tools=[exec_mail]) as served, connected(served) as client:
        waiting = await client.call_tool("ask", {"text": "mail bob@example.org"})
        assert waiting.structured_content is not None
        turn = waiting.structured_content["turn"]
        assert waiting.structured_content["outcome"] == "waiting"
        assert "sestet approvals" in text_of(waiting)
        still = await client.call_tool("ask_result", {"turn": turn})
        assert still.structured_content is not None
        assert still.structured_content["outcome"] == "waiting"

        (question,) = served.app.approvals.pending()
        served.app.decide(question.id, "approve")
        async for _ in served.app.resume_turn(turn):
            pass
        assert text_of(await client.call_tool("ask_result", {"turn": turn})) == "It is sent."


async def test_a_client_reads_knowledge_and_no_other_conversation(tmp_path: Path) -> None:
    async with serving(tmp_path, "Private words.") as served, connected(served) as client:
        own_turn = (await served.app.ask("hello", "mine")).turn_id
        found = await client.call_tool("search_knowledge", {"query": "refunds"})
        other = await client.call_tool("ask_result", {"turn": own_turn})
        bad = await client.call_tool("ask", {"text": "hi", "session": "../mine"})
        unknown = await client.call_tool("fs_delete", {"path": "x"})
        wrong = await client.call_tool("search_knowledge", {"question": "x"})

    assert not found.is_error
    assert all(result.is_error for result in (other, bad, unknown, wrong))
    assert "Private words" not in text_of(other)


async def test_a_chat_token_may_ask_and_read_nothing(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, "Hello.") as served,
        connected(served, served.new_token("chat")) as client,
    ):
        assert [tool.name for tool in (await client.list_tools()).tools] == ["ask", "ask_result"]
        assert text_of(await client.call_tool("ask", {"text": "hi"})) == "Hello."


@pytest.mark.parametrize("scope", ["", "read"])
async def test_without_a_token_that_may_talk_nobody_enters(tmp_path: Path, scope: str) -> None:
    async with serving(tmp_path) as served:
        token = served.new_token("read") if scope else ""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        async with served.client(token) as client:
            refused = await client.post("/mcp", json=body)
            foreign = await client.post("/mcp", json=body, headers={"Origin": "https://evil.example"})
    assert refused.status_code == (403 if scope else 401)
    assert foreign.status_code == 403


async def test_rubbish_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        for content in (b"", b"{", b"[]", b"\xff", b'{"jsonrpc": "2.0"}'):
            headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
            answer = await client.post("/mcp", content=content, headers=headers)
            assert 400 <= answer.status_code < 500
        assert (await client.get("/mcp")).status_code == 405


@pytest.mark.slow
async def test_a_program_starts_it_and_speaks_over_stdio(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "SESTET_HOME": str(tmp_path / "data"),
        "PATH": os.environ["PATH"],
    }
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "sestet", "mcp", "serve"], env=environment, cwd=tmp_path
    )
    async with Client(server) as client:
        asked = await client.call_tool("ask", {"text": "remember that I like tea", "session": "one"})
        recalled = await client.call_tool("memory_recall", {"query": "tea"})

    assert not asked.is_error
    assert json.dumps(asked.structured_content)
    assert "tea" in text_of(recalled)
