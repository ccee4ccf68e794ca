"""What a sandbox sees of the file system: the system read-only, the workspace, and nothing private."""

import os
import signal
from collections.abc import Iterable

from sestet.services.sandbox.kernel import (
    CLONE_NEWUSER,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MountedTree,
    attach_mount,
    copy_mount,
    make_read_only,
    map_owners,
    mount,
    unshare,
)
from sestet.services.sandbox.plan import TEMPORARY, Plan

_EMPTY = "size=4k,mode=755"
_SCRATCH = "size=512m,mode=1777"
#: Parts of /proc about the kernel and the whole computer: empty in a sandbox.
_EMPTY_IN_PROC = ("sys", "bus", "irq", "fs", "driver", "acpi", "scsi", "tty", "sysvipc")
_NULL_IN_PROC = (
    "kcore",
    "kallsyms",
    "keys",
    "key-users",
    "kmsg",
    "kpagecount",
    "kpageflags",
    "kpagecgroup",
    "sysrq-trigger",
    "timer_list",
    "sched_debug",
    "latency_stats",
    "config.gz",
    "modules",
    "vmallocinfo",
    "slabinfo",
)


def build_view(plan: Plan) -> None:
    """Rearrange the mounts of this process's own namespace, as the plan says."""
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    shown = {path: copy_mount(path) for path in _outermost((*plan.writable, *plan.readable))}
    for path in plan.writable:
        if path in shown and plan.user is not None:
            _lend(shown[path], plan.user)
    make_read_only("/")
    for path in TEMPORARY:
        if not _holds(path, plan.writable):
            _cover(path, _SCRATCH)
    for path in _outermost(plan.hidden):
        if not _holds(path, plan.writable):
            _cover(path, _EMPTY)
    for path, tree in shown.items():
        if not os.path.lexists(path):
            os.makedirs(path)
        attach_mount(tree, path)
        if path not in plan.writable:
            make_read_only(path)
    for path in plan.protected:
        _protect(path)
    for path in plan.hidden:
        if _holds(path, plan.writable):
            _cover(path, _EMPTY)


def mount_proc() -> None:
    """Show this process namespace's own processes in /proc, and of the computer only harmless figures."""
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for name in _EMPTY_IN_PROC:
        _cover(f"/proc/{name}", _EMPTY, MS_RDONLY)
    for name in _NULL_IN_PROC:
        _cover(f"/proc/{name}", _EMPTY)


def _outermost(paths: Iterable[str]) -> list[str]:
    """The paths that exist and lie below no other of them, outer ones first."""
    found: list[str] = []
    for path in sorted(set(paths)):
        if os.path.exists(path) and not _holds(path, found):
            found.append(path)
    return found


def _holds(path: str, places: Iterable[str]) -> bool:
    """Whether a path is one of the places or lies below one."""
    return any(path == place or path.startswith(f"{place.rstrip('/')}/") for place in places)


def _cover(path: str, options: str, flags: int = 0) -> None:
    """Put an empty directory over a directory, an empty file over a file; a missing path stays missing."""
    if os.path.islink(path) or not os.path.exists(path):
        return
    if os.path.isdir(path):
        mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | flags, options)
    else:
        mount("/dev/null", path, flags=MS_BIND)


def _protect(path: str) -> None:
    if os.path.exists(path) and not os.path.islink(path):
        mount(path, path, flags=MS_BIND | MS_REC)
        make_read_only(path)


def _lend(tree: MountedTree, user: int) -> None:
    """Let the sandbox's user be the owner of a directory's files, there and nowhere else."""
    state = os.stat(tree.path)
    namespace = _namespace_that_maps((state.st_uid, state.st_gid), user)
    try:
        map_owners(tree, namespace)
    finally:
        os.close(namespace)


def _namespace_that_maps(owner: tuple[int, int], user: int) -> int:
    """A user namespace in which the owner's ids stand for the sandbox's; only a process can make one."""
    ready, told = os.pipe()
    holder = os.fork()
    if not holder:
        unshare(CLONE_NEWUSER)
        os.write(told, b"1")
        signal.pause()
    os.close(told)
    try:
        if not os.read(ready, 1):
            raise OSError("no user namespace could be made")
        for name, number in zip(("uid_map", "gid_map"), owner, strict=True):
            with open(f"/proc/{holder}/{name}", "w") as file:
                file.write(f"{number} {user} 1")
        return os.open(f"/proc/{holder}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready)
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)
