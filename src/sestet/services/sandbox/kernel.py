"""Linux system calls that Python's ``os`` does not have, each as a function that raises ``OSError``."""

import ctypes
import os
import platform
import struct
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

#: New system calls have one number on every machine.
_OPEN_TREE, _MOVE_MOUNT, _OPENAT2, _MOUNT_SETATTR = 428, 429, 437, 442
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 36, 38, 22
SECCOMP_MODE_FILTER = 2

_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _RESOLVE_NO_SYMLINKS = 1, 4
_MOVE_MOUNT_F_EMPTY_PATH, _MOVE_MOUNT_T_SYMLINKS = 0x04, 0x10
_READ_ONLY, _NO_SUID, _NO_DEVICES, _MAP_OWNERS = 1, 2, 4, 0x00100000

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


def enter_namespace(descriptor: int, kind: int) -> None:
    """For ``CLONE_NEWPID``: the namespace that later children are in."""
    _checked(_libc.setns(descriptor, kind))


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    texts = [os.fsencode(each) if each else None for each in (source, target, kind)]
    _checked(_libc.mount(*texts, ctypes.c_ulong(flags), os.fsencode(options) if options else None))


@contextmanager
def held(path: str) -> Generator[str]:
    """A place, held open so that nobody can exchange it, as a path to it; a link on the way is an error."""
    how = struct.pack("QQQ", os.O_PATH | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS)
    try:
        descriptor = system_call(_OPENAT2, _AT_FDCWD, os.fsencode(path), how, len(how))
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def copy_mount(path: str) -> MountedTree:
    """A copy of the mount at a path, with all that is mounted below it."""
    flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | os.O_CLOEXEC
    with held(path) as place:
        return MountedTree(system_call(_OPEN_TREE, _AT_FDCWD, os.fsencode(place), flags), path)


def attach_mount(tree: MountedTree) -> None:
    """Attach a copied mount at its path, over what is there."""
    with held(tree.path) as place:
        target = os.fsencode(place)
        flags = _MOVE_MOUNT_F_EMPTY_PATH | _MOVE_MOUNT_T_SYMLINKS
        system_call(_MOVE_MOUNT, tree.descriptor, b"", _AT_FDCWD, target, flags)
    os.close(tree.descriptor)


def make_system_read_only() -> None:
    """Nothing of the file system can be written, and no program runs with another user's rights."""
    _set_mount(_AT_FDCWD, "/", _AT_RECURSIVE, _READ_ONLY | _NO_SUID)


def seal_mount(path: str) -> None:
    """Nothing in the mount at a path can be written; mounts below it stay as they are."""
    _set_mount(_AT_FDCWD, path, 0, _READ_ONLY)


def restrict_mount(tree: MountedTree, *, writable: bool) -> None:
    """No devices and no other user's rights in a copied mount; nothing can be written unless ``writable``."""
    attributes = _NO_SUID | _NO_DEVICES | (0 if writable else _READ_ONLY)
    _set_mount(tree.descriptor, "", _AT_EMPTY_PATH | _AT_RECURSIVE, attributes)


def map_owners(tree: MountedTree, user_namespace: int) -> None:
    """Show the files of a copied mount with the owners that a user namespace maps them to."""
    _set_mount(tree.descriptor, "", _AT_EMPTY_PATH | _AT_RECURSIVE, _MAP_OWNERS, user_namespace)


def _set_mount(directory: int, path: str, flags: int, attributes: int, user_namespace: int = 0) -> None:
    structure = struct.pack("QQQQ", attributes, 0, 0, user_namespace)
    system_call(_MOUNT_SETATTR, directory, os.fsencode(path), flags, structure, len(structure))


def _checked(result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
