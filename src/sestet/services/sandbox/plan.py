"""The plan of a sandbox: which places a command may read and write, and how much it may use.

The plan crosses a process border as JSON, from Sestet to the launcher.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from sestet.core.record import Record

#: ``namespaces``: those that the launcher makes; ``bubblewrap``: those of the program ``bwrap``;
#: ``landlock``: no namespaces, only Landlock; ``seatbelt``: that of macOS, if the settings name it;
#: ``none``: no sandbox, only the limits of use.
Isolation: TypeAlias = Literal["namespaces", "bubblewrap", "landlock", "seatbelt", "none"]
#: The sandboxes, the best one first.
ISOLATIONS: tuple[Isolation, ...] = ("namespaces", "bubblewrap", "landlock")

#: The user and group that commands run as when Sestet runs as root; no other program uses it.
DEDICATED_ID = 61_187

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/sys/devices/system/cpu",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
#: The commands of a sandbox see these as places of their own, empty at first, in so many bytes of memory.
TEMPORARY = {
    "/tmp": 500_000_000,  # noqa: S108 - made anew in the sandbox
    "/var/tmp": 50_000_000,  # noqa: S108
    "/dev/shm": 250_000_000,  # noqa: S108
}
#: A server's name is looked up through these, which lie outside of /etc.
RESOLVER = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf")
#: Parts of /proc about the whole computer that tell a program what it can use, and nothing about a person.
COMPUTER = ("cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems", "vmstat")


class Usage(Record):
    """How much one command may use: it is ended if its processes together use more."""

    memory: int = 2_000_000_000
    processes: int = 256
    open_files: int = 1_024
    #: The largest file that it can write.
    file_bytes: int = 1_000_000_000
    #: Bytes that it has to leave free on the disk of the workspace.
    disk_left: int = 500_000_000


class Plan(Record):
    #: Directories that commands may change. All places are absolute, without links.
    writable: tuple[str, ...]
    #: Places beside the system's own that commands may read.
    readable: tuple[str, ...] = ()
    #: Places below a writable directory that commands may only read.
    protected: tuple[str, ...] = ()
    #: Private places: no command sees them, unless a writable or readable place lies in them.
    hidden: tuple[str, ...] = ()
    network: bool = False
    isolation: Isolation = "namespaces"
    #: Root gives its commands this user and group; None: they run as the user who runs Sestet.
    user: tuple[int, int] | None = None
    #: Whether that user is shown as the owner of the workspace, which belongs to another one.
    is_lent: bool = False
    #: An empty directory for temporary files if there are no namespaces.
    scratch: str = ""
    usage: Usage = Usage()


def holds(place: str, path: str) -> bool:
    """Whether a path is the place or lies below it."""
    return path == place or path.startswith(f"{place.rstrip('/')}/")


def is_within(path: str, places: Iterable[str]) -> bool:
    """Whether a path is one of the places or lies below one."""
    return any(holds(place, path) for place in places)


def outermost(paths: Iterable[str]) -> list[str]:
    """The paths that lie below no other of them, sorted."""
    found: list[str] = []
    for path in sorted(set(paths)):
        if not is_within(path, found):
            found.append(path)
    return found
