"""``python -m tests.services.sandbox.ordinary USER MODULE …``: root runs a module as another user.

The interpreter and the checkout may lie where an ordinary user cannot go, such as /root. They stay where they
are, but empty directories take the places of those above them, in a mount namespace of this process alone.
"""

import os
import runpy
import stat
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sestet.services.sandbox.kernel import (
    CLONE_NEWNS,
    CLONE_NEWUSER,
    MS_PRIVATE,
    MS_REC,
    attach_mount,
    copy_mount,
    mount,
    unshare,
)

ROOT = Path(__file__).parents[3]


@cache
def can_make_namespaces() -> bool:
    """Whether the kernel lets this user make them; tried in a child process."""
    kind = CLONE_NEWNS | (CLONE_NEWUSER if os.getuid() else 0)
    attempt = (
        "import ctypes; libc = ctypes.CDLL(None); "
        f"raise SystemExit(libc.unshare({kind}) or libc.mount(None, b'/', None, {MS_REC | MS_PRIVATE}, None))"
    )
    return subprocess.run([sys.executable, "-ISc", attempt], check=False).returncode == 0


def needed() -> set[Path]:
    return {Path(path).resolve() for path in (sys.prefix, sys.base_prefix, ROOT)}


def impassable(path: Path) -> Iterator[Path]:
    for above in path.parents:
        if not above.stat().st_mode & stat.S_IXOTH:
            yield above


def open_the_way() -> None:
    """Let every user reach the interpreter and the checkout."""
    unshare(CLONE_NEWNS)
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    hindered = [path for path in needed() if any(impassable(path))]
    trees = [copy_mount(str(path)) for path in hindered]
    for above in {above for path in hindered for above in impassable(path)}:
        mount("tmpfs", str(above), "tmpfs", 0, "mode=755")
    for tree in trees:
        Path(tree.path).mkdir(parents=True)
        attach_mount(tree)


def become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


if __name__ == "__main__":
    open_the_way()
    become(int(sys.argv[1]))
    del sys.argv[:2]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
