"""Run inside and outside of a sandbox: tries attacks, and prints for each as JSON whether it worked.

The argument is a file with JSON: the facts about the surroundings, and the attacks. The source of an attack
sets ``escaped``. Each is tried in a process of its own.
"""

import ctypes
import errno
import json
import os
import signal
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
NEW_NAMESPACES = 0x10000000 | 0x20000 | 0x40000000 | 0x04000000 | 0x08000000
with open(sys.argv[1]) as _file:
    GIVEN = json.load(_file)
FACTS = GIVEN["facts"]


def call(name: str, *arguments: object) -> int:
    """Make a system call by its name."""
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = LIBC.syscall(ctypes.c_long(FACTS["numbers"][name]), *given)
    if result == -1:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def reaches_kernel(name: str, *arguments: object) -> bool:
    """Whether the kernel itself answers a call, if only with a complaint about its arguments."""
    try:
        call(name, *arguments)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            raise
    return True


def processes() -> "list[int]":
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def read(path: str) -> str:
    with open(path, errors="replace") as file:
        return file.read()


def with_argument(text: str) -> "list[int]":
    """The processes with a text in their arguments; some end meanwhile."""
    found: list[int] = []
    for process in processes():
        try:
            found += [process] if text in read(f"/proc/{process}/cmdline") else []
        except OSError:
            continue
    return found


def write(path: str, text: str = "attacked", mode: str = "a") -> bool:
    with open(path, mode) as file:
        file.write(text)
    return True


def become_rootless() -> None:
    """Enter namespaces in which the present user may do what only root may elsewhere."""
    user, group = os.getuid(), os.getgid()
    if LIBC.unshare(NEW_NAMESPACES):
        raise OSError(ctypes.get_errno(), "unshare")
    write("/proc/self/setgroups", "deny", "w")
    write("/proc/self/uid_map", f"0 {user} 1", "w")
    write("/proc/self/gid_map", f"0 {group} 1", "w")
    call("mount", b"none", b"/", None, 0x4000 | 0x40000, None)
    call("mount", b"x", FACTS["mounted"].encode(), b"tmpfs", 0, None)


def attempt(number: int, code: str, rootless: bool) -> str:
    names = {**globals(), "escaped": False, "facts": {**FACTS, "unique": f"{FACTS['unique']}-{number}"}}
    try:
        if rootless:
            become_rootless()
        exec(code, names)  # noqa: S102 - the attacks of these tests
    except Exception as error:  # any: the attack did not work
        return f"{type(error).__name__}: {error}"
    return "ESCAPED" if names["escaped"] else "it had no effect"


def main() -> None:
    for number, attack in enumerate(GIVEN["attacks"]):
        child = os.fork()
        if not child:
            signal.alarm(20)
            result = attempt(number, attack["code"], attack["rootless"])
            sys.stdout.write(json.dumps([attack["name"], result]) + "\n")
            sys.stdout.flush()
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status:
            sys.stdout.write(json.dumps([attack["name"], f"ended with status {status}"]) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
