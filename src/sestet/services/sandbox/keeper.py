"""Starts one command, watches it, and ends everything that it leaves behind."""

import json
import os
import select
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any, NoReturn

from sestet.services.sandbox.confine import become
from sestet.services.sandbox.kernel import (
    CLONE_NEWNS,
    CLONE_NEWPID,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    prctl,
    unshare,
)
from sestet.services.sandbox.mounts import mount_proc
from sestet.services.sandbox.plan import Plan

#: Seconds between two looks at the memory of a command.
_LOOK = 0.2
_PAGE = os.sysconf("SC_PAGE_SIZE")
#: The exit code of a shell for a program that cannot be started.
_CANNOT_START = 127


def keep(
    plan: Plan, code: bytes, request: Mapping[str, Any], descriptors: Sequence[int], writer: int
) -> NoReturn:
    """Run a command as its keeper; write how it ended into a pipe, and end this process.

    ``descriptors``: where the command's output and its errors go.
    """
    try:
        if plan.isolation == "own":
            _enter_namespace(writer)
        else:
            prctl(PR_SET_CHILD_SUBREAPER, 1)
        _Keeper(plan).run(code, request, descriptors, writer)
    except OSError as error:
        _write(writer, {"failed": str(error)})
    finally:
        os._exit(0)


def _enter_namespace(writer: int) -> None:
    """Go on as the first process of a new process namespace: all others in it end with it."""
    unshare(CLONE_NEWPID | CLONE_NEWNS)
    first = os.fork()
    if first:
        os.close(writer)
        signal.signal(signal.SIGTERM, partial(_forward, first))
        for descriptor in range(3, 64):
            with suppress(OSError):
                os.close(descriptor)
        os.waitpid(first, 0)
        os._exit(0)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    mount_proc()


def _forward(process: int, number: int, _: FrameType | None) -> None:
    os.kill(process, number)


class _Keeper:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def run(self, code: bytes, request: Mapping[str, Any], descriptors: Sequence[int], writer: int) -> None:
        signal.signal(signal.SIGTERM, self._pass_on)
        problem, problem_writer = os.pipe()
        command = os.fork()
        if not command:
            self._become(code, request, descriptors, problem_writer)
        for descriptor in (problem_writer, *descriptors):
            os.close(descriptor)
        failed = os.read(problem, 1_000).decode()
        os.close(problem)
        status, too_large = self._wait_for(command)
        if self._plan.isolation != "own":
            self._end_rest()
        _write(writer, {"failed": failed, "status": status, "too_large": too_large})

    def _become(
        self, code: bytes, request: Mapping[str, Any], descriptors: Sequence[int], problem: int
    ) -> NoReturn:
        """Become the command; the pipe ``problem`` closes when it has started."""
        try:
            os.setsid()
            nothing = os.open("/dev/null", os.O_RDONLY)
            for place, descriptor in enumerate((nothing, *descriptors)):
                os.dup2(descriptor, place)
            for descriptor in range(3, 256):
                if descriptor != problem:
                    with suppress(OSError):
                        os.close(descriptor)
            become(self._plan, code, request["arguments"], request["directory"], request["environment"])
        except OSError as error:
            where = error.filename or request["arguments"][0]
            os.write(problem, f"{os.fsdecode(where)}: {error.strerror}".encode(errors="replace"))
        finally:
            os._exit(_CANNOT_START)

    def _wait_for(self, command: int) -> tuple[int, bool]:
        """The command's status, and whether it used too much memory. Adopted processes are reaped too."""
        end, too_large = os.pidfd_open(command), False
        while (ended := self._reap(command)) is None:
            select.select([end], [], [], _LOOK)
            if self._memory() > self._plan.usage.memory:
                too_large = True
                self._signal_all(signal.SIGKILL)
        return ended, too_large

    def _reap(self, command: int) -> int | None:
        """The command's status if it has ended."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return None
            if process == command:
                return status
            if not process:
                return None

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        self._signal_all(number)

    def _signal_all(self, number: int) -> None:
        for process in self._others():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)

    def _end_rest(self) -> None:
        """End all that the command left running. A namespace does it itself when its first process ends."""
        while others := list(self._others()):
            for process in others:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(-1, 0)

    def _others(self) -> Iterator[int]:
        """The command's processes: in a namespace all but this one, elsewhere our descendants."""
        own = os.getpid()
        if self._plan.isolation == "own":
            yield from (int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != own)
            return
        ahead = [own]
        while ahead:
            children = list(_children(ahead.pop()))
            yield from children
            ahead += children

    def _memory(self) -> int:
        pages = 0
        for process in self._others():
            with suppress(OSError), open(f"/proc/{process}/statm") as file:
                # Resident pages less those that are shared with others.
                _, resident, shared = map(int, file.read().split()[:3])
                pages += resident - shared
        return pages * _PAGE


def _children(process: int) -> Iterator[int]:
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with suppress(OSError), open(f"/proc/{process}/task/{thread}/children") as file:
                yield from map(int, file.read().split())


def _write(writer: int, ended: Mapping[str, object]) -> None:
    with suppress(OSError):
        os.write(writer, json.dumps(ended).encode())
