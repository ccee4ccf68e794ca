"""The processes that a command has started: which there are, what they use, and the end of them."""

import os
import signal
from collections.abc import Collection, Iterator
from contextlib import suppress

_PAGE = os.sysconf("SC_PAGE_SIZE")


def others_in_namespace() -> list[int]:
    """All processes of this process namespace but the present one."""
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != own]


def descendants(leave_out: Collection[int] = ()) -> list[int]:
    """The children of this process and theirs, except those of the processes to leave out."""
    found: list[int] = []
    ahead = [os.getpid()]
    while ahead:
        children = [child for child in _children(ahead.pop()) if child not in leave_out]
        found += children
        ahead += children
    return found


def measure_memory(processes: Collection[int]) -> int:
    """The bytes of memory that the processes hold and share with no file."""
    pages = 0
    for process in processes:
        with suppress(OSError), open(f"/proc/{process}/statm") as file:
            _, resident, shared = map(int, file.read().split()[:3])
            pages += resident - shared
    return pages * _PAGE


def signal_all(processes: Collection[int], number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def end_descendants(leave_out: Collection[int] = ()) -> None:
    """End all that the children of this process left running; those without a parent have become its own."""
    while found := descendants(leave_out):
        signal_all(found, signal.SIGKILL)
        for process in found:
            # Only our own children can be waited for; the others become ours when their parents end.
            with suppress(ChildProcessError):
                os.waitpid(process, 0)


def _children(process: int) -> Iterator[int]:
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with suppress(OSError), open(f"/proc/{process}/task/{thread}/children") as file:
                yield from map(int, file.read().split())
