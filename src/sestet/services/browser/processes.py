"""Looks at the processes of this machine: which are alive, and how much memory they use."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
#: Fields of /proc/PID/stat, counted from the one behind the name.
_SESSION, _STARTED = 3, 19


def start_time(pid: int) -> str:
    """When the process started, in the kernel's ticks; empty if there is none. A reused number differs."""
    fields = _stat(pid)
    return fields[_STARTED] if fields else ""


def all_processes() -> Iterator[int]:
    with suppress(OSError):
        for entry in os.scandir(_PROC):
            if entry.name.isdecimal():
                yield int(entry.name)


class Used(NamedTuple):
    """The memory of one process, shared pages counted once among all of them."""

    pid: int
    started: str
    kilobytes: int


def used_in_session(leader: int) -> list[Used]:
    """What each process of a session uses."""
    found = ((pid, _stat(pid)) for pid in all_processes())
    return [
        Used(pid, fields[_STARTED], _kilobytes(pid))
        for pid, fields in found
        if fields and int(fields[_SESSION]) == leader
    ]


def has_argument(pid: int, argument: str) -> bool:
    """Whether the process was started with this argument, or has taken it on, as processes of pages do."""
    with suppress(OSError):
        # Chromium's own title has blanks in the place of ends.
        return argument.encode() in (_PROC / str(pid) / "cmdline").read_bytes().replace(b" ", b"\0").split(
            b"\0"
        )
    return False


def kill_process(used: Used) -> bool:
    """Kill exactly this process; False if it is gone already."""
    try:
        handle = os.pidfd_open(used.pid)
    except OSError:
        return False
    try:
        if start_time(used.pid) != used.started:
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def _kilobytes(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def _stat(pid: int) -> list[str]:
    with suppress(OSError):
        # The name may hold blanks and brackets.
        return (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    return []
