"""Becomes Chromium: in a network of its own, without the rights of root, and alive no longer than Sestet.

Started as a process of its own. It makes the socket on which Sestet's proxy listens inside the new network,
and hands it to Sestet. So the proxy is the only way out, whatever a page or Chromium itself tries.
"""

import fcntl
import json
import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sestet.services.sandbox.kernel import (
    CLONE_NEWNET,
    CLONE_NEWUSER,
    PR_SET_PDEATHSIG,
    prctl,
    unshare,
)

#: Where Chromium expects the pipes of the protocol.
_COMMANDS, _ANSWERS = 3, 4
#: Stands in an argument for the address of the proxy.
PROXY = "{proxy}"
_SET_INTERFACE_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41
_BACKLOG = 128


class Start(NamedTuple):
    """How to start Chromium; sent to the launcher as JSON."""

    arguments: list[str]
    environment: dict[str, str]
    #: Sestet's commands are read here, and Chromium's answers are written there.
    pipes: tuple[int, int]
    #: The user to become; 0: stay as it is.
    user: int
    parent: int


def main() -> None:
    channel = socket.socket(fileno=int(sys.argv[1]))
    start = Start(*json.loads(sys.argv[2]))
    own_network = _enter_own_network()
    listening = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    port = listening.getsockname()[1]
    answer = {"port": port, "ownNetwork": own_network}
    socket.send_fds(channel, [json.dumps(answer).encode()], [listening.fileno()])
    listening.close()
    # Sestet starts the proxy first: Chromium must never find the port closed.
    if channel.recv(1) != b"1":
        sys.exit(1)
    os.setsid()
    os.nice(5)  # a busy page must not slow down everything else
    if start.user:
        os.setgroups([])
        os.setresgid(start.user, start.user, start.user)
        os.setresuid(start.user, start.user, start.user)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != start.parent:
        sys.exit(1)
    # By way of high numbers: one of the two may be where the other belongs.
    high = [fcntl.fcntl(pipe, fcntl.F_DUPFD, 10) for pipe in start.pipes]
    for pipe, place in zip(high, (_COMMANDS, _ANSWERS), strict=True):
        os.dup2(pipe, place, inheritable=True)
    os.closerange(_ANSWERS + 1, 256)
    arguments = [each.replace(PROXY, f"127.0.0.1:{port}") for each in start.arguments]
    os.execve(arguments[0], arguments, start.environment)  # noqa: S606 - that is its task


def _enter_own_network() -> bool:
    """A network with nothing but its own loopback; False if the kernel allows none."""
    outside = os.getuid(), os.getgid()
    try:
        unshare(CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWUSER | CLONE_NEWNET)
    except OSError:
        return False
    if outside[0] != 0:
        with suppress(OSError):
            Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{outside[0]} {outside[0]} 1")
        Path("/proc/self/gid_map").write_text(f"{outside[1]} {outside[1]} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interface:
        fcntl.ioctl(interface, _SET_INTERFACE_FLAGS, struct.pack("16sh", b"lo", _UP_AND_RUNNING))
    return True


if __name__ == "__main__":
    main()
