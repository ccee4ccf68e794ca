"""Starts one command, watches it, and ends everything that it leaves behind."""

import json
import os
import select
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from sestet.services.sandbox.confine import become
from sestet.services.sandbox.kernel import (
    CLONE_NEWNS,
    CLONE_NEWPID,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    prctl,
    unshare,
)
from sestet.services.sandbox.mounts import Place, mount_late, mount_proc
from sestet.services.sandbox.plan import Plan
from sestet.services.sandbox.processes import (
    descendants,
    end_descendants,
    measure_memory,
    others_in_namespace,
    signal_all,
)

#: Told to a keeper: end the command by force.
KILL = signal.SIGUSR1
#: What a command used too much of.
Overuse: TypeAlias = Literal["", "memory", "processes", "disk"]

#: Milliseconds between two looks at what a command uses.
_LOOK = 200
_MOST_DESCRIPTORS = 65_536
#: The exit code of a shell for a program that cannot be started.
_CANNOT_START = 127


class Kept(NamedTuple):
    """What the keepers of all commands of one launcher know."""

    plan: Plan
    #: The filter of system calls.
    code: bytes
    #: Places that did not exist when the launcher began.
    absent: Sequence[Place]
    #: A pipe that closes when the launcher ends.
    lifeline: int


def keep(kept: Kept, request: Mapping[str, Any], descriptors: Sequence[int], writer: int) -> NoReturn:
    """Run a command as its keeper; write how it ended into a pipe, and end this process.

    ``descriptors``: where the command's output and its errors go.
    """
    try:
        if kept.plan.isolation == "namespaces":
            _enter_namespace(writer)
            mount_late(kept.absent)
        else:
            prctl(PR_SET_CHILD_SUBREAPER, 1)
        _Keeper(kept).run(request, descriptors, writer)
    except OSError as error:
        _write(writer, {"failed": str(error)})
    finally:
        os._exit(0)


def _enter_namespace(writer: int) -> None:
    """Go on as the first process of a new process namespace: all others in it end with it."""
    unshare(CLONE_NEWPID | CLONE_NEWNS)
    parent = os.pidfd_open(os.getpid())
    first = os.fork()
    if first:
        signal.signal(signal.SIGTERM, partial(_forward, first))
        os.closerange(3, _MOST_DESCRIPTORS)
        os.waitpid(first, 0)
        os._exit(0)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have ended before that call.
    if select.select([parent], [], [], 0)[0]:
        os._exit(0)
    os.close(parent)
    mount_proc()


def _forward(process: int, number: int, _: FrameType | None) -> None:
    os.kill(process, number)


class _Keeper:
    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._usage = kept.plan.usage
        self._has_namespace = kept.plan.isolation == "namespaces"
        self._find_processes = others_in_namespace if self._has_namespace else descendants
        #: The writable directories whose disk had enough room at the start.
        self._roomy = [path for path in kept.plan.writable if not self._is_full(path)]

    def run(self, request: Mapping[str, Any], descriptors: Sequence[int], writer: int) -> None:
        signal.signal(signal.SIGTERM, self._pass_on)
        signal.signal(KILL, self._kill)
        problem, problem_writer = os.pipe()
        command = os.fork()
        if not command:
            self._become(request, descriptors, problem_writer)
        for descriptor in (problem_writer, *descriptors):
            os.close(descriptor)
        failed = os.read(problem, 1_000).decode()
        os.close(problem)
        status, overuse = self._wait_for(command)
        if not self._has_namespace:
            end_descendants()
        _write(writer, {"failed": failed, "status": status, "overuse": overuse})

    def _become(self, request: Mapping[str, Any], descriptors: Sequence[int], problem: int) -> NoReturn:
        """Become the command; the pipe ``problem`` closes when it has started."""
        try:
            os.setsid()
            nothing = os.open("/dev/null", os.O_RDONLY)
            for place, descriptor in enumerate((nothing, *descriptors)):
                os.dup2(descriptor, place)
            os.closerange(3, problem)
            os.closerange(problem + 1, _MOST_DESCRIPTORS)
            plan, code = self._kept.plan, self._kept.code
            become(plan, code, request["arguments"], request["directory"], request["environment"])
        except OSError as error:
            where = error.filename or request["arguments"][0]
            os.write(problem, f"{os.fsdecode(where)}: {error.strerror}".encode(errors="replace"))
        finally:
            os._exit(_CANNOT_START)

    def _wait_for(self, command: int) -> tuple[int, Overuse]:
        """The command's status, and what it used too much of. Adopted processes are reaped too."""
        watched = select.poll()
        watched.register(os.pidfd_open(command), select.POLLIN)
        if not self._has_namespace:
            watched.register(self._kept.lifeline, select.POLLIN)
        overuse: Overuse = ""
        while (ended := self._reap(command)) is None:
            ready = watched.poll(_LOOK)
            found = self._find_processes()
            overuse = overuse or self._overuse(found)
            if overuse or any(descriptor == self._kept.lifeline for descriptor, _ in ready):
                signal_all(found, signal.SIGKILL)
        return ended, overuse

    def _overuse(self, processes: Sequence[int]) -> Overuse:
        if len(processes) > self._usage.processes:
            return "processes"
        if measure_memory(processes) > self._usage.memory:
            return "memory"
        return "disk" if any(map(self._is_full, self._roomy)) else ""

    def _is_full(self, path: str) -> bool:
        with suppress(OSError):
            state = os.statvfs(path)
            return state.f_bavail * state.f_frsize < self._usage.disk_left
        return False

    def _reap(self, command: int) -> int | None:
        """The command's status if it has ended."""
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == command:
                return status
            if not process:
                return None

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        signal_all(self._find_processes(), number)

    def _kill(self, _: int, __: FrameType | None) -> None:
        signal_all(self._find_processes(), signal.SIGKILL)


def _write(writer: int, ended: Mapping[str, object]) -> None:
    with suppress(OSError):
        os.write(writer, json.dumps(ended).encode())
