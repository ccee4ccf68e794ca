"""Computes the plan of the sandbox from the settings: what is shown, hidden and protected."""

import os
import pwd
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sestet.config import Settings
from sestet.config.load import config_directory, data_directory
from sestet.config.trust import PLUGIN_FOLDER, SETTINGS_FILE
from sestet.core.errors import ConfigError
from sestet.services.sandbox.plan import (
    ISOLATIONS,
    SYSTEM,
    TEMPORARY,
    Isolation,
    Plan,
    Usage,
    holds,
    is_within,
    outermost,
)
from sestet.services.sandbox.running_command import SandboxError

#: Programs of the person read these in a directory, so a command must not choose what they hold.
_PROTECTED = (".git/hooks", ".git/config", SETTINGS_FILE, PLUGIN_FOLDER)
#: A workspace can lie in these places, but not hold one of them.
_PUBLIC = (*SYSTEM, *TEMPORARY, "/var", "/home")
#: A workspace can neither hold these places nor lie in them.
_KERNEL = ("/proc", "/sys", "/dev", "/run", "/boot", "/etc")
_WAY_OUT = "start Sestet in a folder of your project, or name folders under 'workspace.roots'"


def isolations_of(settings: Settings) -> tuple[Isolation, ...]:
    """The isolations to try, in this order."""
    chosen = settings.sandbox.isolation
    return ISOLATIONS if chosen == "auto" else (chosen,)


def make_plan(
    settings: Settings,
    database: Path | None = None,
    settings_file: Path | None = None,
    directory: Path | None = None,
) -> Plan:
    """The plan of the settings; raises ``SandboxError`` if a directory cannot be a workspace.

    ``database``: if it is not at the usual place. ``directory``: the working directory.
    """
    directory = directory or Path.cwd()
    given = settings.workspace.roots or (str(directory),)
    homes = set(_homes())
    private = {*_own_directories(database), *_files(database, settings_file)}
    roots = tuple(outermost(_root(_resolved(root, directory), homes, private) for root in given))
    readable = [_resolved(place, directory) for place in settings.sandbox.readable]
    if open_home := [place for place in readable if any(holds(place, home) for home in homes)]:
        raise SandboxError(
            f"'{open_home[0]}' holds your whole home directory; "
            "name only the folders in it that commands need under 'sandbox.readable'"
        )
    hidden = {*homes, *private}
    usage = Usage(memory=settings.sandbox.memory_mb * 1_000_000, processes=settings.sandbox.processes)
    return Plan(
        writable=roots,
        readable=tuple(outermost(filter(os.path.exists, readable))),
        protected=tuple(sorted(path for path in _protected(roots) if not is_within(path, private))),
        hidden=tuple(sorted(hidden - set(roots))),
        usage=usage,
    )


def _resolved(path: str, directory: Path) -> str:
    try:
        return os.path.realpath(directory / Path(path).expanduser())
    except RuntimeError:
        raise SandboxError(f"'{path}' names the home of a user that is not known") from None


def _root(path: str, homes: set[str], private: set[str]) -> str:
    if not os.path.isdir(path):
        raise SandboxError(f"'{path}' is not a directory; {_WAY_OUT}")
    if any(holds(path, home) for home in homes):
        raise SandboxError(
            f"'{path}' holds your whole home directory, which commands must not see; {_WAY_OUT}"
        )
    if is_within(path, private):
        raise SandboxError(f"'{path}' holds Sestet's own files, which commands must not see; {_WAY_OUT}")
    if is_within(path, _KERNEL) or any(holds(path, place) for place in (*_KERNEL, *_PUBLIC)):
        raise SandboxError(f"'{path}' belongs to the system, which commands must not change; {_WAY_OUT}")
    return path


def _homes() -> Iterator[str]:
    found = [Path("/root")]
    with suppress(RuntimeError):
        found.append(Path.home())
    with suppress(KeyError):
        found.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    for home in found:
        # A service may have '/' or a directory of the system as its home.
        path = os.path.realpath(home)
        if path != "/" and not is_within(path, SYSTEM):
            yield path


def _own_directories(database: Path | None) -> Iterator[str]:
    """The directories of Sestet's data and settings, which may lie anywhere."""
    with suppress(ConfigError):  # without a home directory there are none in it
        yield os.path.realpath(config_directory())
        yield os.path.realpath(data_directory())
    if database is not None:
        yield os.path.realpath(database.parent)


def _files(database: Path | None, settings_file: Path | None) -> Iterator[str]:
    if settings_file is not None:
        yield os.path.realpath(settings_file)
    if database is not None:
        yield os.path.realpath(database)


def _protected(roots: Sequence[str]) -> Iterator[str]:
    for root in roots:
        yield from (f"{root}/{name}" for name in _PROTECTED)
        if os.path.isfile(f"{root}/.git"):
            # It names the directory with the hooks.
            yield f"{root}/.git"
    # Sestet itself, if it is installed in the workspace.
    for path in (sys.prefix, sys.base_prefix, str(Path(__file__).parents[2])):
        real = os.path.realpath(path)
        if any(holds(root, real) and root != real for root in roots):
            yield real
