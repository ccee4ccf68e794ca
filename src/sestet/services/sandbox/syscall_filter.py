"""A seccomp filter: the system calls that a confined command cannot make.

The filter is a program of the kernel's packet filter. It looks at the number of a call and at its first two
arguments, and lets everything pass that no rule refuses.
"""

import ctypes
import errno
import struct
from collections.abc import Sequence
from typing import NamedTuple

from sestet.services.sandbox.kernel import (
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    PR_SET_SECCOMP,
    SECCOMP_MODE_FILTER,
    machine,
    prctl,
)

_CLONE_NEWCGROUP = 0x02000000
_NAMESPACES = (
    CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | _CLONE_NEWCGROUP
)


class _Machine(NamedTuple):
    """The numbers that differ from one kind of machine to another."""

    audit: int
    numbers: dict[str, int]


#: Calls with the same numbers everywhere: all that were added since 2018.
_COMMON = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "memfd_secret": 447,
}
_MACHINES = {
    "x86_64": _Machine(
        0xC000003E,
        {
            "ioctl": 16,
            "socket": 41,
            "clone": 56,
            "ptrace": 101,
            "syslog": 103,
            "personality": 135,
            "pivot_root": 155,
            "chroot": 161,
            "acct": 163,
            "mount": 165,
            "umount2": 166,
            "swapon": 167,
            "swapoff": 168,
            "reboot": 169,
            "sethostname": 170,
            "setdomainname": 171,
            "iopl": 172,
            "ioperm": 173,
            "create_module": 174,
            "init_module": 175,
            "delete_module": 176,
            "quotactl": 179,
            "lookup_dcookie": 212,
            "clock_settime": 227,
            "kexec_load": 246,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "move_pages": 279,
            "unshare": 272,
            "perf_event_open": 298,
            "fanotify_init": 300,
            "name_to_handle_at": 303,
            "open_by_handle_at": 304,
            "clock_adjtime": 305,
            "setns": 308,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "kcmp": 312,
            "finit_module": 313,
            "kexec_file_load": 320,
            "bpf": 321,
            "userfaultfd": 323,
            "settimeofday": 164,
            "adjtimex": 159,
            "mknod": 133,
            "mknodat": 259,
            "vhangup": 153,
        },
    ),
    "aarch64": _Machine(
        0xC00000B7,
        {
            "ioctl": 29,
            "socket": 198,
            "clone": 220,
            "ptrace": 117,
            "syslog": 116,
            "personality": 92,
            "pivot_root": 41,
            "chroot": 51,
            "acct": 89,
            "mount": 40,
            "umount2": 39,
            "swapon": 224,
            "swapoff": 225,
            "reboot": 142,
            "sethostname": 161,
            "setdomainname": 162,
            "init_module": 105,
            "delete_module": 106,
            "quotactl": 60,
            "lookup_dcookie": 18,
            "clock_settime": 112,
            "kexec_load": 104,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "move_pages": 239,
            "unshare": 97,
            "perf_event_open": 241,
            "fanotify_init": 262,
            "name_to_handle_at": 264,
            "open_by_handle_at": 265,
            "clock_adjtime": 266,
            "setns": 268,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "kcmp": 272,
            "finit_module": 273,
            "kexec_file_load": 294,
            "bpf": 280,
            "userfaultfd": 282,
            "settimeofday": 170,
            "adjtimex": 171,
            "mknodat": 33,
            "vhangup": 58,
        },
    ),
}
#: A library that gets ENOSYS uses an older call, which the filter can look into.
_ABSENT = {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_secret"}
#: Refused only with certain arguments.
_LOOKED_INTO = {"ioctl", "socket", "clone", "personality", "mknod", "mknodat"}

_AF_INET, _AF_INET6 = 2, 10
#: Writing into a terminal's input, and the same of the console.
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_S_IFCHR, _S_IFBLK, _S_IFMT = 0o020000, 0o060000, 0o170000
_NO_RANDOM_ADDRESSES = 0x0040000

# The packet filter: its operations, and where it finds the parts of a call.
_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
#: x86-64 answers to a second table of numbers, with this bit.
_X32 = 0x40000000


def is_known_machine() -> bool:
    return machine() in _MACHINES


def build_filter(*, sockets: bool) -> bytes:
    """The filter for this machine; ``sockets`` allows IPv4 and IPv6."""
    audit, numbers = _MACHINES[machine()]
    numbers = numbers | _COMMON
    program = _Program()
    program.load(_ARCHITECTURE)
    program.unless_equal(audit, _KILL)
    program.load(_NUMBER)
    program.if_at_least(_X32, _refuse(errno.ENOSYS))
    for name, number in numbers.items():
        if name not in _LOOKED_INTO:
            program.if_equal(number, _refuse(errno.ENOSYS if name in _ABSENT else errno.EPERM))
    families = (_AF_INET, _AF_INET6) if sockets else ()
    program.look_into(numbers["socket"], 0, allowed=families, refusal=_refuse(errno.EAFNOSUPPORT))
    program.look_into(numbers["ioctl"], 1, refused=(_TIOCSTI, _TIOCLINUX), refusal=_refuse(errno.EPERM))
    program.look_into(numbers["clone"], 0, bits=_NAMESPACES, refusal=_refuse(errno.EPERM))
    program.look_into(numbers["personality"], 0, bits=_NO_RANDOM_ADDRESSES, refusal=_refuse(errno.EPERM))
    for name, argument in (("mknod", 1), ("mknodat", 2)):
        if name in numbers:
            kinds = (_S_IFCHR, _S_IFBLK)
            program.look_into(
                numbers[name], argument, mask=_S_IFMT, refused=kinds, refusal=_refuse(errno.EPERM)
            )
    program.finish(_ALLOW)
    return program.code()


def install_filter(code: bytes) -> None:
    """Filter the calls of this process and its children; needs ``no_new_privs``."""
    instructions = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(instructions))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.create_string_buffer(header, len(header)))


def _refuse(number: int) -> int:
    return _REFUSE | number


class _Program:
    """Instructions of the packet filter, appended one after the other."""

    def __init__(self) -> None:
        self._instructions: list[tuple[int, int, int, int]] = []

    def load(self, offset: int) -> None:
        self._add(_LOAD, offset)

    def if_equal(self, value: int, action: int) -> None:
        self._add(_EQUAL, value, 0, 1)
        self._add(_RETURN, action)

    def unless_equal(self, value: int, action: int) -> None:
        self._add(_EQUAL, value, 1, 0)
        self._add(_RETURN, action)

    def if_at_least(self, value: int, action: int) -> None:
        self._add(_AT_LEAST, value, 0, 1)
        self._add(_RETURN, action)

    def look_into(
        self,
        number: int,
        argument: int,
        *,
        refusal: int,
        allowed: Sequence[int] | None = None,
        refused: Sequence[int] = (),
        bits: int = 0,
        mask: int = 0,
    ) -> None:
        """Judge a call by an argument: only ``allowed`` values, no ``refused`` ones, none of the ``bits``."""
        body = _Program()
        body.load(_ARGUMENTS + 8 * argument)
        if mask:
            body._add(_AND, mask)
        if bits:
            body._add(_ANY_BIT, bits, 0, 1)
            body._add(_RETURN, refusal)
        for value in refused:
            body.if_equal(value, refusal)
        for value in allowed or ():
            body.if_equal(value, _ALLOW)
        body._add(_RETURN, _ALLOW if allowed is None else refusal)
        self._add(_EQUAL, number, 0, len(body._instructions))
        self._instructions += body._instructions

    def finish(self, action: int) -> None:
        self._add(_RETURN, action)

    def code(self) -> bytes:
        return b"".join(struct.pack("HBBI", *instruction) for instruction in self._instructions)

    def _add(self, operation: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        self._instructions.append((operation, if_true, if_false, value))
