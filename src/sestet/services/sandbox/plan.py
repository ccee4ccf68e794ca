"""The plan of a sandbox: which places a command may read and write, and how much it may use.

The plan crosses a process border as JSON, from Sestet to the launcher.
"""

from typing import Literal, TypeAlias

from sestet.core.record import Record

#: ``own``: namespaces that the launcher makes; ``bwrap``: those of bubblewrap; ``none``: Landlock alone.
Isolation: TypeAlias = Literal["own", "bwrap", "none"]

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
    "/sys/fs/cgroup",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
#: Each command sees these as empty places of its own sandbox, kept in memory.
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - they are made anew in the sandbox
#: A server's name is looked up through these, which lie outside of /etc.
RESOLVER = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf")
#: Parts of /proc about the whole computer that tell a program what it can use, and nothing about a person.
COMPUTER = tuple(
    f"/proc/{name}"
    for name in ("cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems", "self")
)


class Usage(Record):
    """What all processes of one command may use together, or each of them."""

    memory: int = 2_000_000_000
    processes: int = 256
    open_files: int = 1_024
    file_bytes: int = 1_000_000_000


class Plan(Record):
    #: Directories that commands may change; absolute, without links.
    writable: tuple[str, ...]
    #: Places beside the system's own that commands may read.
    readable: tuple[str, ...] = ()
    #: Places below a writable directory that commands may only read.
    protected: tuple[str, ...] = ()
    #: Private places: no command sees them, wherever they lie.
    hidden: tuple[str, ...] = ()
    network: bool = False
    isolation: Isolation = "own"
    #: Root gives its commands this user; None: they run as the user who runs Sestet.
    user: int | None = None
    #: An empty directory for temporary files if there are no namespaces.
    scratch: str = ""
    usage: Usage = Usage()
