"""The process of the browser itself: no rights of root, no network but the proxy, no life after Sestet."""

# Nothing else runs while a test looks at processes.
# ruff: noqa: ASYNC220, ASYNC240, ASYNC251

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.services.browser.attacks.arena import Arena

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


def _tree(root: int) -> list[int]:
    """The process and everything below it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _status(pid: int, field: str) -> str:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return line.partition(":")[2].strip()
    return ""


def _kinds(pids: list[int]) -> dict[str, list[int]]:
    kinds: dict[str, list[int]] = {}
    for pid in pids:
        # A process that was forked writes its title with blanks.
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").split()
        kind = next((word[7:].decode() for word in words if word.startswith(b"--type=")), "browser")
        kinds.setdefault(kind, []).append(pid)
    return kinds


async def test_the_processes_are_confined_by_the_kernel(arena: Arena) -> None:
    arena.show("<p>a page</p>")
    guest = arena.guest()
    await guest.open()
    async with arena.browser.visit(guest.info()) as visitor:
        chromium = visitor.window.chromium
    kinds = _kinds(_tree(chromium.pid))
    own = {name: os.readlink(f"/proc/self/ns/{name}") for name in ("net", "user", "pid")}

    assert "renderer" in kinds
    for pids in kinds.values():
        for pid in pids:
            assert _status(pid, "Uid").split()[:3] != ["0", "0", "0"] or os.geteuid() != 0
            assert b"--no-sandbox" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    for pid in kinds["renderer"]:
        assert _status(pid, "Seccomp") == "2"
        assert _status(pid, "CapEff") == "0" * 16
        for name in ("net", "user", "pid"):
            assert os.readlink(f"/proc/{pid}/ns/{name}") != own[name], name
    if chromium.own_network:
        assert os.readlink(f"/proc/{chromium.pid}/ns/net") != own["net"]
        lines = Path(f"/proc/{chromium.pid}/net/dev").read_text().splitlines()[2:]
        assert [line.partition(":")[0].strip() for line in lines] == ["lo"]


async def test_the_browser_gets_no_variable_and_no_open_file_of_the_assistant(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = arena.guest()
    arena.show("<p>a page</p>")
    await guest.open()
    async with arena.browser.visit(guest.info()) as visitor:
        pid = visitor.window.chromium.pid
    names = {entry.partition(b"=")[0] for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")}

    assert names <= {b"HOME", b"TMPDIR", b"PATH", b"LANG", b"SESTET_BROWSER", b""}
    opened = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
    assert opened
    assert not any("sestet.db" in place or "vault" in place for place in opened)


_PROGRAM = """
import asyncio, sys
from pathlib import Path
from tests.services.browser.attacks.arena import open_arena
async def main():
    async with open_arena(Path(sys.argv[1])) as arena:
        arena.show("<p>a page</p>")
        guest = arena.guest()
        await guest.open()
        async with arena.browser.visit(guest.info()) as visitor:
            chromium = visitor.window.chromium
        print(chromium.pid, chromium.profile, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.mark.parametrize("victim", ["the assistant", "the browser"])
async def test_nothing_is_left_after_a_kill(arena: Arena, tmp_path: Path, victim: str) -> None:
    root = Path(__file__).parents[4]
    child = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(tmp_path)], cwd=root, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    pid, profile = child.stdout.readline().split()
    processes = _tree(int(pid))
    assert len(processes) > 2
    assert Path(profile).exists()
    os.kill(child.pid if victim == "the assistant" else int(pid), signal.SIGKILL)
    until = time.monotonic() + 20
    while any(_is_running(each) for each in processes) and time.monotonic() < until:
        time.sleep(0.05)
    left = [each for each in processes if _is_running(each)]
    child.kill()
    child.communicate()

    assert left == []
    from sestet.services.browser.leftovers import remove_leftovers

    remove_leftovers()  # what the next start does
    assert not Path(profile).exists()


def _is_running(pid: int) -> bool:
    try:
        return _status(pid, "State")[:1] not in ("Z", "X", "")
    except OSError:
        return False
