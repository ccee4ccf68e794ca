"""Takes everything from the present process that a command must not have, and becomes the command."""

import os
import resource
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from sestet.services.sandbox.kernel import PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, prctl
from sestet.services.sandbox.landlock import READ, USE, WRITE, Rule, restrict_files
from sestet.services.sandbox.plan import COMPUTER, DEVICES, RESOLVER, SYSTEM, TEMPORARY, Plan
from sestet.services.sandbox.syscall_filter import install_filter

_CAPABILITIES = 64


def become(
    plan: Plan, code: bytes, arguments: Sequence[str], directory: str, environment: Mapping[str, str]
) -> None:
    """Replace this process with a confined command; returns only by an ``OSError``."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    # The first to be ended when the computer runs out of memory.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    os.umask(0o022)
    _limit_usage(plan)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    restrict_files(rules_of(plan))
    for capability in range(_CAPABILITIES):
        with suppress(OSError):
            prctl(PR_CAPBSET_DROP, capability)
    if plan.user is not None:
        os.setgroups([])
        os.setresgid(plan.user, plan.user, plan.user)
        os.setresuid(plan.user, plan.user, plan.user)
    os.chdir(directory)
    install_filter(code)
    os.execve(arguments[0], tuple(arguments), environment)  # noqa: S606 - the point of the sandbox


def rules_of(plan: Plan) -> Iterator[Rule]:
    """The rules of Landlock for a plan."""
    yield from ((path, READ) for path in (*SYSTEM, *plan.readable))
    yield from ((path, USE) for path in DEVICES)
    yield from ((path, WRITE) for path in plan.writable)
    if plan.network:
        yield from ((path, READ) for path in RESOLVER)
    if plan.isolation == "none":
        yield plan.scratch, WRITE
        yield from ((path, READ) for path in COMPUTER)
    else:
        # Made for the sandbox alone: only its own processes are in /proc.
        yield "/proc", READ
        yield from ((path, WRITE) for path in TEMPORARY)


def _limit_usage(plan: Plan) -> None:
    usage = plan.usage
    # Without a namespace, the processes that the person runs anyway count too.
    beside = _count_threads(os.getuid()) if plan.isolation == "none" else 0
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: usage.memory,
        resource.RLIMIT_NPROC: beside + usage.processes,
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
