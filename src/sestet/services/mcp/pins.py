"""The owner's decisions on MCP servers: which list of tools is trusted, by hash.

The file also keeps what a server listed last, so that tools can be shown and offered without starting it.
"""

import json
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from sestet.config.mcp_settings import McpServerSettings
from sestet.core.errors import PersonError
from sestet.core.record import Record, replace
from sestet.services.mcp.listing import ListedTool, digest_of
from sestet.services.owner_list import OwnerList

#: The name of the list in the data directory.
STORE = "mcp.json"


class Known(Record):
    """What is known of one server."""

    #: The hash of the list that the owner trusts; empty: none.
    digest: str = ""
    #: The hash of how the server was started or reached then.
    launch: str = ""
    at: float = 0.0
    #: The tools that the owner trusts.
    tools: tuple[ListedTool, ...] = ()
    #: What the server listed last, if that is not trusted.
    seen: tuple[ListedTool, ...] = ()
    #: The server listed something else after the owner trusted it.
    changed: bool = False


def launch_digest(entry: McpServerSettings) -> str:
    """The hash of how a server is started or reached: another program is another server."""
    launch = [entry.command, *entry.args, "\0", entry.url]
    return sha256(json.dumps(launch).encode()).hexdigest()


class PinList:
    """The trusted lists of tools, by the name of their server."""

    def __init__(self, data: Path, workspaces: Sequence[Path]) -> None:
        self._list = OwnerList(data / STORE, "servers", Known, workspaces, PersonError)

    def why_unusable(self) -> str:
        """Why nothing can be trusted; empty: something can."""
        return self._list.why_unusable("MCP servers")

    def read(self) -> dict[str, Known]:
        """What is known of each server, by its name; a list that cannot be trusted itself has nothing."""
        return {} if self.why_unusable() else self._list.read()

    def trust(self, name: str, entry: McpServerSettings, tools: tuple[ListedTool, ...]) -> None:
        """Trust exactly this list of this server."""
        if why := self.why_unusable():
            raise PersonError(why)
        with self._list.changing() as servers:
            servers[name] = Known(digest_of(tools), launch_digest(entry), time.time(), tools)

    def saw(self, name: str, tools: tuple[ListedTool, ...]) -> None:
        """Keep what a server listed. If it is not what the owner trusts, nothing of it can be called."""
        with self._list.changing() as servers:
            known = servers.get(name, Known())
            if known.digest != digest_of(tools):
                servers[name] = replace(known, seen=tools, changed=bool(known.digest))

    def forget(self, name: str) -> bool:
        """Forget a server with the trust in it; False: it was not trusted."""
        with self._list.changing() as servers:
            known = servers.pop(name, Known())
            return bool(known.digest)
