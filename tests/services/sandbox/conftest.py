"""Places and processes for the tests of the sandbox, as root and as an ordinary user."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sestet.services.sandbox.bubblewrap import find_bubblewrap
from sestet.services.sandbox.plan import Isolation
from tests.services.sandbox.ordinary import ROOT, can_make_namespaces
from tests.services.sandbox.world import AS_ROOT

NO_NAMESPACES = "the kernel lets this user make no namespaces, which the controls need too"
#: The ordinary user of these tests, if root runs them.
ORDINARY = 61_234


class Setting(NamedTuple):
    """Who runs Sestet, and how its commands are isolated."""

    user: str
    isolation: Isolation

    def __str__(self) -> str:
        return f"{self.user}, {self.isolation}"


SETTINGS = (
    Setting("root", "namespaces"),
    Setting("root", "landlock"),
    Setting("ordinary", "namespaces"),
    Setting("ordinary", "bubblewrap"),
    Setting("ordinary", "landlock"),
)


def why_impossible(setting: Setting) -> str:
    if not can_make_namespaces():
        return NO_NAMESPACES
    if setting.user == "root" and os.geteuid():
        return "only root can start as root"
    if setting.isolation == "bubblewrap" and not find_bubblewrap():
        return "bubblewrap is not installed"
    return ""


@pytest.fixture(params=SETTINGS, ids=str)
def setting(request: pytest.FixtureRequest) -> Setting:
    chosen: Setting = request.param
    if why := why_impossible(chosen):
        pytest.skip(why)
    return chosen


@pytest.fixture
def base(setting: Setting) -> Iterator[Path]:
    """A directory that every user can enter, with the workspace in it, outside of /tmp if possible."""
    parent = "/srv" if os.access("/srv", os.W_OK) else None
    base = Path(tempfile.mkdtemp(prefix="sestet-test-", dir=parent)).resolve()
    base.chmod(0o755)
    work = base / "work"
    work.mkdir()
    if os.geteuid() == 0:
        program = Path(shutil.copy("/usr/bin/id", work / AS_ROOT))
        program.chmod(0o4755)
        if setting.user == "ordinary":
            os.chown(base, ORDINARY, ORDINARY)
        if setting.user == "ordinary" or setting.isolation == "landlock":
            os.chown(work, ORDINARY, ORDINARY)
    try:
        yield base
    finally:
        shutil.rmtree(base)


@pytest.fixture
def run_module(setting: Setting, base: Path) -> Callable[..., str]:
    """Runs a module of these tests as the user of the setting, and returns its output."""

    def run(module: str, *arguments: str) -> str:
        done = subprocess.run(
            [*command_line(setting), f"tests.services.sandbox.{module}", *arguments],
            cwd=ROOT,
            env={**os.environ, "HOME": str(base / "home"), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def command_line(setting: Setting) -> list[str]:
    if os.geteuid():
        return [sys.executable, "-m"]
    user = ORDINARY if setting.user == "ordinary" else 0
    return [sys.executable, "-m", "tests.services.sandbox.ordinary", str(user)]
