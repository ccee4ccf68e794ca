"""Runs commands in a sandbox of the best kind that the kernel allows."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sestet.core.record import replace
from sestet.services.sandbox.connection import GRACE, Connection, Ended, RunningCommand, SandboxError
from sestet.services.sandbox.landlock import landlock_version
from sestet.services.sandbox.mounts import private_in_system
from sestet.services.sandbox.plan import DEDICATED_ID, ISOLATIONS, Isolation, Plan, is_within
from sestet.services.sandbox.syscall_numbers import is_known_machine

__all__ = ["GRACE", "Ended", "RunningCommand", "Sandbox", "SandboxError", "why_unavailable"]

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Below this version, Landlock alone stops neither truncating nor signals.
_ALONE = 6


def why_unavailable() -> str:
    """Why no sandbox can work on this computer; empty: one can. Quick, since it starts nothing."""
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
        self._launchers: dict[bool, asyncio.Task[Connection]] = {}
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
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
    ) -> RunningCommand:
        """Start a program; it writes to the open files ``output`` and ``errors``, which stay open here."""
        texts = [*arguments, directory, *(environment or {}).keys(), *(environment or {}).values()]
        if not arguments or any("\0" in text for text in texts):
            raise SandboxError("the command is empty, or has a zero byte in it")
        launcher = await self._launcher(network=network)
        request = {
            "arguments": list(arguments),
            "directory": directory,
            "environment": {**self._environment(launcher.plan), **(environment or {})},
        }
        return launcher.start(request, (output, errors))

    async def close(self) -> None:
        """End every command."""
        launchers, self._launchers = list(self._launchers.values()), {}
        for found in await asyncio.gather(*launchers, return_exceptions=True):
            if isinstance(found, Connection):
                await found.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.cleanup)
            self._scratch = None

    def _environment(self, plan: Plan) -> dict[str, str]:
        temporary = plan.scratch or "/tmp"  # noqa: S108 - made anew in the sandbox
        home = str(Path.home()) if plan.isolation == "none" else temporary
        programs = [os.path.join(place, name) for place in plan.readable for name in ("shims", "bin")]
        path = ":".join((*filter(os.path.isdir, programs), _PATH))
        return {"PATH": path, "HOME": home, "TMPDIR": temporary, "LANG": "C.UTF-8", "TERM": "dumb"}

    async def _launcher(self, *, network: bool) -> Connection:
        task = self._launchers.get(network)
        if task is None or (task.done() and not _is_alive(task)):
            task = self._launchers[network] = asyncio.create_task(self._open(network))
        # A caller that is cancelled leaves the launcher to the next one.
        return await asyncio.shield(task)

    async def _open(self, network: bool) -> Connection:
        if self._isolations != ("none",) and (why := why_unavailable()):
            raise SandboxError(why)
        for isolation in self._isolations:
            if isolation in self.refused:
                continue
            reasons: list[str] = []
            try:
                for plan in self._plans(isolation, network):
                    try:
                        return await Connection.open(plan)
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
        is_root = os.geteuid() == 0
        if not is_root:
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
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="sestet-")
            if os.geteuid() == 0:
                os.chown(self._scratch.name, *_owner_of(plan.writable))
        return replace(plan, scratch=self._scratch.name)


def _is_alive(task: "asyncio.Task[Connection]") -> bool:
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
