"""Runs commands in a sandbox: Sestet's side of the launcher."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sestet.config.load import child_environment
from sestet.core.errors import SestetError
from sestet.core.record import Record, as_dict, replace, to_json
from sestet.services.sandbox.landlock import landlock_version
from sestet.services.sandbox.launcher import MOST_BYTES
from sestet.services.sandbox.plan import DEDICATED_ID, Isolation, Plan
from sestet.services.sandbox.syscall_filter import is_known_machine

#: Seconds that a command has to end by itself after SIGTERM.
GRACE = 2.0
_PATIENCE = 20.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Below this version, Landlock alone stops neither truncating nor signals.
_ALONE = 6


class SandboxError(SestetError):
    """No sandbox could be made, or it was lost; the text says why."""


class Ended(Record):
    """How a command ended."""

    #: None: a signal ended it.
    code: int | None = None
    signal: int | None = None
    too_large: bool = False
    #: The program could not be started; the text says why.
    failed: str = ""


def why_unavailable() -> str:
    """Why no sandbox can work on this computer; empty: one can. Quick, since it starts nothing."""
    if not sys.platform.startswith("linux"):
        return f"there is no sandbox for {sys.platform} yet"
    if not is_known_machine():
        return f"there is no sandbox for machines of the kind {os.uname().machine} yet"
    if not landlock_version():
        return "this Linux has no Landlock: it needs Linux 5.13 or later with Landlock switched on"
    return ""


class RunningCommand:
    """A command in the sandbox, from its start until its end."""

    def __init__(self, number: int, launcher: "_Launcher") -> None:
        self.number = number
        self._launcher = launcher
        self._ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()

    async def wait(self) -> Ended:
        """How it ended, as soon as it has, with everything that it had started."""
        return await asyncio.shield(self._ended)

    @property
    def is_running(self) -> bool:
        return not self._ended.done()

    @property
    def ended(self) -> Ended | None:
        """How it ended; None: it is still running."""
        return self._ended.result() if self._ended.done() else None

    async def stop(self, grace: float = GRACE) -> Ended:
        """End it with everything that it has started: politely, and after ``grace`` seconds by force."""
        self._launcher.signal(self.number, signal.SIGTERM)
        await asyncio.wait([self._ended], timeout=grace)
        self.kill()
        return await self.wait()

    def kill(self) -> None:
        if self.is_running:
            self._launcher.signal(self.number, signal.SIGKILL)

    def end(self, ended: Ended) -> None:
        if not self._ended.done():
            self._ended.set_result(ended)


class Sandbox:
    """Starts commands by the plan. A launcher is started with the first command, and one more with the first
    command that may use the network."""

    def __init__(self, plan: Plan, isolations: Sequence[Isolation] = ("own", "bwrap", "none")) -> None:
        self._plan = replace(plan, user=DEDICATED_ID if os.geteuid() == 0 else None)
        self._isolations = isolations
        self._launchers: dict[bool, _Launcher] = {}
        self._starting = asyncio.Lock()
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        #: Each isolation that was tried in vain, with the reason.
        self.refused: dict[Isolation, str] = {}

    async def isolation(self) -> Isolation:
        """The isolation that works here; raises ``SandboxError`` when none does."""
        return (await self._launcher(network=False)).plan.isolation

    async def start(
        self,
        arguments: Sequence[str],
        output: int,
        errors: int,
        *,
        directory: str,
        environment: Mapping[str, str] | None = None,
        network: bool = False,
    ) -> RunningCommand:
        """Start a program; it writes to the open files ``output`` and ``errors``, which stay open here."""
        launcher = await self._launcher(network=network)
        request = {
            "arguments": list(arguments),
            "directory": directory,
            "environment": {**self._environment(launcher.plan), **(environment or {})},
        }
        return launcher.start(request, (output, errors))

    async def close(self) -> None:
        """End every command."""
        for launcher in self._launchers.values():
            launcher.close()
        self._launchers.clear()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.cleanup)
            self._scratch = None

    def _environment(self, plan: Plan) -> dict[str, str]:
        temporary = plan.scratch or "/tmp"  # noqa: S108 - made anew in the sandbox
        return {"PATH": _PATH, "HOME": temporary, "TMPDIR": temporary, "LANG": "C.UTF-8", "TERM": "dumb"}

    async def _launcher(self, *, network: bool) -> "_Launcher":
        async with self._starting:
            launcher = self._launchers.get(network)
            if launcher is None or not launcher.is_alive:
                if why := why_unavailable():
                    raise SandboxError(why)
                launcher = self._launchers[network] = await self._start_one(network)
            return launcher

    async def _start_one(self, network: bool) -> "_Launcher":
        for isolation in self._isolations:
            if isolation in self.refused:
                continue
            plan = replace(self._plan, network=network, isolation=isolation)
            if isolation == "none":
                plan = self._alone(plan)
            try:
                return await _Launcher.started(plan)
            except SandboxError as error:
                self.refused[isolation] = str(error)
        raise SandboxError("; ".join(f"{name}: {why}" for name, why in self.refused.items()))

    def _alone(self, plan: Plan) -> Plan:
        """The plan for Landlock alone, which cannot hide a place inside of another."""
        if landlock_version() < _ALONE:
            raise SandboxError("Landlock alone needs Linux 6.12 or later")
        inside = [
            path
            for path in plan.hidden
            if any(f"{path}/".startswith(f"{place.rstrip('/')}/") for place in plan.writable)
        ]
        if inside:
            raise SandboxError(f"'{inside[0]}' is private and lies in the workspace")
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="sestet-")
            if plan.user is not None:
                os.chown(self._scratch.name, plan.user, plan.user)
        return replace(plan, scratch=self._scratch.name)


class _Launcher:
    """One launcher process and the commands that it has started."""

    def __init__(self, process: "subprocess.Popen[bytes]", channel: socket.socket, plan: Plan) -> None:
        self.plan = plan
        self._process = process
        self._channel = channel
        self._running: dict[int, RunningCommand] = {}
        self._number = 0

    @classmethod
    async def started(cls, plan: Plan) -> "_Launcher":
        """Start a launcher and wait until its sandbox is built."""
        channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        channel.settimeout(_PATIENCE)
        try:
            process = await asyncio.to_thread(_spawn, plan, other)
        finally:
            other.close()
        launcher = cls(process, channel, plan)
        try:
            channel.send(to_json(as_dict(plan)))
            answer = _decoded(await asyncio.to_thread(channel.recv, MOST_BYTES))
        except OSError as error:
            launcher.close()
            raise SandboxError(f"it did not start: {error}") from error
        if not answer.get("ready"):
            launcher.close()
            raise SandboxError(str(answer.get("why", "it did not start")))
        channel.setblocking(False)
        asyncio.get_running_loop().add_reader(channel, launcher.receive)
        return launcher

    @property
    def is_alive(self) -> bool:
        return self._channel.fileno() >= 0

    def start(self, request: Mapping[str, object], descriptors: Sequence[int]) -> RunningCommand:
        self._number += 1
        message = json.dumps({"id": self._number, **request}).encode()
        if len(message) > MOST_BYTES:
            raise SandboxError(f"the command is longer than {MOST_BYTES:,} bytes")
        command = self._running[self._number] = RunningCommand(self._number, self)
        socket.send_fds(self._channel, [message], list(descriptors))
        return command

    def signal(self, number: int, signal_number: int) -> None:
        if number in self._running:
            self._channel.send(json.dumps({"id": number, "signal": signal_number}).encode())

    def receive(self) -> None:
        """The launcher tells how a command ended, or is gone."""
        try:
            answer = _decoded(self._channel.recv(MOST_BYTES))
        except BlockingIOError:
            return
        except OSError:
            answer = {}
        if not answer:
            self.close()
            return
        command = self._running.pop(answer["id"])
        command.end(_ended(answer))

    def close(self) -> None:
        """End the launcher, and with it every command."""
        if self._channel.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._channel)
            self._channel.close()
        self._process.kill()
        self._process.wait()
        for command in self._running.values():
            command.end(Ended(signal=signal.SIGKILL))
        self._running.clear()


def _spawn(plan: Plan, channel: socket.socket) -> "subprocess.Popen[bytes]":
    # -P: no file of the working directory is imported as a module.
    launcher = [sys.executable, "-P", "-m", "sestet.services.sandbox.launcher", str(channel.fileno())]
    if plan.isolation == "bwrap":
        launcher = [*_bubblewrap(plan), *launcher]
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


def _bubblewrap(plan: Plan) -> list[str]:
    """The command line of bubblewrap that gives the launcher what ``build_view`` gives it elsewhere."""
    program = shutil.which("bwrap", path=_PATH)
    if program is None:
        raise SandboxError("bubblewrap is not installed")
    network = ["--share-net"] if plan.network else []
    command = [program, "--unshare-all", *network, "--die-with-parent", "--new-session"]
    command += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108
    command += ["--tmpfs", "/var/tmp"]  # noqa: S108 - both are made anew in the sandbox
    for path in plan.writable:
        command += ["--bind", path, path]
    for path in plan.protected:
        command += ["--ro-bind-try", path, path]
    for path in plan.hidden:
        if os.path.isdir(path):
            command += ["--tmpfs", path]
    return [*command, "--"]


def _decoded(message: bytes) -> dict[str, Any]:  # Any: JSON of our own launcher
    return cast("dict[str, Any]", json.loads(message or b"{}"))


def _ended(answer: Mapping[str, Any]) -> Ended:
    status = answer.get("status")
    if status is None:
        return Ended(signal=signal.SIGKILL, failed=answer.get("failed", ""))
    code = os.waitstatus_to_exitcode(status)
    facts = (answer["too_large"], answer["failed"])
    return Ended(None, -code, *facts) if code < 0 else Ended(code, None, *facts)
