"""Keeps what a local model made of the constant beginning of a prompt, so that it reads it only once.

Only instructions are kept, which are the same in every conversation; nothing that a person said is.
"""

import http.client
import json
import logging
import socket
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from sestet.models.files.catalogue import models_directory

_log = logging.getLogger("sestet.models")

_SUFFIX = ".kv"
#: About 30 kB a token: some forty megabytes for each agent.
_MOST_FILES = 16
#: A beginning that is shorter is read faster than a file is found.
_SHORTEST = 400
_PATIENCE = 60.0


class Beginnings:
    """The beginnings that are known, in memory and on disk. ``identity`` is the model and how it is set."""

    def __init__(self, address: Path, identity: str) -> None:
        self.directory = models_directory() / "beginnings"
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._address = address
        self._identity = identity
        self._known: set[str] = set()

    def prepare(self, text: str, read: Callable[[], bool], set_aside: Callable[[], None]) -> None:
        """Have the beginning in the model: kept from earlier, or by letting it ``read`` now."""
        name = sha256(f"{self._identity}\n{text}".encode()).hexdigest()[:32] + _SUFFIX
        if len(text) < _SHORTEST or name in self._known:
            return
        if (self.directory / name).is_file():
            if self._known:
                # Restoring overwrites what is there, and that is a conversation.
                set_aside()
            if self._slot("restore", name):
                (self.directory / name).touch()
                self._known.add(name)
                return
            (self.directory / name).unlink(missing_ok=True)
        if read():
            self._known.add(name)
            self._keep(name)

    def _keep(self, name: str) -> None:
        """Write the state to disk: whole under its own name, or not at all."""
        part = f"{name}.part"
        if self._slot("save", part):
            (self.directory / part).chmod(0o600)
            (self.directory / part).replace(self.directory / name)
        kept = sorted(self.directory.glob(f"*{_SUFFIX}"), key=lambda file: file.stat().st_mtime)
        for old in kept[:-_MOST_FILES]:
            old.unlink(missing_ok=True)

    def _slot(self, action: str, name: str) -> bool:
        """Save or restore the model's state; False, and a line in the log, when that does not work."""
        connection = _SocketConnection(self._address)
        try:
            body, kind = json.dumps({"filename": name}), {"Content-Type": "application/json"}
            connection.request("POST", f"/slots/0?action={action}", body, kind)
            response = connection.getresponse()
            answer = response.read(1_000)
        except (OSError, http.client.HTTPException) as error:
            _log.warning("the local model could not %s %s: %s", action, name, error)
            return False
        finally:
            connection.close()
        if response.status != http.client.OK:
            _log.warning("the local model could not %s %s: %r", action, name, answer)
        return response.status == http.client.OK


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over a socket file."""

    def __init__(self, address: Path) -> None:
        super().__init__("localhost", timeout=_PATIENCE)
        self._address = address

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_PATIENCE)
        self.sock.connect(str(self._address))
