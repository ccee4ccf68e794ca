"""Linux system calls that Python's ``os`` does not have, each as a function that raises ``OSError``."""

import ctypes
import os
import platform
import struct
from typing import NamedTuple

#: New system calls have one number on every machine.
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 36, 38, 22
SECCOMP_MODE_FILTER = 2

_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH = 1, 4
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_IDMAP = 1, 2, 0x00100000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class MountedTree(NamedTuple):
    """A copy of the mount at a path, not attached to a place yet."""

    descriptor: int
    path: str


def machine() -> str:
    return platform.machine()


def system_call(number: int, *arguments: "int | bytes | ctypes.Array[ctypes.c_char] | None") -> int:
    """Make a system call; ``OSError`` when the kernel refuses it."""
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *given))


def prctl(option: int, *arguments: "int | ctypes.Array[ctypes.c_char] | ctypes.c_void_p") -> int:
    given = [ctypes.c_ulong(each) if isinstance(each, int) else each for each in arguments]
    given += [ctypes.c_ulong(0)] * (4 - len(given))
    return _checked(_libc.prctl(option, *given))


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags))


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    texts = [os.fsencode(each) if each else None for each in (source, target, kind)]
    _checked(_libc.mount(*texts, ctypes.c_ulong(flags), os.fsencode(options) if options else None))


def copy_mount(path: str) -> MountedTree:
    """A copy of the mount at a path, with all that is mounted below it."""
    flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | os.O_CLOEXEC
    return MountedTree(system_call(_OPEN_TREE, _AT_FDCWD, os.fsencode(path), flags), path)


def attach_mount(tree: MountedTree, path: str) -> None:
    """Attach a copied mount at a path, over what is there."""
    target = os.fsencode(path)
    system_call(_MOVE_MOUNT, tree.descriptor, b"", _AT_FDCWD, target, _MOVE_MOUNT_F_EMPTY_PATH)
    os.close(tree.descriptor)


def make_read_only(path: str) -> None:
    """Nothing at a path or below it can be written, and no program there runs with another user's rights."""
    _set_mount(_AT_FDCWD, path, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID)


def map_owners(tree: MountedTree, user_namespace: int) -> None:
    """Show the files of a copied mount with the owners that a user namespace maps them to."""
    _set_mount(tree.descriptor, "", _AT_EMPTY_PATH | _AT_RECURSIVE, _MOUNT_ATTR_IDMAP, user_namespace)


def _set_mount(directory: int, path: str, flags: int, attributes: int, user_namespace: int = 0) -> None:
    structure = struct.pack("QQQQ", attributes, 0, 0, user_namespace)
    system_call(_MOUNT_SETATTR, directory, os.fsencode(path), flags, structure, len(structure))


def _checked(result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
