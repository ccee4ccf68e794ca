"""Runs shell commands in the sandbox, one after the other or in the background."""

import asyncio
import fcntl
import os
import shlex
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from io import FileIO
from pathlib import Path

from sestet.core.errors import ToolError
from sestet.core.record import Record
from sestet.services.commands.judgement import Judgement, OwnerRules
from sestet.services.commands.output import Output, Report
from sestet.services.safe_open import open_below, quoted
from sestet.services.sandbox.sandbox import Ended, RunningCommand, Sandbox, SandboxError

_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
#: How many commands may run in the background at once, and how many ended ones are remembered.
_MOST_RUNNING, _MOST_REMEMBERED = 16, 50
#: The environment of a command that only reads. Git then runs no program that the repository's own files name
#: (a file monitor, a hook, a pager), takes no folder among the files for a repository, and writes nothing.
_READING_ENVIRONMENT: Mapping[str, str] = {
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": "/dev/null",
    "GIT_CONFIG_KEY_2": "safe.bareRepository",
    "GIT_CONFIG_VALUE_2": "explicit",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
}
#: No such directory: a program looks for its settings in vain.
_NO_HOME = "/nonexistent"


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


class Program(Record):
    """A program that runs in a sandbox of its own, and can read one folder more than commands can."""

    #: Its name for the person.
    shown: str
    #: The program and its arguments; no shell reads them.
    arguments: tuple[str, ...]
    folder: str
    stdin: bytes = b""
    environment: Mapping[str, str] = {}
    network: bool = False


class Commands:
    """The commands of one assistant; closing it ends them all."""

    def __init__(self, sandbox: Sandbox, root: Path, owner: OwnerRules = OwnerRules()) -> None:  # noqa: B008
        self._sandbox = sandbox
        self._root = root
        self.owner = owner
        self._background: dict[str, _Run] = {}
        self._number = 0

    def judge(self, command: str) -> Judgement:
        """Judge a command by the owner's rules; starts nothing."""
        # Loaded on use, with its reader of bash's grammar: most conversations run no command.
        from sestet.services.commands.command_rules import judge_command

        return judge_command(command, self.owner)

    async def run(
        self, command: str, *, seconds: float, directory: str = ".", report: Report = lambda _: None
    ) -> CommandResult:
        """Run a command until it ends, or for so many ``seconds``."""
        return await _finished(await self._start(command, directory, report), seconds)

    async def run_program(
        self, program: Program, *, seconds: float, report: Report = lambda _: None
    ) -> CommandResult:
        """Run a program until it ends, or for so many ``seconds``. Nothing that it started is left then."""
        sandbox = self._sandbox.with_readable(program.folder)
        stdin = _memory_file(program.stdin)
        try:
            run = await _launch(sandbox, program, str(self._root.resolve()), report, stdin)
            return await _finished(run, seconds)
        finally:
            os.close(stdin)
            await sandbox.close()

    async def run_alone(
        self,
        words: Sequence[str],
        given: FileIO,
        fill: Callable[[], Awaitable[None]],
        *,
        seconds: float,
        directory: str = ".",
        report: Report = lambda _: None,
    ) -> CommandResult:
        """Run one program without a shell. It finds the open file ``given`` as its descriptor 3.

        This closes ``given`` when the program has started, and then calls ``fill``.
        """
        try:
            place, shown = self._place(directory), " ".join(words)
            network = self.judge(shlex.join(words)).network
            # No file that an earlier command could have written sets the program's options.
            no_home = {"HOME": _NO_HOME}
            arguments = (self._system_program(words[0]), *words[1:])
            program = Program(shown, arguments, "", environment=no_home, network=network)
            run = await _launch(self._sandbox, program, place, report, given=(given.fileno(),))
        finally:
            given.close()
        try:
            await fill()
        except BaseException:
            run.process.kill()
            raise
        return await _finished(run, seconds)

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

    def _place(self, directory: str) -> str:
        with open_below(self._root, directory) as opened:
            if not opened.is_directory:
                raise ToolError(f"{quoted(directory)} is a file; 'cwd' must be a directory")
            return str(self._root.resolve() / opened.path)

    def _system_program(self, name: str) -> str:
        """The file of a program that no command can have changed."""
        found = shutil.which(name, path=self._sandbox.program_path)
        if found is None:
            raise ToolError(f"there is no program {quoted(name)} on this computer")
        if self._sandbox.can_change(found):
            raise ToolError(f"commands can change {quoted(found)}, so it gets no secret")
        return found

    async def _start(self, command: str, directory: str, report: Report) -> "_Run":
        place = self._place(directory)
        if "\0" in command:
            raise ToolError("the command contains a zero character")
        shell = next(filter(os.path.exists, _SHELLS))
        judgement = self.judge(command)
        program = Program(
            command,
            (shell, "-c", command),
            "",
            environment=_READING_ENVIRONMENT if judgement.kind == "read_only" else {},
            network=judgement.network,
        )
        return await _launch(self._sandbox, program, place, report)


async def _launch(
    sandbox: Sandbox,
    program: Program,
    directory: str,
    report: Report,
    stdin: int | None = None,
    given: Sequence[int] = (),
) -> "_Run":
    """Start a program with pipes that collect what it prints."""
    reader, writer = os.pipe()
    error_reader, error_writer = os.pipe()
    run = _Run(program.shown)
    try:
        run.output = await _collect(reader, report, run)
        run.errors = await _collect(error_reader, report, run)
        run.process = await sandbox.start(
            program.arguments,
            writer,
            error_writer,
            directory=directory,
            environment=program.environment,
            network=program.network,
            stdin=stdin,
            given=given,
        )
    except SandboxError as error:
        raise ToolError(f"the command was not run, because there is no sandbox: {error}") from error
    finally:
        os.close(writer)
        os.close(error_writer)
    return run


async def _finished(run: "_Run", seconds: float) -> CommandResult:
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


def _memory_file(content: bytes) -> int:
    """An open file in memory that can only be read."""
    descriptor = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with os.fdopen(os.dup(descriptor), "wb") as stream:
        stream.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


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
