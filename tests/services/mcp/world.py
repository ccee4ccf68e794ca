"""MCP servers for tests: real programs, with the owner's decisions on them in a directory of its own."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from sestet.config.mcp_settings import McpServerSettings, McpToolSettings
from sestet.core.tool import Tool
from sestet.services.mcp.connection import Patience
from sestet.services.mcp.listing import ListedTool
from sestet.services.mcp.pins import PinList
from sestet.services.mcp.servers import McpServers
from sestet.services.sandbox.sandbox import Sandbox

PROGRAMS = Path(__file__).parent / "programs"
HASTY = Patience(start=20.0, first_pause=0.01, waited=0.5)
READS_ONLY = McpToolSettings(risk="safe", effect="none")


#: What each server lists, by its command or address: to start one takes most of a second.
_listed: dict[tuple[str, ...], tuple[ListedTool, ...]] = {}


def no_sandbox() -> Sandbox:
    raise AssertionError("nothing runs in a sandbox here")


def program(name: str, *args: str) -> McpServerSettings:
    """A server that is one of our programs, for the operator."""
    return McpServerSettings(
        command=sys.executable, args=(str(PROGRAMS / f"{name}.py"), *args), agent="operator"
    )


class World:
    """A data directory and a working directory."""

    def __init__(self, directory: Path) -> None:
        self.data, self.work = directory / "data", directory / "work"
        self.work.mkdir(parents=True)
        self.pins = PinList(self.data, [self.work])

    @asynccontextmanager
    async def open(
        self, patience: Patience = HASTY, **entries: McpServerSettings
    ) -> AsyncGenerator[McpServers]:
        servers = McpServers(
            entries, self.pins, ("operator", "vault", "librarian"), self.work, no_sandbox, patience
        )
        try:
            yield servers
        finally:
            await servers.close()

    async def trust(self, **entries: McpServerSettings) -> None:
        """Look at each server and trust it, as 'sestet mcp trust' does. A program is looked at once."""
        async with self.open(HASTY, **entries) as servers:
            for name, entry in entries.items():
                key = (entry.command, entry.url, *entry.args)
                if (listed := _listed.get(key)) is None:
                    listed = _listed[key] = await servers.look(name)
                self.pins.trust(name, entry, listed)


def function_of(servers: McpServers, name: str) -> Tool:
    return next(tool for tool in servers.tools if tool.name == name)


async def call(servers: McpServers, tool: str, /, **arguments: str) -> str:
    function = function_of(servers, tool).function
    assert function is not None
    return str(await function(**arguments))
