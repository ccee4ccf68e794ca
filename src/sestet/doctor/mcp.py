"""Checks of the MCP servers: which can be used, which are quarantined, and whether each answers."""

import asyncio

from sestet.agents import default_specs
from sestet.config import Settings, data_directory
from sestet.core.errors import ConfigError, PersonError, ToolError
from sestet.core.pages import page
from sestet.doctor.check import Check
from sestet.plugins.find import find_plugins
from sestet.processes import open_mcp
from sestet.services.mcp.entries import Server
from sestet.services.mcp.listing import digest_of
from sestet.services.mcp.servers import McpServers

_NAME = "MCP servers"
#: Seconds that all servers together have to start.
_SECONDS = 40.0


async def check_mcp(settings: Settings) -> list[Check]:
    """One line for each server: those that the owner trusts are started and asked for their tools."""
    if not settings.mcp_servers:
        return [Check(_NAME, "ok", "none", f"if you want some: 'sestet mcp add'; see {page('mcp')}")]
    try:
        names = [spec.name for spec in (*default_specs(), *find_plugins().specs)]
        servers = open_mcp(settings, data_directory(), None, names)
    except ConfigError as error:
        return [Check(_NAME, "problem", str(error), "correct the settings that this names")]
    try:
        checks = await asyncio.gather(*(_check(servers, server) for server in servers.servers))
    finally:
        await servers.close()
    quarantines = {server.warning for server in servers.servers}
    others = [warning for warning in servers.warnings if warning not in quarantines]
    return [*checks, *(Check(_NAME, "warning", warning, "correct the settings") for warning in others)]


async def _check(servers: McpServers, server: Server) -> Check:
    if server.why:
        status = "problem" if server.state in ("changed", "unusable") else "warning"
        return Check(_NAME, status, f"'{server.name}' is quarantined: {server.why}", server.way_out)
    try:
        async with asyncio.timeout(_SECONDS):
            listed = await servers.look(server.name)
    except TimeoutError:
        return Check(_NAME, "problem", f"'{server.name}' did not answer", "see its own documentation")
    except (ToolError, PersonError) as error:
        return Check(_NAME, "problem", str(error), f"'sestet mcp test {server.name}' tries it again")
    number = f"{len(listed)} tool{'' if len(listed) == 1 else 's'}"
    if digest_of(listed) != server.known.digest:
        why = f"'{server.name}' is quarantined: its tools are not those that you trusted"
        return Check(_NAME, "problem", why, f"'sestet mcp trust {server.name}' shows them")
    return Check(_NAME, "ok", f"'{server.name}' answers; {number} for {server.entry.agent}")
