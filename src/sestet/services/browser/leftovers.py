"""Browsers and profiles that a killed Sestet has left behind: found by their mark, and removed."""

import os
import shutil
import signal
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from sestet.services.browser.processes import all_processes, start_time

#: The variable in the environment of every process of a browser.
MARK = "SESTET_BROWSER"
#: How the names of profile directories begin.
PROFILES = "sestet-browser-"


def new_mark() -> str:
    """Names this process, also after its number is used again."""
    return f"{os.getpid()}-{start_time(os.getpid())}"


def remove_leftovers() -> int:
    """End every browser whose Sestet is gone, and remove its profile. Returns how many were ended."""
    ended = 0
    for pid in all_processes():
        mark = _mark_of(pid)
        if mark and not _is_alive(mark):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                ended += 1
    for profile in Path(tempfile.gettempdir()).glob(f"{PROFILES}*"):
        mark = profile.name.removeprefix(PROFILES).rpartition("-")[0]
        if not _is_alive(mark) and _is_ours(profile):
            shutil.rmtree(profile, ignore_errors=True)
    return ended


def _mark_of(pid: int) -> str:
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if entry.startswith(MARK.encode() + b"="):
                return entry.partition(b"=")[2].decode(errors="replace")
    return ""


def _is_alive(mark: str) -> bool:
    pid, _, started = mark.partition("-")
    return pid.isdecimal() and bool(started) and start_time(int(pid)) == started


def _is_ours(profile: Path) -> bool:
    """Everybody may write into the temporary directory: remove only what is a directory of our users."""
    with suppress(OSError):
        found = profile.lstat()
        return stat.S_ISDIR(found.st_mode) and (found.st_uid == os.geteuid() or os.geteuid() == 0)
    return False
