"""Sestet's side of one launcher: starts it, sends it requests, and learns how each command ended."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from sestet.config.load import child_environment
from sestet.core.record import as_dict, to_json
from sestet.services.sandbox.bubblewrap import bubblewrap_command
from sestet.services.sandbox.launcher import MOST_BYTES
from sestet.services.sandbox.plan import Plan
from sestet.services.sandbox.running_command import Ended, RunningCommand, SandboxError

#: Seconds that a launcher has to start, and to end everything.
_PATIENCE, _LAST_PATIENCE = 20.0, 5.0


class Connection:
    """One launcher process and the commands that it has started."""

    def __init__(self, process: "subprocess.Popen[bytes]", channel: socket.socket, plan: Plan) -> None:
        self.plan = plan
        self._process = process
        self._channel = channel
        self._running: dict[int, RunningCommand] = {}
        self._number = 0
        #: Messages that the channel had no room for yet, with descriptors of our own.
        self._unsent: deque[tuple[bytes, Sequence[int]]] = deque()

    @classmethod
    async def open(cls, plan: Plan) -> "Connection":
        """Start a launcher and wait until its sandbox is built. Not to be cancelled."""
        channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        channel.settimeout(_PATIENCE)
        with other:
            try:
                process = await asyncio.to_thread(_spawn, plan, other)
            except OSError as error:
                channel.close()
                raise SandboxError(f"it did not start: {error}") from error
        connection = cls(process, channel, plan)
        try:
            channel.send(to_json(as_dict(plan)))
            answer = _decoded(await asyncio.to_thread(channel.recv, MOST_BYTES))
        except OSError as error:
            answer = {"why": f"it did not start: {error.strerror or error}"}
        if not answer.get("ready"):
            connection.kill()
            raise SandboxError(str(answer.get("why", "it did not start")))
        channel.setblocking(False)
        asyncio.get_running_loop().add_reader(channel, connection._receive)
        return connection

    @property
    def is_alive(self) -> bool:
        return self._channel.fileno() >= 0

    def start(self, request: Mapping[str, object], descriptors: Sequence[int]) -> RunningCommand:
        self._number += 1
        message = json.dumps({"id": self._number, **request}).encode()
        if len(message) > MOST_BYTES:
            raise SandboxError(f"the command is longer than {MOST_BYTES:,} bytes")
        command = self._running[self._number] = RunningCommand(self._number, self)
        self._send(message, [os.dup(descriptor) for descriptor in descriptors])
        return command

    def signal(self, number: int, signal_number: int) -> None:
        if number in self._running:
            self._send(json.dumps({"id": number, "signal": signal_number}).encode())

    async def close(self) -> None:
        """End every command, and then the launcher."""
        self._hang_up()
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, _LAST_PATIENCE)
        self.kill()

    def kill(self) -> None:
        """End the launcher at once; its commands end as soon as the kernel or their keepers notice."""
        self._hang_up()
        self._process.kill()
        self._process.wait()
        for command in self._running.values():
            command.end(Ended(signal=signal.SIGKILL))
        self._running.clear()

    def _hang_up(self) -> None:
        """Close the channel: the launcher then ends all its commands."""
        if self._channel.fileno() >= 0:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._channel)
            loop.remove_writer(self._channel)
            self._channel.close()
        while self._unsent:
            _close(self._unsent.popleft()[1])

    def _send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        self._unsent.append((message, descriptors))
        if len(self._unsent) == 1:
            self._send_waiting()

    def _send_waiting(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._unsent:
                message, descriptors = self._unsent[0]
                socket.send_fds(self._channel, [message], descriptors)
                self._unsent.popleft()
                _close(descriptors)
            loop.remove_writer(self._channel)
        except BlockingIOError:
            loop.add_writer(self._channel, self._send_waiting)
        except OSError:
            # The launcher is gone: its commands are told so.
            self.kill()

    def _receive(self) -> None:
        """The launcher tells how a command ended, or is gone."""
        try:
            answer = _decoded(self._channel.recv(MOST_BYTES))
        except BlockingIOError:
            return
        except OSError:
            answer = {}
        if not answer:
            self.kill()
        elif command := self._running.pop(answer["id"], None):
            command.end(_ended(answer))


def _spawn(plan: Plan, channel: socket.socket) -> "subprocess.Popen[bytes]":
    # -P: no file of the working directory is imported as a module.
    launcher = [sys.executable, "-P", "-m", "sestet.services.sandbox.launcher", str(channel.fileno())]
    if plan.isolation == "bubblewrap":
        launcher = [*bubblewrap_command(plan), *launcher]
    return subprocess.Popen(  # noqa: S603 - the same interpreter
        launcher,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[channel.fileno()],
        env=child_environment(),
        cwd="/",
        start_new_session=True,
    )


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        with suppress(OSError):
            os.close(descriptor)


def _decoded(message: bytes) -> dict[str, Any]:  # Any: JSON of our own launcher
    return cast("dict[str, Any]", json.loads(message or b"{}"))


def _ended(answer: Mapping[str, Any]) -> Ended:
    failed = answer.get("failed", "")
    if (status := answer.get("status")) is None:
        return Ended(signal=signal.SIGKILL, failed=failed)
    code, overuse = os.waitstatus_to_exitcode(status), answer["overuse"]
    return Ended(
        code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        too_large=overuse == "memory",
        too_many=overuse == "processes",
        no_space=overuse == "disk",
        failed=failed,
    )
