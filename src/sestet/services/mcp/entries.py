"""The MCP servers of the settings with what is known of each: whether its tools can be called, or why not."""

import re
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from sestet.config.installation import install_command
from sestet.config.mcp_settings import McpServerSettings
from sestet.core.agent import normalise_name
from sestet.core.record import Record
from sestet.core.schema import suggest
from sestet.services.mcp.listing import ListedTool, difference
from sestet.services.mcp.pins import Known, launch_digest

#: Only the tools of a ``ready`` server can be called; those of every other state are quarantined.
State: TypeAlias = Literal["ready", "untrusted", "unassigned", "changed", "unusable"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*(_[A-Za-z0-9-]+)*")
_MOST_NAME = 24


class Server(Record):
    """One server, as the settings and the owner's decisions have it."""

    name: str
    entry: McpServerSettings
    state: State
    #: Why its tools cannot be called, and the way out; empty if they can.
    why: str = ""
    way_out: str = ""
    known: Known = Known()

    @property
    def tools(self) -> tuple[ListedTool, ...]:
        """The tools that the owner trusts, or else those that the server listed last."""
        return self.known.tools if self.state == "ready" else self.known.seen or self.known.tools

    @property
    def warning(self) -> str:
        """One line for the person; empty if all is well."""
        return f"the MCP server '{self.name}' is quarantined: {self.why}; {self.way_out}" if self.why else ""


def find_servers(
    entries: Mapping[str, McpServerSettings], known: Mapping[str, Known], agents: Collection[str] | None
) -> tuple[Server, ...]:
    """Every server of the settings. ``agents`` None: whether its agent exists is not asked."""
    return tuple(_judged(name, entry, known.get(name, Known()), agents) for name, entry in entries.items())


def _judged(name: str, entry: McpServerSettings, known: Known, agents: Collection[str] | None) -> Server:
    trust = f"'sestet mcp trust {name}' shows its tools and asks you"
    if problem := entry_problem(name, entry):
        return Server(name, entry, "unusable", problem, f"correct mcpServers.{name}", known)
    if find_spec("mcp") is None:
        return Server(name, entry, "unusable", "the extra is missing", install_command("mcp"), known)
    if not entry.agent:
        why, way_out = "it belongs to no agent", f"name one in mcpServers.{name}.agent"
        return Server(name, entry, "unassigned", why, way_out, known)
    if agents is not None and entry.agent not in agents:
        why = f"there is no agent '{entry.agent}'{suggest(entry.agent, agents)}"
        return Server(name, entry, "unassigned", why, f"correct mcpServers.{name}.agent", known)
    if not known.digest:
        return Server(name, entry, "untrusted", "you have not looked at its tools yet", trust, known)
    if known.changed:
        changes = str(difference(known.tools, known.seen)) or "it was another list for a while"
        why = f"its tools are not those that you trusted ({changes})"
        return Server(name, entry, "changed", why, trust, known)
    if known.launch != launch_digest(entry):
        why = "its command or address is not the one that you trusted"
        return Server(name, entry, "changed", why, trust, known)
    return Server(name, entry, "ready", known=known)


def entry_problem(name: str, entry: McpServerSettings) -> str:
    """What is wrong with an entry of the settings; empty: nothing."""
    if not _NAME.fullmatch(name) or len(name) > _MOST_NAME or not normalise_name(name):
        return (
            f"the name '{name}' must start with a letter and have only letters, digits, '-' and single '_', "
            f"{_MOST_NAME} at most"
        )
    if bool(entry.command) == bool(entry.url):
        return "it needs either a command or a url"
    if entry.type and (entry.type == "stdio") != bool(entry.command):
        return f"its type is {entry.type}, which needs a {'command' if entry.type == 'stdio' else 'url'}"
    if entry.url:
        return _address_problem(entry)
    if entry.headers:
        return "headers are for a server with a url"
    if entry.network and not entry.sandbox:
        return "network is for a server with 'sandbox: true'"
    return ""


def _address_problem(entry: McpServerSettings) -> str:
    try:
        address = urlsplit(entry.url)
        host = address.hostname
    except ValueError:
        return "its url is not an address"
    if address.scheme not in ("http", "https") or not host:
        return "its url must begin with http:// or https://"
    if "@" in address.netloc:
        return "credentials in a url are not accepted; use headers"
    if entry.args or entry.env or entry.sandbox or entry.network:
        return "args, env, sandbox and network are for a server with a command"
    return ""
