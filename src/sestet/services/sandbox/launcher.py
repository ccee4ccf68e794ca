"""The process that starts commands: small and single-threaded, so that it can fork, and apart from Sestet.

Sestet sends a plan, then requests over one socket; the launcher answers with the end of each command. If the
socket closes, whatever the reason, the launcher ends every command, and itself.

    Sestet ── launcher ── keeper (one for each command) ── command
"""

import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import FrameType
from typing import Any, cast

from sestet.core.record import convert
from sestet.services.sandbox.keeper import KILL, Kept, keep
from sestet.services.sandbox.kernel import (
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    PR_SET_CHILD_SUBREAPER,
    enter_namespace,
    prctl,
    unshare,
)
from sestet.services.sandbox.mounts import build_view, find_inner
from sestet.services.sandbox.plan import Plan
from sestet.services.sandbox.processes import end_descendants, fork_to_die_together
from sestet.services.sandbox.syscall_filter import build_filter

MOST_BYTES = 150_000
_SET_INTERFACE_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41


class Launcher:
    """Starts commands as they are requested, and reports how each ended."""

    def __init__(self, channel: socket.socket, plan: Plan) -> None:
        self._channel = channel
        self._has_namespace = plan.isolation == "namespaces"
        lifeline, self._lifeline_end = os.pipe()
        self._own_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        inner = find_inner(plan) if self._has_namespace else ()
        self._kept = Kept(plan, build_filter(plan), inner, lifeline)
        #: The end of a pipe → the command whose keeper holds the other end, and that keeper.
        self._running: dict[int, tuple[int, int]] = {}
        self._ready = select.poll()
        self._ready.register(channel, select.POLLIN)

    def serve(self) -> None:
        """Until Sestet closes the channel."""
        if not self._has_namespace:
            # What a keeper leaves behind that was killed becomes ours, and is ended.
            prctl(PR_SET_CHILD_SUBREAPER, 1)
        while True:
            for descriptor, _ in self._ready.poll():
                if descriptor != self._channel.fileno():
                    self._report(descriptor)
                elif not self._answer():
                    self._end()
                    return

    def _answer(self) -> bool:
        try:
            message, descriptors, _, _ = socket.recv_fds(self._channel, MOST_BYTES, 8)
        except ConnectionError:
            return False
        if not message:
            return False
        # Any: the request is checked by the types of `keep`, and Sestet alone can send one.
        request = cast("dict[str, Any]", json.loads(message))
        number = request.pop("id")
        if "signal" in request:
            self._signal(number, request["signal"])
            return True
        reader, writer = os.pipe()
        try:
            keeper = self._fork()
        except OSError as error:
            for descriptor in (reader, writer, *descriptors):
                os.close(descriptor)
            self._tell(number, {"failed": str(error)})
            return True
        if not keeper:
            self._channel.close()
            os.close(self._lifeline_end)
            keep(self._kept, request, descriptors, writer)
        for descriptor in (writer, *descriptors):
            os.close(descriptor)
        self._running[reader] = (number, keeper)
        self._ready.register(reader, select.POLLIN)
        return True

    def _fork(self) -> int:
        """Fork, with namespaces into a new process namespace."""
        if not self._has_namespace:
            return os.fork()
        unshare(CLONE_NEWPID)
        child = -1
        try:
            child = os.fork()
        finally:
            if child:
                enter_namespace(self._own_namespace, CLONE_NEWPID)
        return child

    def _signal(self, number: int, signal_number: int) -> None:
        for running, keeper in self._running.values():
            if running == number and signal_number == signal.SIGKILL:
                self._kill(keeper)
            elif running == number:
                os.kill(keeper, signal_number)

    def _kill(self, keeper: int) -> None:
        """A namespace ends with its keeper. Elsewhere the keeper ends all processes of its command."""
        os.kill(keeper, signal.SIGKILL if self._has_namespace else KILL)
        os.kill(keeper, signal.SIGCONT)

    def _report(self, reader: int) -> None:
        """Tell how a command ended; nothing in the pipe: its keeper was killed."""
        number, keeper = self._running.pop(reader)
        ended = os.read(reader, MOST_BYTES)
        self._ready.unregister(reader)
        os.close(reader)
        # The first process of a namespace has ended only when all others in it have.
        os.waitpid(keeper, 0)
        if not self._has_namespace:
            end_descendants(leave_out=[other for _, other in self._running.values()])
        self._tell(number, json.loads(ended or "{}"))

    def _tell(self, number: int, ended: Mapping[str, object]) -> None:
        with suppress(OSError):
            self._channel.send(json.dumps({"id": number, **ended}).encode())

    def _end(self) -> None:
        """End every command. The end of this process would do it too, but not at once."""
        os.close(self._lifeline_end)
        for _, keeper in self._running.values():
            self._kill(keeper)
        for _, keeper in self._running.values():
            os.waitpid(keeper, 0)
        if not self._has_namespace:
            end_descendants()


def main() -> None:
    """Read the plan, build the namespaces that it asks for, and serve."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(channel.fileno(), False)
    plan = convert(json.loads(channel.recv(MOST_BYTES)), Plan)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # For keepers that have no handler yet: without one, the first process of a namespace ignores the signal.
    signal.signal(signal.SIGTERM, _exit)
    try:
        if plan.isolation == "namespaces":
            _isolate(plan)
        launcher = Launcher(channel, plan)
        channel.send(json.dumps({"ready": True}).encode())
    except OSError as error:
        channel.send(json.dumps({"ready": False, "why": str(error)}).encode())
        return
    launcher.serve()


def _exit(_: int, __: FrameType | None) -> None:
    sys.exit()


def _isolate(plan: Plan) -> None:
    """Go on in namespaces of our own, as their first process."""
    user, group = os.getuid(), os.getgid()
    flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS
    unshare(flags | (0 if plan.network else CLONE_NEWNET) | (CLONE_NEWUSER if user else 0))
    if user:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    if not plan.network:
        _switch_loopback_on()
    build_view(plan)
    # Last: the next child is the first process of this namespace.
    unshare(CLONE_NEWPID)
    child = fork_to_die_together()
    if child:
        # Only the child is in the new process namespace.
        os.close(int(sys.argv[1]))
        os.waitpid(child, 0)
        os._exit(0)


def _switch_loopback_on() -> None:
    """Tests that start a server reach it; nothing else is reachable in this namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_INTERFACE_FLAGS, struct.pack("16sH14x", b"lo", _UP_AND_RUNNING))


if __name__ == "__main__":
    main()
