"""Runs commands in a sandbox of the best kind that the kernel allows."""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sestet.core.record import replace
from sestet.services.sandbox.landlock import landlock_version
from sestet.services.sandbox.plan import (
    DEDICATED_ID,
    ISOLATIONS,
    TEMPORARY,
    Isolation,
    Plan,
    is_within,
)
from sestet.services.sandbox.running_command import GRACE, Ended, Launching, RunningCommand, SandboxError
from sestet.services.sandbox.syscall_numbers import is_known_machine

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

__all__ = ["GRACE", "Ended", "RunningCommand", "Sandbox", "SandboxError", "why_unavailable"]

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Below this version, Landlock alone stops neither truncating nor signals.
_ALONE = 6
#: Longer chains of links are not followed.
_MOST_LINKS = 40


def why_unavailable(isolations: Sequence[Isolation] = ISOLATIONS) -> str:
    """Why none of these can work on this computer; empty: one can. Quick, since it starts nothing."""
    if tuple(isolations) == ("none",):
        return ""
    if tuple(isolations) == ("seatbelt",):
        return "" if sys.platform == "darwin" else "seatbelt is the sandbox of macOS"
    if sys.platform == "darwin":
        return "the sandbox of macOS is untested: 'sandbox.isolation: seatbelt' switches it on"
    if not sys.platform.startswith("linux"):
        return f"there is no sandbox for {sys.platform} yet"
    if not is_known_machine():
        return f"there is no sandbox for machines of the kind {os.uname().machine} yet"
    if not landlock_version():
        return "this Linux has no Landlock: it needs Linux 5.13 or later with Landlock switched on"
    return ""


class Sandbox:
    """Starts commands by the plan. A launcher is started with the first command, and one more with the first
    command that may use the network."""

    def __init__(self, plan: Plan, isolations: Sequence[Isolation] = ISOLATIONS) -> None:
        self._plan = plan
        self._isolations = tuple(isolations)
        #: By whether their commands may use the network.
        self._launchers: dict[bool, asyncio.Task[Launching]] = {}
        self._scratch: TemporaryDirectory[str] | None = None
        #: Each isolation that was tried in vain, with the reason.
        self.refused: dict[Isolation, str] = {}

    async def isolation(self) -> Isolation:
        """The isolation that works here; raises ``SandboxError`` when none does."""
        return (await self._launcher(network=False)).plan.isolation

    async def start(
        self,
        arguments: Sequence[str],
        output: int,
        errors: int,
        *,
        directory: str,
        environment: Mapping[str, str] | None = None,
        network: bool = False,
        stdin: int | None = None,
        given: Sequence[int] = (),
    ) -> RunningCommand:
        """Start a program; it writes to the open files ``output`` and ``errors``, which stay open here.

        It reads from the open file ``stdin``; None: from nothing. It finds the open files ``given`` as its
        descriptors 3, 4 and so on.
        """
        texts = [*arguments, directory, *(environment or {}).keys(), *(environment or {}).values()]
        if not arguments or any("\0" in text for text in texts):
            raise SandboxError("the command is empty, or has a zero byte in it")
        launcher = await self._launcher(network=network)
        request = {
            "arguments": list(arguments),
            "directory": directory,
            "environment": {**self._environment(launcher.plan), **(environment or {})},
        }
        if stdin is not None or not given:
            inputs = () if stdin is None else (stdin, *given)
            return launcher.start(request, (output, errors, *inputs))
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return launcher.start(request, (output, errors, nothing, *given))
        finally:
            os.close(nothing)

    def can_change(self, path: str) -> bool:
        """Whether commands can change what lies at a path, or one of the links that lead from it."""
        places = (*self._plan.writable, *TEMPORARY)
        for _ in range(_MOST_LINKS):
            folder, name = os.path.split(os.path.abspath(path))
            here = os.path.join(os.path.realpath(folder), name)
            if is_within(os.path.join(folder, name), places) or is_within(here, places):
                return True
            if not os.path.islink(here):
                return False
            path = os.path.join(os.path.dirname(here), os.readlink(here))
        return True

    def with_readable(self, place: str) -> "Sandbox":
        """Another sandbox, whose commands can read one more place. It has launchers of its own."""
        other = Sandbox(replace(self._plan, readable=(*self._plan.readable, place)), self._isolations)
        other.refused.update(self.refused)
        return other

    async def close(self) -> None:
        """End every command."""
        launchers, self._launchers = list(self._launchers.values()), {}
        for found in await asyncio.gather(*launchers, return_exceptions=True):
            if not isinstance(found, BaseException):
                await found.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.cleanup)
            self._scratch = None

    @property
    def program_path(self) -> str:
        """Where commands look for programs."""
        programs = [os.path.join(place, name) for place in self._plan.readable for name in ("shims", "bin")]
        return ":".join((*filter(os.path.isdir, programs), _PATH))

    def _environment(self, plan: Plan) -> dict[str, str]:
        temporary = plan.scratch or "/tmp"  # noqa: S108 - made anew in the sandbox
        home = str(Path.home()) if plan.isolation == "none" else temporary
        return {
            "PATH": self.program_path,
            "HOME": home,
            "TMPDIR": temporary,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            # What a command prints is shown while it runs. Python would hold it back, since stdout is a pipe.
            "PYTHONUNBUFFERED": "1",
        }

    async def _launcher(self, *, network: bool) -> Launching:
        task = self._launchers.get(network)
        if task is None or (task.done() and not _is_alive(task)):
            task = self._launchers[network] = asyncio.create_task(self._open(network))
        # A caller that is cancelled leaves the launcher to the next one.
        return await asyncio.shield(task)

    async def _open(self, network: bool) -> Launching:
        if why := why_unavailable(self._isolations):
            raise SandboxError(why)
        for isolation in self._isolations:
            if isolation in self.refused:
                continue
            reasons: list[str] = []
            try:
                for plan in self._plans(isolation, network):
                    try:
                        return await _open_launcher(plan)
                    except SandboxError as error:
                        reasons.append(str(error))
            except SandboxError as error:
                reasons.append(str(error))
            self.refused[isolation] = "; ".join(reasons)
        raise SandboxError("; ".join(f"{name}: {why}" for name, why in self.refused.items()))

    def _plans(self, isolation: Isolation, network: bool) -> Iterator[Plan]:
        """The ways to confine commands by an isolation, the best one first."""
        plan = replace(self._plan, network=network, isolation=isolation)
        if isolation == "none":
            yield plan
            return
        if isolation == "seatbelt":
            yield replace(plan, scratch=self._scratch_directory())
            return
        is_root = os.geteuid() == 0
        if not is_root:
            # Loaded on use, as is the launcher: most conversations run no command.
            from sestet.services.sandbox.mounts import private_in_system

            plan = replace(plan, hidden=(*plan.hidden, *private_in_system()))
        if isolation == "landlock":
            plan = self._alone(plan)
        elif is_root and isolation == "bubblewrap":
            raise SandboxError("root makes namespaces itself, or is not allowed to")
        elif is_root:
            yield replace(plan, user=(DEDICATED_ID, DEDICATED_ID), is_lent=True)
        yield replace(plan, user=_owner_of(plan.writable)) if is_root else plan

    def _alone(self, plan: Plan) -> Plan:
        """The plan for Landlock alone, which cannot hide a place inside of the workspace."""
        if landlock_version() < _ALONE:
            raise SandboxError("Landlock alone needs Linux 6.12 or later")
        if inside := [path for path in plan.hidden if is_within(path, plan.writable)]:
            raise SandboxError(f"'{inside[0]}' is private and lies in the workspace")
        is_new, scratch = self._scratch is None, self._scratch_directory()
        if is_new and os.geteuid() == 0:
            os.chown(scratch, *_owner_of(plan.writable))
        return replace(plan, scratch=scratch)

    def _scratch_directory(self) -> str:
        if self._scratch is None:
            from tempfile import TemporaryDirectory

            self._scratch = TemporaryDirectory(prefix="sestet-")
        return os.path.realpath(self._scratch.name)


async def _open_launcher(plan: Plan) -> Launching:
    if plan.isolation == "seatbelt":
        # Loaded on use: no other system has it.
        from sestet.services.sandbox.seatbelt import Seatbelt

        return Seatbelt(plan)
    from sestet.services.sandbox.connection import Connection

    return await Connection.open(plan)


def _is_alive(task: "asyncio.Task[Launching]") -> bool:
    return not task.cancelled() and task.exception() is None and task.result().is_alive


def _owner_of(places: Sequence[str]) -> tuple[int, int]:
    """The user and group that all these directories belong to, for commands that root starts."""
    owners = {(state.st_uid, state.st_gid) for state in map(os.stat, places)}
    if len(owners) != 1 or next(iter(owners))[0] == 0:
        raise SandboxError(
            "the workspace belongs to root, whose commands cannot be confined this way; "
            "start Sestet as another user, or give the workspace to one"
        )
    return owners.pop()
