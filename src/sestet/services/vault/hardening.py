"""Closes the broker's memory to other processes, to core dumps and to the swap space."""

import ctypes
import os
import resource

from sestet.core.record import Record
from sestet.services.sandbox.kernel import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, prctl

_PR_GET_DUMPABLE = 3
_MCL_CURRENT, _MCL_FUTURE = 1, 2


class Hardening(Record):
    """What protects the memory of the broker."""

    #: No other process of this user can read or trace it.
    untraceable: bool
    no_core_dumps: bool
    #: It is never written to swap space. That takes a right that many users do not have.
    memory_locked: bool


def harden() -> Hardening:
    """Protect this process; ``OSError`` if the kernel refuses what every user may do."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    os.umask(0o077)
    libc = ctypes.CDLL(None, use_errno=True)
    locked = libc.mlockall(_MCL_CURRENT | _MCL_FUTURE) == 0
    return Hardening(
        untraceable=prctl(_PR_GET_DUMPABLE) == 0,
        no_core_dumps=resource.getrlimit(resource.RLIMIT_CORE) == (0, 0),
        memory_locked=locked,
    )
