"""Starts one command, watches it, and ends everything that it leaves behind."""

import fcntl
import json
import os
import select
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from sestet.services.sandbox.confine import Program, become
from sestet.services.sandbox.file_modes import FileModes
from sestet.services.sandbox.kernel import (
    CLONE_NEWNS,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    prctl,
    unshare,
)
from sestet.services.sandbox.mounts import Place, mount_again, mount_proc
from sestet.services.sandbox.plan import Plan
from sestet.services.sandbox.processes import (
    descendants,
    end_descendants,
    others_in_namespace,
    signal_all,
    uses_more_memory,
)

#: Told to a keeper: end the command by force.
KILL = signal.SIGUSR1
#: What a command used too much of.
Overuse: TypeAlias = Literal["", "memory", "processes", "disk"]

#: Milliseconds between two looks at what a command uses.
_LOOK = 200
_MOST_DESCRIPTORS = 65_536
#: Above the descriptors that any command is given.
_ABOVE = 64
#: Files that a command has to leave room for on a disk.
_FILES_LEFT = 10_000
#: The exit code of a shell for a program that cannot be started.
_CANNOT_START = 127


class Kept(NamedTuple):
    """What the keepers of all commands of one launcher know."""

    plan: Plan
    #: The filter of system calls.
    code: bytes
    #: The places in the workspace that are hidden or protected.
    inner: Sequence[Place]
    #: A pipe that closes when the launcher ends.
    lifeline: int


def keep(kept: Kept, request: Mapping[str, Any], descriptors: Sequence[int], writer: int) -> NoReturn:
    """Run a command as its keeper; write how it ended into a pipe, and end this process.

    With ``namespaces``, this is the first process of a namespace, and all others in it end with it.
    ``descriptors``: where its output and its errors go, then its input, and what it finds as 3, 4, …
    """
    try:
        if kept.plan.isolation == "namespaces":
            unshare(CLONE_NEWNS)
            mount_proc()
            mount_again(kept.inner)
        else:
            prctl(PR_SET_CHILD_SUBREAPER, 1)
            # A keeper that was stopped goes on when the launcher ends, and notices it.
            prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
        _Keeper(kept).run(request, descriptors, writer)
    except OSError as error:
        _write(writer, {"failed": str(error)})
    finally:
        os._exit(0)


class _Keeper:
    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._usage = kept.plan.usage
        self._has_namespace = kept.plan.isolation == "namespaces"
        self._find_processes = others_in_namespace if self._has_namespace else descendants
        self._file_modes: FileModes | None = None
        #: The writable directories whose disk had enough room at the start.
        places = (*kept.plan.writable, *filter(None, [kept.plan.scratch]))
        self._roomy = [path for path in places if not self._is_full(path)]

    def run(self, request: Mapping[str, Any], descriptors: Sequence[int], writer: int) -> None:
        signal.signal(signal.SIGTERM, self._pass_on)
        signal.signal(KILL, self._kill)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = os.fork()
        if not command:
            self._become(Program(**request), descriptors, theirs)
        theirs.close()
        for descriptor in descriptors:
            os.close(descriptor)
        failed = self._learn(ours)
        status, overuse = self._wait_for(command)
        if not self._has_namespace:
            end_descendants()
        _write(writer, {"failed": failed, "status": status, "overuse": overuse})

    def _learn(self, command: socket.socket) -> str:
        """Why the command could not be started; empty: it has started."""
        with command:
            message, received, _, _ = socket.recv_fds(command, 1_000, 1)
            if received:
                self._file_modes = FileModes(received[0], self._kept.plan)
                message = command.recv(1_000)
            return message.decode()

    def _become(self, program: Program, descriptors: Sequence[int], keeper: socket.socket) -> NoReturn:
        """Become the command; the socket ``keeper`` closes when it has started."""
        try:
            os.setsid()
            # Out of the way of the places that the command's own descriptors take.
            keeper = socket.socket(fileno=_moved_up(keeper.fileno()))
            output, errors, *inputs = map(_moved_up, descriptors)
            text, *given = inputs or [os.open("/dev/null", os.O_RDONLY)]
            places = (text, output, errors, *given)
            for place, descriptor in enumerate(places):
                os.dup2(descriptor, place)
            os.closerange(len(places), keeper.fileno())
            os.closerange(keeper.fileno() + 1, _MOST_DESCRIPTORS)
            become(self._kept.plan, self._kept.code, program, keeper)
        except OSError as error:
            where = error.filename or program.arguments[0]
            keeper.send(f"{os.fsdecode(where)}: {error.strerror}".encode(errors="replace"))
        finally:
            os._exit(_CANNOT_START)

    def _wait_for(self, command: int) -> tuple[int, Overuse]:
        """The command's status, and what it used too much of. Adopted processes are reaped too."""
        watched = select.poll()
        watched.register(os.pidfd_open(command), select.POLLIN)
        if not self._has_namespace:
            watched.register(self._kept.lifeline, select.POLLIN)
        if self._file_modes:
            watched.register(self._file_modes.listener, select.POLLIN)
        overuse: Overuse = ""
        next_look = time.monotonic() + _LOOK / 1_000
        # Processes that have ended are reaped before they are counted.
        while (ended := self._reap(command)) is None:
            if time.monotonic() > next_look:
                overuse = overuse or self._overuse(self._find_processes())
                next_look = time.monotonic() + _LOOK / 1_000
            ready = {descriptor for descriptor, _ in watched.poll(0 if overuse else _LOOK)}
            if self._file_modes and self._file_modes.listener in ready:
                self._file_modes.answer()
            if overuse or self._kept.lifeline in ready:
                signal_all(self._find_processes(), signal.SIGKILL)
        return ended, overuse

    def _overuse(self, processes: Sequence[int]) -> Overuse:
        if len(processes) > self._usage.processes:
            return "processes"
        if uses_more_memory(processes, self._usage.memory):
            return "memory"
        return "disk" if any(map(self._is_full, self._roomy)) else ""

    def _is_full(self, path: str) -> bool:
        with suppress(OSError):
            state = os.statvfs(path)
            # Some file systems do not count their files.
            few_files = state.f_files > 0 and state.f_favail < _FILES_LEFT
            return few_files or state.f_bavail * state.f_frsize < self._usage.disk_left
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


def _moved_up(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ABOVE)


def _write(writer: int, ended: Mapping[str, object]) -> None:
    with suppress(OSError):
        os.write(writer, json.dumps(ended).encode())
