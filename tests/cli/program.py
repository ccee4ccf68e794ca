"""The real program, started by tests: through pipes, or at a terminal of its own."""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sestet.config.trust import decide, open_workspace
from sestet.core.clean import clean
from sestet.setup.choices import MARK

PATIENCE = 30.0
# The program has to claim its terminal, or Ctrl-C would not reach it.
_CLAIM = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, sys.argv[1:])
"""


class Home:
    """A person's world in a temporary directory: where they work, and where Sestet keeps its data."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        #: Whether the person accepts what lies in the folder where they work, before each command.
        self.trusts_work = True
        self._program = [sys.executable, "-m", "sestet"]
        self.data = directory / "data"
        self.work = directory / "work"
        self.work.mkdir()
        (self.work / "notes.txt").write_text("buy tea\n", encoding="utf-8")

    def with_program(self, *program: str) -> "Home":
        """The same world, with another program in the place of ``sestet``."""
        self._program = [sys.executable, *program]
        return self

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        home = str(self.directory)
        return {**kept, "HOME": home, "SESTET_HOME": str(self.data), "PYTHONUTF8": "1", **(extra or {})}

    def run(
        self, *arguments: str, stdin: str = "", extra: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run ``sestet`` to its end, with pipes on all sides."""
        self.accept_work()
        return subprocess.run(
            [*self._program, *arguments],
            cwd=self.work,
            env=self.environment(extra),
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=PATIENCE,
            check=False,
            # Without the terminal at which the tests run: a command may open it to ask for a passphrase.
            start_new_session=True,
        )

    def run_bytes(self, *arguments: str, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
        """The same with bytes that need not be UTF-8."""
        self.accept_work()
        return subprocess.run(
            [*self._program, *arguments],
            cwd=self.work,
            env=self.environment(),
            input=stdin,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )

    def json(self, *arguments: str) -> Any:  # Any: JSON that a test looks into
        done = self.run(*arguments, "--json")
        assert done.stderr == ""
        return json.loads(done.stdout)

    def terminal(
        self, *arguments: str, extra: Mapping[str, str] | None = None, fresh: bool = False
    ) -> "Terminal":
        """Start ``sestet`` at a terminal; ``fresh``: for the first time, so that it may offer a model."""
        self.accept_work()
        if not fresh:
            self.data.mkdir(exist_ok=True)
            (self.data / MARK).touch()
        return Terminal([*self._program, *arguments], self.work, self.environment(extra))

    def accept_work(self) -> None:
        """What the person did with ``sestet trust`` before, unless a test says that they did not."""
        workspace = open_workspace(self.work, self.data) if self.trusts_work else None
        if workspace is not None and not workspace.problem and not workspace.is_accepted:
            decide(workspace, self.data, accepted=True)


class Terminal:
    """A program at a pseudo-terminal: what a person sees of it, and the keys they press."""

    def __init__(self, command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        # This terminal does not answer a request for the cursor position.
        environment = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", **environment}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CLAIM, *command],
            cwd=directory,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.raw = ""
        self._seen = 0

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        os.close(self._master)

    def kill(self) -> None:
        """End the program as ``kill -9`` does."""
        self._process.kill()
        self._process.wait()

    def expect(self, text: str) -> str:
        """Wait until the text appears after the last expected one; return everything up to it."""
        deadline = time.monotonic() + PATIENCE
        start = self._seen
        while (at := clean(self.raw).find(text, start)) < 0:
            if not self._read(deadline):
                raise AssertionError(f"{text!r} did not appear in:\n{clean(self.raw)[start:]}")
        self._seen = at + len(text)
        return clean(self.raw)[start : self._seen]

    def expect_keys(self) -> None:
        """Wait until the program reads each key; before that, Ctrl-C is a signal."""
        deadline = time.monotonic() + PATIENCE
        while termios.tcgetattr(self._master)[3] & termios.ICANON:
            assert time.monotonic() < deadline, "the program does not read keys"
            self._read(time.monotonic() + 0.01)

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def say(self, line: str) -> None:
        self.press(f"{line}\r")

    def wait(self) -> int:
        """Wait for the program to end; returns its exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        return self._process.wait(PATIENCE)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            piece = os.read(self._master, 65_536)
        except OSError:  # Linux says so when the other end was closed
            return False
        self.raw += piece.decode("utf-8", "replace")
        return bool(piece)
