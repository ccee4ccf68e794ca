"""Looks at the processes of this machine: which are alive, and how much memory they use."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

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


def memory_of_session(leader: int) -> int:
    """Megabytes that the processes of a session use together, shared pages counted once."""
    total = 0
    for pid in all_processes():
        fields = _stat(pid)
        if fields and int(fields[_SESSION]) == leader:
            total += _kilobytes(pid)
    return total // 1024


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
