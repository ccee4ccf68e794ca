"""Runs shell commands in the sandbox, one after the other or in the background."""

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path

from sestet.core.errors import ToolError
from sestet.core.record import Record
from sestet.services.commands.command_rules import Judgement, OwnerRules, judge_command
from sestet.services.commands.output import Output, Report
from sestet.services.safe_open import open_below, quoted
from sestet.services.sandbox.sandbox import Ended, RunningCommand, Sandbox, SandboxError

_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
#: How many commands may run in the background at once, and how many ended ones are remembered.
_MOST_RUNNING, _MOST_REMEMBERED = 16, 50


class CommandResult(Record):
    """A command and what it printed: so far, or in all."""

    command: str
    output: str
    errors: str
    seconds: float
    #: None: it is still running.
    ended: Ended | None = None
    #: It was stopped after this many seconds.
    timed_out: float | None = None
    #: It was stopped because it printed more than ``MOST_BYTES``.
    flooded: bool = False


class Commands:
    """The commands of one assistant; closing it ends them all."""

    def __init__(self, sandbox: Sandbox, root: Path, owner: OwnerRules = OwnerRules()) -> None:  # noqa: B008
        self._sandbox = sandbox
        self._root = root
        self._owner = owner
        self._background: dict[str, _Run] = {}
        self._number = 0

    def judge(self, command: str) -> Judgement:
        """Judge a command by the owner's rules; starts nothing."""
        return judge_command(command, self._owner)

    async def run(
        self, command: str, *, seconds: float, directory: str = ".", report: Report = lambda _: None
    ) -> CommandResult:
        """Run a command until it ends, or for so many ``seconds``."""
        run = await self._start(command, directory, report)
        try:
            async with asyncio.timeout(seconds):
                await run.finish()
        except TimeoutError:
            await run.stop()
            run.timed_out = seconds
        except BaseException:
            # The turn was stopped: so is its command.
            run.process.kill()
            raise
        return run.result()

    async def start(self, command: str, *, directory: str = ".") -> str:
        """Start a command in the background; returns its id."""
        if sum(run.process.is_running for run in self._background.values()) >= _MOST_RUNNING:
            raise ToolError(f"{_MOST_RUNNING} commands are running already; stop one with exec_stop first")
        run = await self._start(command, directory, lambda _: None)
        self._number += 1
        number = f"c{self._number}"
        self._background[number] = run
        self._forget_oldest()
        return number

    def status(self, number: str) -> CommandResult:
        """A background command as it is now."""
        return self._run(number).result()

    async def stop(self, number: str) -> CommandResult:
        run = self._run(number)
        await run.stop()
        return run.result()

    def list(self) -> Mapping[str, CommandResult]:
        return {number: run.result() for number, run in self._background.items()}

    async def close(self) -> None:
        await self._sandbox.close()

    def _run(self, number: str) -> "_Run":
        if number not in self._background:
            known = ", ".join(self._background) or "none"
            raise ToolError(f"no command has the id '{number}'; known are: {known}")
        return self._background[number]

    def _forget_oldest(self) -> None:
        ended = [number for number, run in self._background.items() if not run.process.is_running]
        for number in ended[:-_MOST_REMEMBERED]:
            del self._background[number]

    async def _start(self, command: str, directory: str, report: Report) -> "_Run":
        with open_below(self._root, directory) as opened:
            if not opened.is_directory:
                raise ToolError(f"{quoted(directory)} is a file; 'cwd' must be a directory")
            place = self._root.resolve() / opened.path
        if "\0" in command:
            raise ToolError("the command contains a zero character")
        shell = next(filter(os.path.exists, _SHELLS))
        reader, writer = os.pipe()
        error_reader, error_writer = os.pipe()
        run = _Run(command)
        try:
            run.output = await _collect(reader, report, run)
            run.errors = await _collect(error_reader, report, run)
            run.process = await self._sandbox.start(
                [shell, "-c", command],
                writer,
                error_writer,
                directory=str(place),
                network=self.judge(command).network,
            )
        except SandboxError as error:
            raise ToolError(f"the command was not run, because there is no sandbox: {error}") from error
        finally:
            os.close(writer)
            os.close(error_writer)
        return run


class _Run:
    """One command with the pipes that it writes to."""

    process: RunningCommand
    output: Output
    errors: Output

    def __init__(self, command: str) -> None:
        self.command = command
        self.timed_out: float | None = None
        self.flooded = False
        self._ended: Ended | None = None
        self._started = time.monotonic()
        self._seconds: float | None = None

    async def finish(self) -> None:
        ended = await self.process.wait()
        # Everything that it started has ended too, so both pipes close.
        await asyncio.wait([self.output.closed, self.errors.closed])
        self._settle(ended)

    async def stop(self) -> None:
        ended = await self.process.stop()
        await asyncio.wait([self.output.closed, self.errors.closed])
        self._settle(ended)

    def flood(self) -> None:
        self.flooded = True
        self.process.kill()

    def result(self) -> CommandResult:
        ended = self.process.ended
        if ended is not None:
            self._settle(ended)
        seconds = self._seconds if self._seconds is not None else time.monotonic() - self._started
        texts = (self.output.text(), self.errors.text())
        return CommandResult(self.command, *texts, seconds, self._ended, self.timed_out, self.flooded)

    def _settle(self, ended: Ended) -> None:
        if self._ended is None:
            self._ended, self._seconds = ended, time.monotonic() - self._started


async def _collect(reader: int, report: Report, run: _Run) -> Output:
    loop = asyncio.get_running_loop()
    _, output = await loop.connect_read_pipe(
        lambda: Output(report, run.flood), os.fdopen(reader, "rb", buffering=0)
    )
    return output
