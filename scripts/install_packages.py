"""Installs the packages of a lock file with pip, and shows how far it is: ``installing 7 of 23: numpy``.

It uses the standard library alone, because it runs before anything is installed.
"""

import os
import re
import select
import shutil
import subprocess
import sys
import sysconfig
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

_REQUIREMENT = re.compile(r"^[A-Za-z0-9]", re.MULTILINE)
_PACKAGE = re.compile(r"(?:Collecting|Requirement already satisfied:) ([A-Za-z0-9._-]+)")
_INSTALLING = "Installing collected packages: "
#: A requirement for another system or another Python.
_IGNORED = "Ignoring "
_POLL_SECONDS = 0.5
_LAST_LINES = 30
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """One line that is written over at a terminal; lines below each other anywhere else."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._shown = ""

    def show(self, text: str) -> None:
        if text == self._shown:
            return
        self._shown = text
        line = f"setup: {text}"
        if self._is_terminal:
            self._stream.write(_CLEAR + line[: shutil.get_terminal_size().columns - 1])
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def clear(self) -> None:
        if self._is_terminal and self._shown:
            self._stream.write(_CLEAR)
            self._stream.flush()
        self._shown = ""


class Installation:
    """How far pip is, by the lines that it prints and the packages that are there."""

    def __init__(self, total: int, packages: Path) -> None:
        self._total = total
        self._packages = packages
        self._before = set(self._installed())
        self._collected = 0
        self._to_install = 0

    def read(self, line: str) -> str:
        """The progress after a line of pip's; empty when the line says nothing about it."""
        if line.startswith(_IGNORED):
            self._total -= 1
        elif line.startswith(_INSTALLING):
            self._to_install = line.removeprefix(_INSTALLING).count(",") + 1
            return f"installing {self._to_install} packages"
        elif found := _PACKAGE.match(line):
            self._collected += 1
            return f"fetching {self._collected} of {max(self._total, self._collected)}: {found[1]}"
        return ""

    def look(self) -> str:
        """The progress as the directory of packages shows it; pip is silent while it installs."""
        new = [name for name in self._installed() if name not in self._before]
        if not self._to_install or not new:
            return ""
        return f"installing {min(len(new), self._to_install)} of {self._to_install}: {new[-1].split('-')[0]}"

    def _installed(self) -> list[str]:
        """The packages that are there, the newest last."""
        try:
            found = [(entry.stat().st_mtime_ns, entry.name) for entry in self._packages.glob("*.dist-info")]
        except OSError:  # pip replaces one at this moment
            return []
        return [name for _, name in sorted(found)]


def follow(command: Sequence[str], installation: Installation, stream: IO[str]) -> int:
    """Run pip and show its progress. Its last lines are shown only if it fails. Returns its exit code."""
    progress, last = ProgressLine(stream), deque[str](maxlen=_LAST_LINES)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None  # a pipe, as we asked for
        for line in _lines(process.stdout.fileno()):
            if line:
                last.append(line)
            if text := installation.read(line) if line else installation.look():
                progress.show(text)
    progress.clear()
    if process.returncode:
        stream.write("".join(f"{line}\n" for line in last))
    return process.returncode


def _lines(descriptor: int) -> Iterator[str]:
    """The lines as they come; an empty one while nothing comes."""
    rest = b""
    while True:
        ready, _, _ = select.select([descriptor], [], [], _POLL_SECONDS)
        if not ready:
            yield ""
            continue
        piece = os.read(descriptor, 65_536)
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line.decode("utf-8", "replace").strip() for line in lines if line.strip())
        if not piece:
            return


def main(lock: Path) -> int:
    # Wheels only: a build from source would fetch tools that are not in the lock file.
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    command += [
        "--progress-bar",
        "off",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--requirement",
        str(lock),
    ]
    total = len(_REQUIREMENT.findall(lock.read_text(encoding="utf-8")))
    return follow(command, Installation(total, Path(sysconfig.get_path("purelib"))), sys.stderr)


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except KeyboardInterrupt:
        sys.exit(130)
