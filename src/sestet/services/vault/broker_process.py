"""The broker as a child process: starts it on first use, connects to it, and ends it."""

import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sestet.config.load import child_environment
from sestet.core.errors import VaultError
from sestet.services.vault import framing

_PATIENCE = 20.0
_LAST_PATIENCE = 2.0


class BrokerProcess:
    """The one broker of a vault. Any thread may use it."""

    def __init__(self, vault_file: Path) -> None:
        self._vault_file = vault_file
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """None: it does not run."""
        return self._process.pid if self._process else None

    def request(
        self, operation: str, fields: Mapping[str, object], descriptors: Sequence[int] = ()
    ) -> framing.Message:
        """Send one request over a connection of its own, and wait for its answer."""
        with self.connect() as channel:
            return _exchange(channel, operation, fields, descriptors)

    def connect(self) -> socket.socket:
        """A connection to the broker, which starts if it does not run."""
        with self._lock:
            control = self._control or self._start()
            ours, theirs = socket.socketpair()
            with theirs:
                try:
                    framing.send(control, {}, [theirs.fileno()])
                except OSError:
                    ours.close()
                    self._end()
                    raise _lost() from None
        return ours

    def close(self) -> None:
        """End the broker, and with it everything that it knows."""
        with self._lock:
            self._end()

    def _start(self) -> socket.socket:
        control, other = socket.socketpair()
        control.settimeout(_PATIENCE)
        # -P: no file of the working directory is imported as a module.
        module = "sestet.services.vault.broker_main"
        command = [sys.executable, "-P", "-m", module, str(other.fileno()), str(self._vault_file.absolute())]
        with other:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - the same interpreter
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[other.fileno()],
                    env=child_environment(),
                    cwd="/",
                    # A Ctrl-C at the terminal is not meant for it.
                    start_new_session=True,
                )
            except OSError as error:
                control.close()
                raise VaultError(f"the vault's process did not start: {error}") from error
        self._control = control
        try:
            ready = framing.receive(control)
        except OSError:
            ready = None
        if ready is None:
            self._end()
            raise VaultError("the vault's process did not start; 'sestet doctor' tells more")
        control.settimeout(None)
        return control

    def _end(self) -> None:
        control, self._control = self._control, None
        process, self._process = self._process, None
        if control is not None:
            # It ends by itself as soon as its socket is closed.
            control.close()
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LAST_PATIENCE)
            process.kill()
            process.wait()


def ask(
    channel: socket.socket, operation: str, fields: Mapping[str, object], descriptors: Sequence[int] = ()
) -> dict[str, Any]:  # Any: an answer is JSON of our own broker
    """Send one request over a connection, and wait for its answer."""
    return _exchange(channel, operation, fields, descriptors).content


def _exchange(
    channel: socket.socket, operation: str, fields: Mapping[str, object], descriptors: Sequence[int]
) -> framing.Message:
    try:
        framing.send(channel, {"op": operation, **fields}, descriptors)
        answer = framing.receive(channel)
    except OSError:
        answer = None
    if answer is None:
        raise _lost()
    if "error" in answer.content:
        found = answer.content
        raise VaultError(found["error"], locked=found.get("locked", False), wrong=found.get("wrong", False))
    return answer


def _lost() -> VaultError:
    return VaultError("the vault's process has ended; unlock the vault again", locked=True)
