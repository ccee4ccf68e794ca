"""Starts a measured browser, reads its line of JSON, and reads the memory of all its processes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast

from bench.children import ChildError
from bench.venvs import ROOT, last_line


class Outcome(NamedTuple):
    """What a child told, and what was seen of it from outside."""

    #: Any: each kind of child tells its own.
    pages: dict[str, Any]
    #: From the start of its process to its last reading.
    seconds: float
    #: Proportional memory of it and all its descendants; 0: it could not be read.
    pss_mb: float


def run_child(python: str, module: str, arguments: Sequence[str]) -> Outcome:
    """Run one child until it has told its findings."""
    with TemporaryDirectory(prefix="sestet-bench-") as home, (Path(home) / "errors").open("w+") as errors:
        # Chromium, which has other rights, makes its profile below.
        Path(home).chmod(0o755)
        began = time.time()
        child = subprocess.Popen(
            [python, "-m", module, *arguments],
            cwd=home,
            env={
                "PATH": os.defpath,
                "HOME": home,
                "TMPDIR": home,
                "PYTHONPATH": str(ROOT),
                "PYTHONUTF8": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert child.stdout is not None
        line = child.stdout.readline()
        memory = _memory_mb(child.pid) if line else 0.0
        child.communicate("end\n", timeout=60)
        if not line:
            errors.seek(0)
            raise ChildError(last_line(errors.read()) or f"ended with code {child.returncode}")
        told = cast("dict[str, Any]", json.loads(line))
        return Outcome(told["pages"], told["at"] - began, memory)


def _memory_mb(root: int) -> float:
    """The sum over a process and all its descendants; 0 if one of them may not be read."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    tree = {root}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    if any(_is_chromium(pid) for pid in parents.keys() - tree):
        print("browser: another Chromium runs, and takes its part of the shared memory", file=sys.stderr)
    try:
        return sum(_pss_kb(pid) for pid in tree) / 1024
    except PermissionError:
        print("browser: the memory can only be read by root", file=sys.stderr)
        return 0.0


def _is_chromium(pid: int) -> bool:
    try:
        return "chromium" in Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return False


def _pss_kb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((float(line.split()[1]) for line in lines if line.startswith("Pss:")), 0.0)
