"""Takes everything from the present process that a command must not have, and becomes the command."""

import os
import resource
import signal
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from sestet.services.sandbox.kernel import PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, prctl
from sestet.services.sandbox.landlock import READ, USE, WRITE, Rule, restrict_files
from sestet.services.sandbox.plan import COMPUTER, DEVICES, RESOLVER, SYSTEM, TEMPORARY, Plan, holds
from sestet.services.sandbox.syscall_filter import hands_over, install_filter

_CAPABILITIES = 64
#: The kernel writes no core file and starts no program for one if this is the limit.
_NO_CORE = 1
#: All commands of a user together may have this many times the processes of one.
_TOGETHER = 4


class Program(NamedTuple):
    """What a command runs."""

    arguments: Sequence[str]
    directory: str
    environment: Mapping[str, str]


def become(plan: Plan, code: bytes, program: Program, keeper: socket.socket) -> None:
    """Replace this process with a confined command; returns only by an ``OSError``.

    ``keeper`` gets the calls that the filter hands over.
    """
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)
    # The first to be ended when the computer runs out of memory.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    os.umask(0o022)
    _limit_usage(plan)
    if plan.isolation != "none":
        _drop_rights(plan)
    # After the change of the user, which would undo it.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir(program.directory)
    if plan.isolation != "none":
        listener = install_filter(code, with_listener=hands_over(plan))
        if listener is not None:
            socket.send_fds(keeper, [b"listener"], [listener])
    arguments = tuple(program.arguments)
    os.execve(arguments[0], arguments, program.environment)  # noqa: S606 - the point of the sandbox


def _drop_rights(plan: Plan) -> None:
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    restrict_files(rules_of(plan))
    for capability in range(_CAPABILITIES):
        with suppress(OSError):
            prctl(PR_CAPBSET_DROP, capability)
    if plan.user is not None:
        user, group = plan.user
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)


def rules_of(plan: Plan) -> Iterator[Rule]:
    """The rules of Landlock for a plan."""
    readable = (*SYSTEM, *plan.readable, *(RESOLVER if plan.network else ()))
    yield from ((path, USE) for path in DEVICES)
    yield from ((path, WRITE) for path in plan.writable)
    if plan.isolation == "landlock":
        yield plan.scratch, WRITE
        yield from ((f"/proc/{name}", READ) for name in COMPUTER)
        for path in readable:
            yield from ((part, READ) for part in _without(path, plan.hidden))
    else:
        # Mounts hide what is private. In /proc are only the sandbox's own processes.
        yield from ((path, READ) for path in (*readable, "/proc"))
        yield from ((path, WRITE) for path in TEMPORARY)


def _without(path: str, hidden: Sequence[str]) -> Iterator[str]:
    """A place, or its parts if a hidden place lies in it: a rule for a directory holds for all below it."""
    if path in hidden:
        return
    if not any(holds(path, place) for place in hidden):
        yield path
        return
    with suppress(OSError):
        for name in os.listdir(path):
            yield from _without(os.path.join(path, name), hidden)


def _limit_usage(plan: Plan) -> None:
    usage = plan.usage
    # Without a namespace, the processes that the person runs anyway count too.
    beside = _count_threads(os.getuid()) if plan.isolation in ("landlock", "none") else 0
    limits = {
        resource.RLIMIT_CORE: _NO_CORE,
        resource.RLIMIT_DATA: usage.memory,
        resource.RLIMIT_NPROC: beside + _TOGETHER * usage.processes,
        resource.RLIMIT_NOFILE: usage.open_files,
        resource.RLIMIT_FSIZE: usage.file_bytes,
    }
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _count_threads(user: int) -> int:
    count = 0
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            count += len(os.listdir(f"/proc/{name}/task")) if os.stat(f"/proc/{name}").st_uid == user else 0
    return count
