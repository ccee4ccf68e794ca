"""Servers over HTTP that attack: each is contained, and named."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from sestet.config.mcp_settings import McpServerSettings
from sestet.core.errors import InDoubtError, ToolError
from tests.services.mcp.world import World, call

Write = Callable[[bytes], Awaitable[None]]


def _tool(name: str) -> dict[str, object]:
    return {"name": name, "description": "A tool.", "inputSchema": {"type": "object", "properties": {}}}


class Peer:
    """A server that speaks enough of the protocol, and answers calls in the way that its mode names."""

    def __init__(self) -> None:
        self.mode = "plain"
        self.url = ""
        self.seen: list[str] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await self._one(head.decode(), reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _one(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in head.splitlines()}
        body = await reader.readexactly(int(lines.get("content-length", 0)))
        if not head.startswith("POST"):
            await _send(writer, 405, b"")
            return
        request = json.loads(body)
        self.seen.append(request.get("method", ""))
        if "id" not in request:
            await _send(writer, 202, b"")
        elif request["method"] == "initialize":
            version = request["params"]["protocolVersion"]
            info = {"name": "peer", "version": "1"}
            facts: dict[str, object] = {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
            await _send(writer, 200, _result(request, facts))
        elif request["method"] == "tools/list":
            await _send(writer, 200, _result(request, {"tools": [_tool("look")]}))
        elif request["method"] == "tools/call":
            await self._call(request, writer)
        else:
            error = {"code": -32601, "message": "no such method"}
            await _send(
                writer, 200, json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}).encode()
            )

    async def _call(self, request: dict[str, object], writer: asyncio.StreamWriter) -> None:
        if self.mode == "elsewhere":
            await _send(writer, 307, b"", "Location: http://127.0.0.2:9/mcp\r\n")
        elif self.mode == "compressed":
            await _send(writer, 200, b"\x1f\x8b", "Content-Encoding: gzip\r\n")
        elif self.mode in ("huge", "endless"):
            kind = "application/json" if self.mode == "huge" else "text/event-stream"
            piece = b"x" * 65_536 if self.mode == "huge" else b": still here\n\n" * 1_000
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode())
            for _ in range(1_600):
                writer.write(piece)
                await writer.drain()
            writer.close()
        else:
            content = [{"type": "text", "text": "seen"}]
            await _send(writer, 200, _result(request, {"content": content}))


def _result(request: dict[str, object], result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()


async def _send(writer: asyncio.StreamWriter, status: int, body: bytes, more: str = "") -> None:
    head = (
        f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    )
    writer.write(head.encode() + body)
    await writer.drain()


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    made = Peer()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    async with server:
        made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
        yield made


@pytest.mark.parametrize(
    ("mode", "told"),
    [("huge", "MB"), ("endless", "MB"), ("compressed", "compressed"), ("elsewhere", "not followed")],
)
async def test_a_hostile_answer_ends_the_call_and_names_the_server(
    tmp_path: Path, peer: Peer, mode: str, told: str
) -> None:
    world = World(tmp_path)
    entry = McpServerSettings(url=peer.url, agent="operator", seconds=20)
    await world.trust(peer=entry)
    async with world.open(peer=entry) as servers:
        assert await call(servers, "peer__look") == "seen"
        peer.mode = mode
        with pytest.raises(ToolError, match=told) as error:
            await call(servers, "peer__look")
        assert "'peer'" in str(error.value)
        peer.mode = "plain"
        assert await call(servers, "peer__look") == "seen"


async def test_a_server_that_is_gone_is_named_and_the_call_was_not_sent(tmp_path: Path, peer: Peer) -> None:
    world = World(tmp_path)
    entry = McpServerSettings(url="http://127.0.0.1:9/mcp", agent="operator")
    async with world.open(peer=entry) as servers:
        with pytest.raises(ToolError, match="'peer' did not start") as error:
            await servers.look("peer")
    assert not isinstance(error.value, InDoubtError)
