"""A virtual environment for each contestant, created again when its requirements change."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.entries import Entry

ROOT = Path(__file__).parents[1]
VENVS = ROOT / "build" / "bench" / "venvs"
_INSTALL_SECONDS = 900
_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet")
_LOCK = "requirements.lock"


class InstallError(Exception):
    """A contestant cannot be installed; the message gives the reason in one line."""


def find_python(entry: Entry) -> Path:
    return VENVS / (entry.venv or entry.name) / "bin" / "python"


def is_current(entry: Entry) -> bool:
    stamp = _stamp_path(entry)
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _stamp(entry)


def make_venv(entry: Entry) -> None:
    """Create the environment of an entry and install its requirements."""
    assert not entry.venv  # it uses the environment of another entry
    folder = VENVS / entry.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", str(folder)])
    python = str(find_python(entry))
    if entry.kind == "sestet":
        # As scripts/setup.sh does: wheels from the lock file, and an editable install of the checkout.
        checkout = _checkout(entry)
        lock = str(checkout / _LOCK)
        _run([python, *_PIP, "--require-hashes", "--only-binary", ":all:", "--requirement", lock])
        _run([python, *_PIP, "--no-deps", "--no-build-isolation", "--editable", str(checkout)])
    if entry.requirements:
        _run([python, *_PIP, *entry.requirements])
    _stamp_path(entry).write_text(_stamp(entry), encoding="utf-8")


def read_version(entry: Entry) -> str:
    """Return the installed version of an entry's package; empty for an entry without a package."""
    if not entry.package:
        return ""
    code = f"from importlib.metadata import version; print(version({entry.package!r}))"
    return _run([str(find_python(entry)), "-c", code]).strip()


def _stamp_path(entry: Entry) -> Path:
    return VENVS / entry.name / "made-for.json"


def _stamp(entry: Entry) -> str:
    checkout = _checkout(entry)
    lock = (checkout / _LOCK).read_text(encoding="utf-8") if entry.kind == "sestet" else ""
    return json.dumps([sys.version, str(checkout), entry.requirements, lock])


def _checkout(entry: Entry) -> Path:
    return Path(entry.checkout).resolve() if entry.checkout else ROOT


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise InstallError(f"not installed within {_INSTALL_SECONDS} seconds") from None
    if done.returncode:
        raise InstallError(last_line(done.stderr) or f"ended with code {done.returncode}")
    return done.stdout


def last_line(text: str) -> str:
    """Return the last line that is not empty: Python and pip put the reason there."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("WARNING")]
    return lines[-1][:200] if lines else ""
