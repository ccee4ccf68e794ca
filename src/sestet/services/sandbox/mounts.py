"""What a sandbox sees of the file system: the system read-only, the workspace, and nothing private."""

import errno
import os
import signal
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

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
    held,
    make_system_read_only,
    map_owners,
    mount,
    restrict_mount,
    seal_mount,
    unshare,
)
from sestet.services.sandbox.plan import COMPUTER, RESOLVER, SYSTEM, TEMPORARY, Plan, is_within

_EMPTY = "size=4k,nr_inodes=1k,mode=755"
#: Directories of / that commands see beside the places of the plan; Landlock says what they read there.
_SEEN = (*(path.strip("/") for path in SYSTEM if path.count("/") == 1), "nix", "sys", "dev", "proc", "tmp")
#: A place that several rules name is treated by the last of them.
_Kind: TypeAlias = Literal["pinned", "temporary", "hidden", "protected", "readable", "writable"]


class Place(NamedTuple):
    path: str
    kind: _Kind


def arrange(plan: Plan) -> list[Place]:
    """Every place that is mounted, outer ones first, so that an inner rule refines an outer one."""
    readable = (*plan.readable, *(RESOLVER if plan.network else ()))
    shown = (*readable, *plan.writable)
    kinds: dict[str, _Kind] = dict.fromkeys(_unseen(), "hidden")
    # A pinned directory can be neither renamed nor removed, and with it what lies below it.
    for path in (*plan.protected, *plan.hidden, *shown):
        kinds |= dict.fromkeys(_between(plan.writable, path), "pinned")
    temporary = filter(os.path.isdir, map(os.path.realpath, TEMPORARY))
    kinds |= dict.fromkeys(temporary, "temporary")
    kinds |= dict.fromkeys(plan.hidden, "hidden")
    if plan.user is not None:
        kinds |= dict.fromkeys(_impassable(shown, plan.writable), "hidden")
    kinds |= dict.fromkeys(plan.protected, "protected")
    kinds |= dict.fromkeys(readable, "readable")
    kinds |= dict.fromkeys(plan.writable, "writable")
    return [Place(path, kinds[path]) for path in sorted(kinds)]


def build_view(plan: Plan) -> None:
    """Rearrange the mounts of this process's own namespace, as the plan says."""
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    places = arrange(plan)
    trees = {
        path: copy_mount(path)
        for path, kind in places
        if kind == "writable" or (kind == "readable" and os.path.exists(path))
    }
    for path, tree in trees.items():
        restrict_mount(tree, writable=path in plan.writable)
        if plan.is_lent and plan.user is not None and path in plan.writable:
            _lend(tree, plan.user)
    make_system_read_only()
    os.umask(0o022)
    covered: list[str] = []
    for path, kind in places:
        if kind == "temporary":
            _make_target(path)
        if path in trees:
            _make_target(path, is_directory=stat.S_ISDIR(os.fstat(trees[path].descriptor).st_mode))
            attach_mount(trees[path])
        elif kind != "readable" and os.path.exists(path):
            _MOUNT[kind](path)
            if kind == "hidden":
                covered.append(path)
    for path in covered:
        if os.path.isdir(path):
            seal_mount(path)


def find_inner(plan: Plan) -> tuple[Place, ...]:
    """The places in the workspace that are hidden or protected, whether they exist or not."""
    return tuple(
        Place(path, kind)
        for path, kind in arrange(plan)
        if kind in ("pinned", "hidden", "protected") and is_within(path, plan.writable)
    )


def mount_again(inner: Iterable[Place]) -> None:
    """Mount these places for one command: since the view was built, they may have been made or replaced."""
    for path, kind in inner:
        try:
            if kind != "hidden" or not _is_covered(path):
                _MOUNT[kind](path)
        except OSError as error:
            # A link leads to a place that has its own rule, or none.
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise


def mount_proc() -> None:
    """Show this process namespace's own processes in /proc, and of the computer only harmless figures."""
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    empty = "/proc/sys"
    mount("tmpfs", empty, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, _EMPTY)
    for name, is_directory in private_in_proc():
        if name != "sys":
            mount(empty if is_directory else "/dev/null", f"/proc/{name}", flags=MS_BIND)


def private_in_proc() -> Iterator[tuple[str, bool]]:
    """The entries of /proc about the whole computer that no command needs; true: a directory."""
    with os.scandir("/proc") as entries:
        for entry in entries:
            if not (entry.name.isdecimal() or entry.name in COMPUTER or entry.is_symlink()):
                yield entry.name, entry.is_dir()


def private_in_system() -> Iterator[str]:
    """Files in /etc that this user can read and others cannot: a group such as 'ssl-cert' opens them."""
    for folder, folders, files in os.walk("/etc"):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            public = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
            if not stat.S_ISLNK(mode) and mode & public != public and os.access(path, os.R_OK):
                yield path
                if name in folders:
                    folders.remove(name)


def _unseen() -> Iterator[str]:
    """The directories of / that are not the system's: homes, data, other disks."""
    with os.scandir("/") as entries:
        for entry in entries:
            if entry.name not in _SEEN and entry.is_dir(follow_symlinks=False):
                yield entry.path


def _between(outer: Iterable[str], path: str) -> Iterator[str]:
    """The directories above a path that lie below one of the outer places."""
    while (path := os.path.dirname(path)) not in outer and is_within(path, outer):
        yield path


def _impassable(paths: Iterable[str], writable: Iterable[str]) -> Iterator[str]:
    """The directories above these paths that the sandbox's user cannot pass."""
    for path in paths:
        while len(path := os.path.dirname(path)) > 1:
            is_own = is_within(path, writable)
            if not is_own and os.path.isdir(path) and not os.stat(path).st_mode & stat.S_IXOTH:
                yield path


def _make_target(path: str, *, is_directory: bool = True) -> None:
    """Make the place for a mount, if a cover over a directory above it took it away."""
    if os.path.lexists(path):
        return
    os.makedirs(path if is_directory else os.path.dirname(path), exist_ok=True)
    if not is_directory:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o444))


def _cover(path: str) -> None:
    """Put an empty directory over a directory, an empty file over a file."""
    with held(path) as place:
        if os.path.isdir(place):
            mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, _EMPTY)
        else:
            mount("/dev/null", place, flags=MS_BIND)


def _is_covered(path: str) -> bool:
    return os.lstat(path).st_dev != os.lstat(os.path.dirname(path)).st_dev


def size_of_temporary(path: str) -> int:
    return next(size for name, size in TEMPORARY.items() if os.path.realpath(name) == path)


def _empty(path: str) -> None:
    options = f"size={size_of_temporary(path)},nr_inodes=100k,mode=1777"
    with held(path) as place:
        mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, options)


def _pin(path: str) -> None:
    with held(path) as place:
        mount(place, place, flags=MS_BIND | MS_REC)


def _protect(path: str) -> None:
    tree = copy_mount(path)
    restrict_mount(tree, writable=False)
    attach_mount(tree)


_MOUNT: dict[_Kind, Callable[[str], None]] = {
    "pinned": _pin,
    "temporary": _empty,
    "hidden": _cover,
    "protected": _protect,
}


def _lend(tree: MountedTree, user: tuple[int, int]) -> None:
    """Let the sandbox's user be the owner of a directory's files, there and nowhere else."""
    state = os.fstat(tree.descriptor)
    namespace = _namespace_that_maps((state.st_uid, state.st_gid), user)
    try:
        map_owners(tree, namespace)
    except OSError as error:
        why = f"the file system of '{tree.path}' cannot show another owner: {error.strerror}"
        raise OSError(error.errno, why) from None
    finally:
        os.close(namespace)


def _namespace_that_maps(owner: tuple[int, int], user: tuple[int, int]) -> int:
    """A user namespace in which the owner's ids stand for the sandbox's; only a process can make one."""
    ready, told = os.pipe()
    holder = os.fork()
    if not holder:
        try:
            unshare(CLONE_NEWUSER)
            os.write(told, b"1")
            signal.pause()
        finally:
            os._exit(1)
    os.close(told)
    try:
        if not os.read(ready, 1):
            raise OSError(errno.EPERM, "no user namespace could be made")
        for name, number, shown in zip(("uid_map", "gid_map"), owner, user, strict=True):
            with open(f"/proc/{holder}/{name}", "w") as file:
                file.write(f"{number} {shown} 1")
        return os.open(f"/proc/{holder}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready)
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)
