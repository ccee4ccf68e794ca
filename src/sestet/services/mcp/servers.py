"""The MCP servers of an assistant: their tools, which are called only while the owner's trust holds."""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sestet.config.mcp_settings import McpServerSettings, McpToolSettings
from sestet.core.agent import UNMATCHED
from sestet.core.errors import DefinitionError, InDoubtError, PersonError, ToolError
from sestet.core.outside import Outside
from sestet.core.schema import JsonValue, suggest
from sestet.core.tool import Reads, Tool, ToolFunction
from sestet.core.words import duration
from sestet.services.mcp.entries import Server, find_servers
from sestet.services.mcp.listing import ListedTool, difference, digest_of
from sestet.services.mcp.pins import Known, PinList
from sestet.services.mcp.programs import ProgramStarter

if TYPE_CHECKING:
    from sestet.services.mcp.connection import Connection, Patience
    from sestet.services.sandbox.sandbox import Sandbox

#: Seconds that a first call may take longer, since it starts the server.
_START = 30.0
_LONGEST_NAME = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


class McpServers:
    """Starts servers on first use, and ends them with the assistant."""

    def __init__(
        self,
        entries: Mapping[str, McpServerSettings],
        pins: PinList,
        agents: Collection[str] | None,
        directory: Path,
        sandbox: "Callable[[], Sandbox]",
        patience: "Patience | None" = None,
    ) -> None:
        self.servers = find_servers(entries, pins.read(), agents)
        self._pins = pins
        self._directory = directory
        self._open_sandbox = sandbox
        self._sandbox: Sandbox | None = None
        self._patience = patience
        self._connections: dict[str, Connection] = {}
        self.tools, problems = _tools_of(self.servers, self._call)
        self.warnings = (*(server.warning for server in self.servers if server.why), *problems)

    @property
    def ready(self) -> tuple[Server, ...]:
        return tuple(server for server in self.servers if server.state == "ready")

    @property
    def quarantined(self) -> tuple[Tool, ...]:
        """The tools that nobody can call, as far as they are known."""
        return tuple(
            Tool(
                tool_name(server.name, tool.name), tool.description, owner=UNMATCHED, outside=_outside(server)
            )
            for server in self.servers
            if server.state != "ready"
            for tool in server.tools
        )

    def server(self, name: str) -> Server:
        """The server of this name that can be used; an error names the others."""
        for server in self.ready:
            if server.name == name:
                return server
        known = [server.name for server in self.ready]
        there_are = f"there are: {', '.join(known)}" if known else "there is none"
        raise ToolError(f"no MCP server '{name}' can be used{suggest(name, known)}; {there_are}")

    async def look(self, name: str) -> tuple[ListedTool, ...]:
        """What a server lists now, whether it is trusted or not; its list is kept for showing."""
        tools = await self.connection(self._any(name)).list_tools()
        await asyncio.to_thread(self._pins.saw, name, tools)
        return tools

    def connection(self, server: Server) -> "Connection":
        """The connection with a server; nothing is started before it is used."""
        if server.name not in self._connections:
            # Loaded on use: the kit takes longer to import than the rest of a start.
            from sestet.services.mcp.connection import Connection, Patience

            starter = ProgramStarter(server.name, server.entry, self._directory, self._shared_sandbox)
            patience = self._patience or Patience()
            self._connections[server.name] = Connection(server.name, server.entry, starter, patience)
        return self._connections[server.name]

    async def checked(self, server: Server) -> "Connection":
        """The connection with a server that still lists exactly what the owner trusts."""
        known = (await asyncio.to_thread(self._pins.read)).get(server.name, Known())
        if known.digest != server.known.digest or known.changed:
            raise ToolError(self._refusal(server, "you do not trust it as it is any more"))
        connection = self.connection(server)
        listed = await connection.list_tools()
        if digest_of(listed) == server.known.digest:
            return connection
        try:
            await asyncio.to_thread(self._pins.saw, server.name, listed)
        finally:
            await connection.close()
        changes = difference(server.known.tools, listed)
        raise ToolError(self._refusal(server, f"its tools are not those that the owner trusted ({changes})"))

    async def close(self) -> None:
        await asyncio.gather(*(connection.close() for connection in self._connections.values()))
        if self._sandbox is not None:
            await self._sandbox.close()

    async def _call(self, server: Server, tool: str, effect: str, /, **arguments: JsonValue) -> str:
        connection = await self.checked(server)
        seconds = server.entry.seconds
        try:
            async with asyncio.timeout(seconds):
                answer = await connection.call(tool, arguments)
        except TimeoutError:
            late = f"the MCP server '{server.name}' took longer than {duration(seconds)}"
            raise (ToolError if effect == "none" else InDoubtError)(late) from None
        except InDoubtError as error:
            raise ToolError(str(error)) if effect == "none" else error from None
        if answer.failed:
            raise ToolError(answer.text or f"the MCP server '{server.name}' says that the call failed")
        return answer.text

    def _refusal(self, server: Server, why: str) -> str:
        way_out = f"the owner can run: sestet mcp trust {server.name}"
        return f"the MCP server '{server.name}' is quarantined: {why}; {way_out}"

    def _any(self, name: str) -> Server:
        for server in self.servers:
            if server.name == name:
                if server.state == "unusable":
                    raise PersonError(f"{server.why}; {server.way_out}")
                return server
        near = suggest(name, [server.name for server in self.servers]) or "; 'sestet mcp add' adds one"
        raise PersonError(f"there is no MCP server '{name}'{near}")

    def _shared_sandbox(self) -> "Sandbox":
        if self._sandbox is None:
            self._sandbox = self._open_sandbox()
        return self._sandbox


def tool_name(server: str, name: str) -> str:
    """The name of a server's tool here: its source first. Other characters than ours become '_'."""
    full = f"{server}__{_FOREIGN.sub('_', name)}"
    if len(full) <= _LONGEST_NAME:
        return full
    return f"{full[: _LONGEST_NAME - 9]}_{sha256(name.encode()).hexdigest()[:8]}"


def _outside(server: Server) -> Outside:
    return Outside(f"the MCP server {server.name}", server.entry.about)


def _tools_of(servers: tuple[Server, ...], call: ToolFunction) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    tools: dict[str, Tool] = {}
    problems: list[str] = []
    for server in servers:
        if server.state != "ready":
            continue
        setting = f"mcpServers.{server.name}.tools"
        own = {tool.name for tool in server.tools}
        unknown = (name for name in server.entry.tools if name not in own)
        problems += (f"{setting}.{name}: there is no such tool{suggest(name, own)}" for name in unknown)
        for listed in server.tools:
            name = tool_name(server.name, listed.name)
            if name in tools:
                problems.append(f"the MCP server '{server.name}': one of two tools '{name}' is left out")
                continue
            try:
                tools[name] = _tool(server, listed, name, call)
            except DefinitionError as error:
                problems.append(f"{setting}.{listed.name}: the tool is left out: {error}")
    return tuple(tools.values()), tuple(problems)


def _tool(server: Server, listed: ListedTool, name: str, call: ToolFunction) -> Tool:
    declared = server.entry.tools.get(listed.name, McpToolSettings())
    # A server is always a stranger, whatever is declared about its tools.
    reads: tuple[Reads, ...] = tuple(dict.fromkeys(("untrusted", *declared.reads)))
    said = "" if listed.name in server.entry.tools else ", and nothing is declared about it"
    return Tool(
        name,
        f"{listed.description or 'No description.'} (Described by the MCP server '{server.name}' itself.)",
        listed.parameters,
        partial(call, server, listed.name, declared.effect),
        risk=declared.risk,
        caution=f"the MCP server '{server.name}' runs it{said}",
        reads=reads,
        effect=declared.effect,
        targets=declared.targets,
        recovery="pure" if declared.effect == "none" else "unsafe",
        timeout=server.entry.seconds + _START,
        owner=server.entry.agent,
        outside=_outside(server),
    )
