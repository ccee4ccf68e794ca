"""The program of an MCP server in the sandbox of commands."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sestet.config import settings_from
from sestet.processes import open_mcp
from sestet.services.mcp.pins import PinList
from sestet.services.mcp.servers import McpServers
from sestet.services.sandbox.sandbox import why_unavailable
from tests.services.mcp.world import PROGRAMS, call

pytestmark = pytest.mark.skipif(bool(why_unavailable()), reason="there is no sandbox here")


@pytest.fixture(params=[True, False], ids=["sandbox", "control"])
async def peeking(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[bool, McpServers]]:
    """A server that reads a private file outside of the workspace; the control runs without a sandbox."""
    work, private = tmp_path / "work", tmp_path / "private.txt"
    work.mkdir()
    private.write_text("canary")
    shutil.copy(PROGRAMS / "hostile.py", work)
    entry = {
        "command": "/usr/bin/python3",
        "args": [str(work / "hostile.py"), "peek", str(private)],
        "agent": "operator",
        "sandbox": request.param,
    }
    settings = settings_from({"workspace": {"roots": [str(work)]}, "mcpServers": {"peek": entry}})
    servers = open_mcp(settings, tmp_path / "data", None)
    PinList(tmp_path / "data", [work]).trust("peek", settings.mcp_servers["peek"], await servers.look("peek"))
    await servers.close()
    servers = open_mcp(settings, tmp_path / "data", None)
    yield request.param, servers
    await servers.close()


@pytest.mark.slow
async def test_a_server_in_the_sandbox_answers_and_sees_no_private_file(
    peeking: tuple[bool, McpServers],
) -> None:
    is_confined, servers = peeking
    found = await call(servers, "peek__look")
    assert ("canary" in found) is not is_confined
