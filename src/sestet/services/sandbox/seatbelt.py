"""The sandbox of macOS, by the program ``sandbox-exec``. UNTESTED: nobody has tried it on a Mac yet.

It is used only if the settings name it. It is weaker than the sandboxes of Linux: a process that a command
moves out of its group survives the command, and only sizes and numbers of files are limited.
"""

import asyncio
import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from sestet.services.sandbox.plan import Plan, is_within
from sestet.services.sandbox.running_command import Ended, RunningCommand, SandboxError

PROGRAM = "/usr/bin/sandbox-exec"
_SYSTEM = ("/usr", "/bin", "/sbin", "/opt", "/System", "/Library", "/private/etc", "/private/var/db/timezone")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def seatbelt_profile(plan: Plan) -> str:
    """What commands may do, in the language of ``sandbox-exec``. The last rule that fits holds."""
    return "\n".join(_rules(plan))


def _rules(plan: Plan) -> Iterator[str]:
    yield "(version 1)"
    yield "(deny default)"
    yield "(allow process-fork) (allow process-exec) (allow sysctl-read)"
    yield "(allow signal (target same-sandbox)) (allow process-info* (target same-sandbox))"
    yield f"(allow file-read* {_below(_SYSTEM)} {_below(plan.readable)})"
    yield f"(allow file-read* file-write-data {_exactly(_DEVICES)})"
    # A program finds its way through the directories above the workspace.
    yield f"(allow file-read-metadata {_exactly(_above((*plan.writable, *plan.readable)))})"
    yield f"(allow file-read* file-write* {_below((*plan.writable, plan.scratch))})"
    if plan.protected:
        yield f"(deny file-write* {_below(plan.protected)})"
    if inside := [path for path in plan.hidden if is_within(path, plan.writable)]:
        yield f"(deny file-read* file-write* {_below(inside)})"
    if plan.network:
        yield "(allow network*) (allow mach-lookup)"


def _below(places: Sequence[str]) -> str:
    return " ".join(f"(subpath {_quoted(place)})" for place in places if place)


def _exactly(places: Sequence[str]) -> str:
    return " ".join(f"(literal {_quoted(place)})" for place in places)


def _above(places: Sequence[str]) -> list[str]:
    found = {"/"}
    for place in places:
        while (place := os.path.dirname(place)) not in found:
            found.add(place)
    return sorted(found)


def _quoted(path: str) -> str:
    if any(character < " " for character in path):
        raise SandboxError(f"{path!r} has a control character in its name")
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Seatbelt:
    """Starts commands under a profile, each with a keeper that ends it when Sestet ends."""

    def __init__(self, plan: Plan, program: str = PROGRAM) -> None:
        if not os.access(program, os.X_OK):
            raise SandboxError(f"'{program}' does not exist")
        self.plan = plan
        self.is_alive = True
        self._begin = (program, "-p", seatbelt_profile(plan))
        self._keepers: dict[int, subprocess.Popen[bytes]] = {}
        self._watched: set[asyncio.Task[None]] = set()

    def start(self, request: Mapping[str, object], descriptors: Sequence[int]) -> RunningCommand:
        if len(descriptors) > 2:
            raise SandboxError(
                "the sandbox of macOS gives programs no input yet: no skill runs, and no secret is given"
            )
        # Any: the request is Sandbox's own.
        arguments, environment = cast("Any", request["arguments"]), cast("Any", request["environment"])
        usage = (str(self.plan.usage.open_files), str(self.plan.usage.file_bytes))
        # -P: no file of the working directory is imported as a module.
        keeper = (sys.executable, "-P", "-m", "sestet.services.sandbox.seatbelt", *usage)
        process = subprocess.Popen(  # noqa: S603 - the same interpreter
            [*keeper, *self._begin, *arguments],
            # The keeper ends its command when this pipe closes, whatever ends Sestet.
            stdin=subprocess.PIPE,
            stdout=descriptors[0],
            stderr=descriptors[1],
            env=environment,
            cwd=str(request["directory"]),
            start_new_session=True,
        )
        command = RunningCommand(process.pid, self)
        self._keepers[process.pid] = process
        task = asyncio.create_task(self._watch(process, command))
        self._watched.add(task)
        task.add_done_callback(self._watched.discard)
        return command

    def signal(self, number: int, signal_number: int) -> None:
        """To the whole group of a command, but not to its keeper."""
        if process := self._keepers.get(number):
            assert process.stdin is not None
            with suppress(OSError):
                os.write(process.stdin.fileno(), bytes([signal_number]))

    def kill(self) -> None:
        """End every command at once."""
        self.is_alive = False
        for number in tuple(self._keepers):
            self.signal(number, signal.SIGKILL)

    async def close(self) -> None:
        self.kill()
        await asyncio.gather(*self._watched)

    async def _watch(self, process: "subprocess.Popen[bytes]", command: RunningCommand) -> None:
        code = await asyncio.to_thread(process.wait)
        assert process.stdin is not None
        process.stdin.close()
        del self._keepers[process.pid]
        # A keeper ends as its command did.
        command.end(Ended(code=code if code >= 0 else None, signal=-code if code < 0 else None))


def keep(open_files: int, file_bytes: int, arguments: Sequence[str]) -> int:
    """Run a command in a group of its own. A byte on stdin is a signal for it; the end of stdin ends it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    command = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, process_group=0)  # noqa: S603 - given by Sestet
    while command.poll() is None:
        if select.select([sys.stdin], [], [], 0.05)[0]:
            sent = os.read(sys.stdin.fileno(), 1)
            with suppress(ProcessLookupError):
                os.killpg(command.pid, sent[0] if sent else signal.SIGKILL)
            if not sent:
                command.wait()
    # What it has left behind ends with it.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(command.pid, signal.SIGKILL)
    return command.returncode


if __name__ == "__main__":
    _ended = keep(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    if _ended < 0:
        os.kill(os.getpid(), -_ended)
    raise SystemExit(_ended)
