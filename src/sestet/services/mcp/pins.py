"""The owner's decisions on MCP servers: which list of tools is trusted, by hash.

The file also keeps what a server listed last, so that tools can be shown and offered without starting it.
"""

import fcntl
import json
import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from sestet.config.mcp_settings import McpServerSettings
from sestet.config.trust import lies_in, replace_file, why_foreign
from sestet.core.errors import PersonError
from sestet.core.record import Record, ValidationError, as_builtins, convert, replace
from sestet.services.mcp.listing import ListedTool, digest_of

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


class _Listed(Record):
    version: int
    servers: dict[str, Known]


def launch_digest(entry: McpServerSettings) -> str:
    """The hash of how a server is started or reached: another program is another server."""
    launch = [entry.command, *entry.args, "\0", entry.url]
    return sha256(json.dumps(launch).encode()).hexdigest()


class PinList:
    """A file in the data directory, which no agent and no command can write."""

    def __init__(self, data: Path, workspaces: Sequence[Path]) -> None:
        self._data = data
        self._workspaces = workspaces

    def why_unusable(self) -> str:
        """Why nothing can be trusted: a fetched folder could have brought the list along."""
        for workspace in self._workspaces:
            if lies_in(self._data, workspace.resolve()):
                return (
                    f"the list of trusted MCP servers, {self._data / STORE}, lies in the workspace itself; "
                    "set SESTET_HOME to a directory outside"
                )
        return ""

    def read(self) -> dict[str, Known]:
        """What is known of each server, by its name; a list that cannot be trusted itself has nothing."""
        return {} if self.why_unusable() else self._read()

    def trust(self, name: str, entry: McpServerSettings, tools: tuple[ListedTool, ...]) -> None:
        """Trust exactly this list of this server."""
        if why := self.why_unusable():
            raise PersonError(why)
        with self._changing() as servers:
            servers[name] = Known(digest_of(tools), launch_digest(entry), time.time(), tools)

    def saw(self, name: str, tools: tuple[ListedTool, ...]) -> None:
        """Keep what a server listed. If it is not what the owner trusts, nothing of it can be called."""
        with self._changing() as servers:
            known = servers.get(name, Known())
            if known.digest != digest_of(tools):
                servers[name] = replace(known, seen=tools, changed=bool(known.digest))

    def forget(self, name: str) -> bool:
        """Forget a server with the trust in it; False: it was not trusted."""
        with self._changing() as servers:
            known = servers.pop(name, Known())
            return bool(known.digest)

    def _read(self) -> dict[str, Known]:
        file = self._data / STORE
        try:
            if why_foreign(file.stat()):
                return {}
            return dict(convert(json.loads(file.read_bytes()), _Listed).servers)
        except (OSError, ValueError, ValidationError, RecursionError):
            return {}

    @contextmanager
    def _changing(self) -> Generator[dict[str, Known]]:
        """The list as it is at this moment, written at the end; another process that changes it waits."""
        try:
            self._data.mkdir(parents=True, exist_ok=True, mode=0o700)
            # The directory is locked, since the list itself is replaced by another file.
            lock = os.open(self._data, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            servers = self._read()
            yield servers
            listed = as_builtins(_Listed(1, servers))
            replace_file(self._data / STORE, json.dumps(listed, indent=1) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            os.close(lock)

    def _unwritable(self, error: OSError) -> PersonError:
        return PersonError(f"{self._data / STORE} cannot be written: {error.strerror}")
