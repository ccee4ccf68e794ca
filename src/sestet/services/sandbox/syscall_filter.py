"""A seccomp filter: the system calls that a confined command cannot make.

The filter is a program of the kernel's packet filter. It looks at the number of a call and at its first
arguments, and lets everything pass that no rule refuses.
"""

import ctypes
import errno
import struct
from collections.abc import Sequence

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
    system_call,
)
from sestet.services.sandbox.plan import Plan
from sestet.services.sandbox.syscall_numbers import MACHINES, numbers_here

_CLONE_NEWCGROUP = 0x02000000
_NAMESPACES = (
    CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | _CLONE_NEWCGROUP
)

_REFUSED = (
    # Other processes
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease"),
    *("kcmp", "pidfd_getfd", "move_pages", "migrate_pages"),
    # Mounts and namespaces
    *("mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "open_tree_attr"),
    *("move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
    # Files past their paths
    *("name_to_handle_at", "open_by_handle_at", "fanotify_init", "fanotify_mark", "lookup_dcookie"),
    # The kernel and the computer
    *("bpf", "perf_event_open", "userfaultfd", "syslog", "add_key", "request_key", "keyctl", "acct"),
    *("quotactl", "quotactl_fd", "swapon", "swapoff", "reboot", "sethostname", "setdomainname", "iopl"),
    *("ioperm", "modify_ldt", "create_module", "init_module", "finit_module", "delete_module"),
    *("kexec_load", "kexec_file_load", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime"),
    "vhangup",
)
#: Answered as if the kernel did not have them, since libraries then use another way.
_ABSENT = (
    # The filter cannot look into what these do.
    *("clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    # Memory that is not counted as any process's.
    *("memfd_create", "memfd_secret", "shmget", "shmat", "shmctl"),
    # Ways between processes that no file system guards.
    *("semget", "semctl", "msgget", "msgctl", "mq_open", "mq_unlink"),
)
#: Landlock does not guard the owner, the times and the attributes of a file, nor the watching of one.
_REFUSED_WITHOUT_MOUNTS = (
    *("chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "file_setattr"),
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
    *("inotify_init", "inotify_init1", "inotify_add_watch"),
)
#: Calls that name a process, and the argument that does; 0 is the process itself.
_NAMING_A_PROCESS = {
    "prlimit64": 0,
    "sched_setparam": 0,
    "sched_setscheduler": 0,
    "sched_setaffinity": 0,
    "sched_setattr": 0,
    "setpriority": 1,
    "ioprio_set": 1,
}
#: Calls that change a file's mode, and the argument with the mode.
_CHANGING_A_MODE = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2}
#: The same of calls that make a file if their flags say so: the argument with the flags, and the mode's.
_MAKING_A_FILE = {"open": (1, 2), "openat": (2, 3)}
_MAKE = 0o100 | 0o20000000
#: A program with one of these bits runs with the rights of its owner or group.
SET_ID = 0o6000

_AF_INET, _AF_INET6 = 2, 10
#: Writing into a terminal's input, and the same of the console.
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_S_IFCHR, _S_IFBLK, _S_IFMT = 0o020000, 0o060000, 0o170000
#: The usual kinds of Linux, and the question which one it is.
_PERSONALITIES = (0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)

# The packet filter: its operations, and where it finds the parts of a call.
_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _REFUSE, _KILL, _HAND_OVER = 0x7FFF0000, 0x00050000, 0x80000000, 0x7FC00000
_SET_FILTER, _WITH_LISTENER = 1, 8
#: x86-64 answers to a second table of numbers, with this bit.
_X32 = 0x40000000


def build_filter(plan: Plan) -> bytes:
    """The filter of a plan on this machine."""
    program = _Program()
    program.load(_ARCHITECTURE)
    program.unless_equal(MACHINES[machine()].audit, _KILL)
    program.load(_NUMBER)
    program.if_at_least(_X32, _refuse(errno.ENOSYS))
    refused = dict.fromkeys(_REFUSED, errno.EPERM) | dict.fromkeys(_ABSENT, errno.ENOSYS)
    if plan.isolation == "landlock":
        refused |= dict.fromkeys(_REFUSED_WITHOUT_MOUNTS, errno.EPERM)
    numbers = numbers_here()
    for name, number in refused.items():
        if name in numbers:
            program.if_equal(numbers[name], _refuse(number))
    _add_judged(program, plan)
    program.finish(_ALLOW)
    return program.code()


def _add_judged(program: "_Program", plan: Plan) -> None:
    """The calls that are refused only with certain arguments."""
    # In a network of its own, a command can start a server and reach it, and reach nothing else.
    has_network = plan.network or plan.isolation != "landlock"
    families = (_AF_INET, _AF_INET6) if has_network else ()
    program.judge("socket", 0, allowed=families, refusal=errno.EAFNOSUPPORT)
    program.judge("ioctl", 1, refused=(_TIOCSTI, _TIOCLINUX))
    program.judge("clone", 0, bits=_NAMESPACES)
    program.judge("personality", 0, allowed=_PERSONALITIES)
    for name, argument in (("mknod", 1), ("mknodat", 2)):
        program.judge(name, argument, mask=_S_IFMT, refused=(_S_IFCHR, _S_IFBLK))
    otherwise = _HAND_OVER if hands_over(plan) else _ALLOW
    program.judge("utimensat", 0, otherwise=otherwise)
    for name, argument in _CHANGING_A_MODE.items():
        program.judge(name, argument, bits=SET_ID, otherwise=otherwise)
    program.judge("creat", 1, bits=SET_ID)
    for name, (flags, argument) in _MAKING_A_FILE.items():
        program.judge(name, argument, bits=SET_ID, only_if=(flags, _MAKE))
    if plan.isolation != "namespaces":
        for name, argument in _NAMING_A_PROCESS.items():
            program.judge(name, argument, allowed=(0,))


def hands_over(plan: Plan) -> bool:
    """Whether changes of modes and times are handed over to the keeper: ``file_modes.py``."""
    return plan.isolation == "landlock"


def install_filter(code: bytes, *, with_listener: bool) -> int | None:
    """Filter the calls of this process and its children; needs ``no_new_privs``.

    The listener gets the calls that are handed over.
    """
    instructions = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(instructions))
    if with_listener:
        return system_call(numbers_here()["seccomp"], _SET_FILTER, _WITH_LISTENER, header)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.create_string_buffer(header, len(header)))
    return None


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

    def judge(
        self,
        name: str,
        argument: int,
        *,
        refusal: int = errno.EPERM,
        allowed: Sequence[int] | None = None,
        refused: Sequence[int] = (),
        bits: int = 0,
        mask: int = 0,
        only_if: tuple[int, int] | None = None,
        otherwise: int = _ALLOW,
    ) -> None:
        """Judge a call by an argument: only ``allowed`` values, no ``refused`` ones, none of the ``bits``.

        ``only_if``: another argument and the bits of it without which the call passes. ``otherwise``: the
        verdict on a call that is not refused.
        """
        number = numbers_here().get(name)
        if number is None:
            return
        body = _Program()
        if only_if:
            body.load(_ARGUMENTS + 8 * only_if[0])
            body._add(_ANY_BIT, only_if[1], 1, 0)
            body._add(_RETURN, _ALLOW)
        body.load(_ARGUMENTS + 8 * argument)
        if mask:
            body._add(_AND, mask)
        if bits:
            body._add(_ANY_BIT, bits, 0, 1)
            body._add(_RETURN, _refuse(refusal))
        for value in refused:
            body.if_equal(value, _refuse(refusal))
        for value in allowed or ():
            body.if_equal(value, _ALLOW)
        body._add(_RETURN, otherwise if allowed is None else _refuse(refusal))
        self._add(_EQUAL, number, 0, len(body._instructions))
        self._instructions += body._instructions

    def finish(self, action: int) -> None:
        self._add(_RETURN, action)

    def code(self) -> bytes:
        return b"".join(struct.pack("HBBI", *instruction) for instruction in self._instructions)

    def _add(self, operation: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        self._instructions.append((operation, if_true, if_false, value))
