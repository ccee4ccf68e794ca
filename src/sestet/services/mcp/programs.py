"""Starts the program of an MCP server with three pipes: on this machine, or in the sandbox of commands."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from sestet.config.load import program_environment
from sestet.config.mcp_settings import McpServerSettings
from sestet.core.errors import ToolError
from sestet.core.record import Record
from sestet.services.sandbox.sandbox import RunningCommand, Sandbox, SandboxError

#: Seconds that a program has to end by itself after its stdin was closed, and after SIGTERM.
_OWN_END, _GRACE = 0.3, 1.0
_POLL = 0.02


class Pipes(Record):
    """Our ends of the pipes of a program."""

    stdin: int
    stdout: int
    stderr: int

    def close(self) -> None:
        for descriptor in (self.stdin, self.stdout, self.stderr):
            with suppress(OSError):
                os.close(descriptor)


class Program(Protocol):
    """A program that runs."""

    @property
    def pipes(self) -> Pipes: ...

    async def end(self) -> None:
        """End it with everything that it has started; its stdin is closed already."""


class ProgramStarter:
    """Starts the program of one entry of the settings."""

    def __init__(
        self, name: str, entry: McpServerSettings, directory: Path, sandbox: Callable[[], Sandbox]
    ) -> None:
        self._name = name
        self._entry = entry
        self._directory = directory
        self._sandbox = sandbox

    async def start(self) -> Program:
        """Raises ``ToolError`` if the program cannot be started."""
        try:
            if self._entry.sandbox:
                return await self._start_confined()
            return await asyncio.to_thread(self._start_here)
        except (OSError, ValueError, SandboxError) as error:
            raise ToolError(f"the MCP server '{self._name}' cannot be started: {error}") from error

    def _start_here(self) -> Program:
        environment = {**program_environment(), **self._entry.env}
        command = self._found(environment.get("PATH", ""))
        ours, theirs = _pipes()
        try:
            process = subprocess.Popen(  # noqa: S603 - the program that the owner's settings name
                [command, *self._entry.args],
                stdin=theirs[0],
                stdout=theirs[1],
                stderr=theirs[2],
                env=environment,
                cwd=self._directory,
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            _close(theirs)
        return _Process(process, ours)

    async def _start_confined(self) -> Program:
        sandbox = self._sandbox()
        command = self._found(sandbox.program_path)
        ours, theirs = _pipes()
        try:
            running = await sandbox.start(
                [command, *self._entry.args],
                theirs[1],
                theirs[2],
                directory=str(self._directory.resolve()),
                environment=self._entry.env,
                network=self._entry.network,
                stdin=theirs[0],
            )
        except BaseException:
            ours.close()
            raise
        finally:
            _close(theirs)
        return _Confined(running, ours)

    def _found(self, path: str) -> str:
        command = os.path.expanduser(self._entry.command)
        found = shutil.which(command, path=path)
        if found is None:
            raise ToolError(
                f"the MCP server '{self._name}' cannot be started: "
                f"there is no program '{command}' on the PATH"
            )
        return os.path.abspath(found)


class _Process:
    def __init__(self, process: "subprocess.Popen[bytes]", pipes: Pipes) -> None:
        self.pipes = pipes
        self._process = process

    async def end(self) -> None:
        try:
            if not await self._has_ended(_OWN_END):
                self._signal(signal.SIGTERM)
                await self._has_ended(_GRACE)
        finally:
            # Also when this is cancelled, and for programs that it has left behind.
            self._signal(signal.SIGKILL)
            self._process.wait()

    def _signal(self, number: int) -> None:
        """To the whole group: the program may have started others."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _has_ended(self, seconds: float) -> bool:
        for _ in range(round(seconds / _POLL)):
            if self._process.poll() is not None:
                return True
            await asyncio.sleep(_POLL)
        return False


class _Confined:
    def __init__(self, running: RunningCommand, pipes: Pipes) -> None:
        self.pipes = pipes
        self._running = running

    async def end(self) -> None:
        if self._running.is_running:
            await self._running.stop(_GRACE)


def _pipes() -> tuple[Pipes, tuple[int, int, int]]:
    """Our ends and the program's: its stdin, stdout and stderr."""
    (their_in, our_in), (our_out, their_out), (our_err, their_err) = os.pipe(), os.pipe(), os.pipe()
    return Pipes(our_in, our_out, our_err), (their_in, their_out, their_err)


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
