"""The processes that a command has started: which there are, what they use, and the end of them."""

import os
import select
import signal
from collections.abc import Collection, Iterator
from contextlib import suppress

from sestet.services.sandbox.kernel import PR_SET_PDEATHSIG, prctl

_PAGE = os.sysconf("SC_PAGE_SIZE")


def fork_to_die_together() -> int:
    """Fork; the kernel kills the child when this process ends."""
    parent = os.pidfd_open(os.getpid())
    child = os.fork()
    if not child:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # The parent may have ended before that call.
        if select.select([parent], [], [], 0)[0]:
            os._exit(0)
    os.close(parent)
    return child


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


def uses_more_memory(processes: Collection[int], most: int) -> bool:
    """Whether the processes hold more bytes of memory that no file on a disk backs."""
    # Counts memory once for each process that has it, and is quick.
    at_most = sum(map(_resident, processes))
    return at_most > most and sum(map(_own_share, processes)) > most


def _resident(process: int) -> int:
    with suppress(OSError), open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * _PAGE
    return 0


def _own_share(process: int) -> int:
    """A process's memory, with its share of what it has together with others."""
    try:
        with open(f"/proc/{process}/smaps_rollup") as file:
            lines = [line.split() for line in file]
    except OSError:  # it has ended, or keeps others from looking
        return _resident(process)
    kinds = ("Pss_Anon:", "Pss_Shmem:")
    return sum(int(line[1]) * 1_024 for line in lines if line[0] in kinds)


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
