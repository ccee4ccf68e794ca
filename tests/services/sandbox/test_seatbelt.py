"""The sandbox of macOS, as far as another system can show it: its profile, and how its commands end.

A stand-in for ``sandbox-exec`` starts the command without a sandbox. No test shows that macOS enforces it.
"""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from sestet.services.sandbox.plan import Plan
from sestet.services.sandbox.running_command import Ended, RunningCommand, SandboxError
from sestet.services.sandbox.sandbox import why_unavailable
from sestet.services.sandbox.seatbelt import Seatbelt, seatbelt_profile


@pytest.fixture
def seatbelt(tmp_path: Path) -> Seatbelt:
    program = tmp_path / "sandbox-exec"
    program.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    program.chmod(0o755)
    return Seatbelt(Plan((str(tmp_path),)), str(program))


def start(seatbelt: Seatbelt, script: str, folder: Path, output: int) -> RunningCommand:
    request = {"arguments": ["/bin/sh", "-c", script], "environment": {"PATH": "/usr/bin:/bin"}}
    return seatbelt.start({**request, "directory": str(folder)}, (output, output))


def test_the_profile_denies_what_it_does_not_name() -> None:
    plan = Plan(
        ("/w",), ("/tools",), protected=("/w/.git/hooks",), hidden=("/Users/ann", "/w/data"), scratch="/s"
    )
    lines = seatbelt_profile(plan).splitlines()
    assert lines[1] == "(deny default)"
    written = [line for line in lines if "file-write*" in line]
    assert written == [
        '(allow file-read* file-write* (subpath "/w") (subpath "/s"))',
        '(deny file-write* (subpath "/w/.git/hooks"))',
        '(deny file-read* file-write* (subpath "/w/data"))',
    ]
    assert not any("/Users/ann" in line or "network" in line for line in lines)
    assert "(allow network*)" in seatbelt_profile(Plan(("/w",), network=True))


def test_a_path_cannot_add_a_rule() -> None:
    assert '(subpath "/w\\") (allow default (\\"")' in seatbelt_profile(Plan(('/w") (allow default ("',)))
    with pytest.raises(SandboxError, match="control character"):
        seatbelt_profile(Plan(("/w\n(allow default)",)))


async def test_the_end_of_a_command_is_told(seatbelt: Seatbelt, tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        assert await start(seatbelt, "echo hello; exit 3", tmp_path, out.fileno()).wait() == Ended(code=3)
        killed = await start(seatbelt, "kill -9 $$", tmp_path, out.fileno()).wait()
    assert killed == Ended(signal=signal.SIGKILL)
    assert (tmp_path / "out").read_text() == "hello\n"
    await seatbelt.close()


async def test_closing_ends_every_command(seatbelt: Seatbelt, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    command = start(seatbelt, "trap '' TERM; sleep 1000 & echo begun; wait", tmp_path, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as printed:
        assert await asyncio.to_thread(printed.readline) == b"begun\n"
        await seatbelt.close()
        assert await command.wait() == Ended(signal=signal.SIGKILL)
        # The pipe is closed: no process has it any more.
        assert await asyncio.to_thread(printed.read) == b""


def test_it_is_used_on_macos_only_and_only_if_named() -> None:
    assert why_unavailable(("seatbelt",)) == "seatbelt is the sandbox of macOS"
    assert why_unavailable(("none",)) == ""
