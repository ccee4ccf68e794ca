"""The progress of an installation, from the lines of a program that speaks as pip does."""

import io
import os
import pty
import select
import sys
from pathlib import Path

import pytest

from scripts.install_packages import Installation, follow

PIP = """
import pathlib, sys
print("Ignoring colorama: markers 'win32' don't match your environment", flush=True)
print("Collecting numpy==2.0 (from -r requirements.lock (line 1))", flush=True)
print("  Downloading numpy-2.0.whl (12 MB)", flush=True)
print("Requirement already satisfied: rich==14.0 in somewhere", flush=True)
print("Installing collected packages: numpy, rich", flush=True)
"""
FAILS = "import sys; print('ERROR: no such hash', file=sys.stderr); sys.exit(1)"


def run(program: str, packages: Path, stream: io.TextIOBase) -> int:
    command = [sys.executable, "-c", program]
    return follow(command, Installation(3, packages), stream)  # pyright: ignore[reportArgumentType] - any text stream


def test_outside_a_terminal_each_step_is_a_plain_line(tmp_path: Path) -> None:
    stream = io.StringIO()
    assert run(PIP, tmp_path, stream) == 0
    assert stream.getvalue().splitlines() == [
        "setup: fetching 1 of 2: numpy",
        "setup: fetching 2 of 2: rich",
        "setup: installing 2 packages",
    ]


def test_at_a_terminal_one_line_is_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as stream:
        assert run(PIP, tmp_path, stream) == 0
        said = ""
        while select.select([master], [], [], 0)[0]:
            said += os.read(master, 65_536).decode()
    os.close(master)
    assert "\n" not in said
    assert said.split("\r\x1b[K")[1:] == [
        "setup: fetching 1 of 2: numpy",
        "setup: fetching 2 of 2: rich",
        "setup: installing 2 packages",
        "",
    ]


def test_packages_are_counted_while_pip_is_silent(tmp_path: Path) -> None:
    (tmp_path / "pip-25.0.dist-info").mkdir()
    installation = Installation(2, tmp_path)
    assert not installation.look()
    installation.read("Installing collected packages: numpy, rich")
    assert not installation.look()
    (tmp_path / "numpy-2.0.dist-info").mkdir()
    assert installation.look() == "installing 1 of 2: numpy"


def test_the_last_lines_are_shown_only_when_it_fails(tmp_path: Path) -> None:
    stream = io.StringIO()
    assert run(FAILS, tmp_path, stream) == 1
    assert stream.getvalue() == "ERROR: no such hash\n"
