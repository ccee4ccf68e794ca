"""The command line of bubblewrap, for a kernel that lets only that program make namespaces."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sestet.services.sandbox.mounts import Place, arrange, private_in_proc, size_of_temporary
from sestet.services.sandbox.plan import Plan, holds, is_within, outermost

_PATH = "/usr/local/bin:/usr/bin:/bin"


def find_bubblewrap() -> str | None:
    return shutil.which("bwrap", path=_PATH)


def bubblewrap_command(plan: Plan) -> list[str]:
    """What gives the launcher the same view that ``build_view`` gives it elsewhere."""
    program = find_bubblewrap()
    if program is None:
        raise OSError("bubblewrap is not installed")
    # Without it, a command could fill the memory with temporary files.
    about = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)  # noqa: S603
    if "--size" not in about.stdout:
        raise OSError("bubblewrap is older than version 0.8")
    network = ["--share-net"] if plan.network else []
    command = [program, "--unshare-all", *network, "--die-with-parent", "--new-session"]
    command += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for name, is_directory in private_in_proc():
        command += _covered(f"/proc/{name}", is_directory=is_directory)
    covered: list[str] = []
    for path, kind in _places(plan):
        if not os.path.exists(path):
            continue
        if kind == "hidden":
            command += _covered(path, is_directory=os.path.isdir(path))
            covered += [path] if os.path.isdir(path) else []
        elif kind == "temporary":
            command += ["--size", str(size_of_temporary(path)), "--perms", "1777", "--tmpfs", path]
        elif kind in ("pinned", "writable"):
            command += ["--bind", path, path]
        else:
            command += ["--ro-bind", path, path]
    for path in covered:
        command += ["--remount-ro", path]
    return [*command, "--chdir", "/", "--"]


def _places(plan: Plan) -> list[Place]:
    """The places of the plan, and those that the launcher itself is read from."""
    places = {place.path: place for place in arrange(plan)}
    for path in _interpreter(plan):
        places.setdefault(path, Place(path, "readable"))
    nested = set(plan.writable) - set(outermost(plan.writable))
    return [places[path] for path in sorted(places) if path not in nested]


def _interpreter(plan: Plan) -> Iterator[str]:
    """Where Python and our modules lie, as far as a private place or a new /tmp would take them away."""
    hidden = [place.path for place in arrange(plan) if place.kind == "hidden"]
    replaced = [place.path for place in arrange(plan) if place.kind in ("hidden", "temporary")]
    found = [sys.prefix, sys.base_prefix, str(Path(__file__).parents[3]), *sys.path]
    for path in outermost(os.path.realpath(path) for path in found if os.path.isabs(path)):
        is_missing = is_within(path, replaced) and not is_within(path, plan.writable)
        # A place that holds a private one would show it.
        if is_missing and not any(holds(path, place) for place in hidden):
            yield path


def _covered(path: str, *, is_directory: bool) -> list[str]:
    return ["--tmpfs", path] if is_directory else ["--ro-bind", "/dev/null", path]
