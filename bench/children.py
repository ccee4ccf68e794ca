"""Starts one process for one figure of one contestant, and reads its result."""

import json
import os
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.entries import SESTET, Entry
from bench.venvs import ROOT, find_python, last_line

TREE = ROOT / "build" / "bench" / "tree.json"
#: On the disk of the checkout: a temporary directory may be in memory, where a journal costs nothing.
SCRATCH = ROOT / "build" / "bench" / "scratch"
CHILD_SECONDS = 150

Raw = dict[str, float]


class ChildError(Exception):
    """A contestant could not be measured; the message gives the reason in one line."""


def export_tree() -> None:
    """Write the tree that all contestants build."""
    with scratch() as folder:
        start(SESTET, folder, "bench.export", [str(TREE), str(folder / "home")])


def take_figure(entry: Entry, figure: str) -> Raw:
    """Measure in a separate process and directory, without the caller's environment."""
    with scratch() as folder:
        result = folder / "result.json"
        arguments = [entry.module, figure, str(TREE), str(folder / "home"), str(result)]
        start(entry, folder, "bench.child", arguments)
        return json.loads(result.read_text(encoding="utf-8"))


def take_ingest() -> Raw:
    """Measure the ingestion of documents, also in a separate process."""
    with scratch() as folder:
        result = folder / "result.json"
        start(SESTET, folder, "bench.ingest", [str(folder), str(result)])
        return json.loads(result.read_text(encoding="utf-8"))


@contextmanager
def scratch() -> Generator[Path]:
    """A directory with a workspace of two files, for ``fs_list`` to find."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=SCRATCH) as name:
        folder = Path(name)
        (folder / "workspace").mkdir()
        for file in ("notes.txt", "plan.txt"):
            (folder / "workspace" / file).write_text("Buy bread.\n", encoding="utf-8")
        yield folder


def start(entry: Entry, folder: Path, module: str, arguments: Sequence[str]) -> None:
    """Run a module with the Python of an entry, in a fresh directory."""
    try:
        done = subprocess.run(
            [find_python(entry), "-m", module, *arguments],
            cwd=folder / "workspace",
            env={
                "PATH": os.defpath,
                "HOME": str(folder / "home"),
                "PYTHONPATH": str(ROOT),
                "PYTHONUTF8": "1",
                **entry.environment,
            },
            capture_output=True,
            text=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ChildError(f"took longer than {CHILD_SECONDS} seconds") from None
    if done.returncode:
        raise ChildError(last_line(done.stderr) or f"ended with code {done.returncode}")


def read_filesystem() -> str:
    """Return the type of the file system of the journal."""
    best = ("", "unknown")
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, mount, kind, *_ = line.split()
        if SCRATCH.is_relative_to(mount) and len(mount) >= len(best[0]):
            best = (mount, kind)
    return best[1]
