"""Starts the workers, shows their progress, and reads their trials."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from typing import Any

from bench.children import ChildError, scratch
from bench.entries import Entry
from bench.venvs import ROOT, find_python, last_line

_PROCESSES = 2
_MOST_SECONDS = 600
_EACH = 100

#: A trial as the worker printed it; ``Trial`` in trial.py names the fields.
Row = dict[str, Any]  # Any: JSON


def run_trials(entry: Entry, arguments: Sequence[str]) -> list[Row]:
    """Run all trials in two processes, each with a part of them."""
    rows: list[Row] = []
    with scratch() as folder, ThreadPoolExecutor(_PROCESSES) as pool:
        parts = [
            pool.submit(_run_part, entry, [*arguments, "--part", str(part)], folder, rows)
            for part in range(_PROCESSES)
        ]
        for part in parts:
            part.result()
    return sorted(rows, key=lambda row: (row["suite"], row["user"], row["injection"], row["mode"]))


def _run_part(entry: Entry, arguments: Sequence[str], folder: Path, rows: list[Row]) -> None:
    command = [str(find_python(entry)), "-m", entry.module, *arguments, "--parts", str(_PROCESSES)]
    environment = {"PATH": os.defpath, "HOME": str(folder), "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    errors = folder / f"errors-{'-'.join(arguments[-2:])}.txt"
    with (
        errors.open("w", encoding="utf-8") as stderr,
        subprocess.Popen(
            [*command, "--home", str(folder)],
            cwd=folder / "workspace",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as process,
    ):
        limit = Timer(_MOST_SECONDS, process.kill)
        limit.start()
        assert process.stdout is not None
        try:
            for line in process.stdout:
                rows.append(json.loads(line))
                if len(rows) % _EACH == 0:
                    print(f"agentdojo: {len(rows)} trials", file=sys.stderr, flush=True)
        finally:
            limit.cancel()
    if process.returncode:
        raise ChildError(last_line(errors.read_text(encoding="utf-8")) or f"ended after {_MOST_SECONDS} s")
