"""Changes modes and times of files for a command that only Landlock confines.

Landlock does not guard them, so the filter hands these calls to the keeper. It makes the change itself, on a
file that it holds open and that lies in the workspace, so the command cannot exchange the file meanwhile.
"""

import errno
import fcntl
import os
import struct
from collections.abc import Sequence
from typing import NamedTuple

from sestet.services.sandbox.kernel import system_call
from sestet.services.sandbox.plan import Plan, is_within
from sestet.services.sandbox.syscall_filter import SET_ID
from sestet.services.sandbox.syscall_numbers import numbers_here

_RECEIVE, _SEND, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
_NOTIFICATION, _ANSWER = struct.Struct("QIIiIQ6Q"), struct.Struct("QqiI")
_AT_FDCWD, _AT_SYMLINK_NOFOLLOW, _AT_EMPTY_PATH = -100, 0x100, 0x1000
_LONGEST_PATH = 4_096
_TIMES = 32


class _Call(NamedTuple):
    """Which arguments of a call mean what; None: it has no such argument."""

    descriptor: int | None
    path: int | None
    value: int
    flags: int | None = None


_CALLS = {
    "chmod": _Call(None, 0, 1),
    "fchmod": _Call(0, None, 1),
    "fchmodat": _Call(0, 1, 2),
    "fchmodat2": _Call(0, 1, 2, 3),
    "utimensat": _Call(0, 1, 2, 3),
}


class FileModes:
    """Answers the calls of one command. ``listener``: where the kernel hands them over."""

    def __init__(self, listener: int, plan: Plan) -> None:
        self.listener = listener
        self._places = (*plan.writable, plan.scratch)
        self._owner = plan.user[0] if plan.user else os.getuid()
        self._names = {number: name for name, number in numbers_here().items()}

    def answer(self) -> None:
        """Make or refuse the change that a process waits for."""
        buffer = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, buffer)
        except OSError:  # the process was ended meanwhile
            return
        number, process, _, call, _, _, *arguments = _NOTIFICATION.unpack(buffer)
        problem = 0
        try:
            self._change(self._names[call], number, process, arguments)
        except OSError as error:
            problem = -(error.errno or errno.EPERM)
        try:
            fcntl.ioctl(self.listener, _SEND, _ANSWER.pack(number, 0, problem, 0))
        except OSError:
            return

    def _change(self, name: str, number: int, process: int, arguments: Sequence[int]) -> None:
        call = _CALLS[name]
        value = arguments[call.value]
        file = _open(process, call, arguments)
        try:
            times = _read_memory(process, value, _TIMES) if name == "utimensat" and value else None
            # The number of the process may have passed to another one, unless it still waits.
            fcntl.ioctl(self.listener, _IS_VALID, struct.pack("Q", number))
            place = f"/proc/self/fd/{file}"
            if os.fstat(file).st_uid != self._owner or not is_within(os.readlink(place), self._places):
                raise PermissionError(errno.EPERM, "it lies outside of the workspace")
            if name == "utimensat":
                system_call(numbers_here()[name], _AT_FDCWD, place.encode(), times, 0)
            else:
                os.chmod(place, value & 0o7777 & ~SET_ID)
        finally:
            os.close(file)


def _open(process: int, call: _Call, arguments: Sequence[int]) -> int:
    """Hold the file open that a call of another process names."""
    given = _AT_FDCWD if call.descriptor is None else arguments[call.descriptor] & 0xFFFFFFFF
    is_working_directory = given in (_AT_FDCWD, _AT_FDCWD & 0xFFFFFFFF)
    base = os.open(f"/proc/{process}/{'cwd' if is_working_directory else f'fd/{given}'}", os.O_PATH)
    address = 0 if call.path is None else arguments[call.path]
    flags = 0 if call.flags is None else arguments[call.flags]
    if not address:
        return base
    try:
        path = _read_memory(process, address, _LONGEST_PATH).split(b"\0")[0]
        if not path and flags & _AT_EMPTY_PATH:
            return os.dup(base)
        follow = os.O_NOFOLLOW if flags & _AT_SYMLINK_NOFOLLOW else 0
        return os.open(path, os.O_PATH | os.O_CLOEXEC | follow, dir_fd=base)
    finally:
        os.close(base)


def _read_memory(process: int, address: int, most: int) -> bytes:
    """Up to ``most`` bytes, fewer if the memory ends before."""
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(most)
