"""Tells whether a directory lies on disks of this machine, on which a short look does not wait long."""

import os
import re
import time
from functools import lru_cache
from pathlib import Path

_MOUNTS = "/proc/self/mountinfo"
#: Anything else may wait for a server, for a program or for a person.
_LOCAL = frozenset(
    {*("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs"), *("tmpfs", "overlay", "squashfs")}
)
#: Seconds for which an answer holds: mounts change rarely.
_SECONDS = 10.0
_ESCAPED = re.compile(rb"\\([0-7]{3})")


def is_on_local_disks(directory: Path) -> bool:
    """Whether the directory and everything below it is on file systems of this machine."""
    return _is_on_local_disks(str(directory), int(time.monotonic() / _SECONDS))


@lru_cache(maxsize=16)
def _is_on_local_disks(directory: str, _: int) -> bool:
    try:
        mounts = Path(_MOUNTS).read_bytes()
    except OSError:
        return False
    here, kind_here = os.fsencode(os.path.realpath(directory)), ""
    longest = -1
    for line in mounts.splitlines():
        place, kind = _mount(line)
        if _is_below(place, here) and place != here and kind not in _LOCAL:
            return False
        # The last one counts: a mount hides the earlier ones at its place.
        if _is_below(here, place) and len(place) >= longest:
            longest, kind_here = len(place), kind
    return kind_here in _LOCAL


def _mount(line: bytes) -> tuple[bytes, str]:
    """The place and the kind of one mount."""
    before, _, after = line.partition(b" - ")
    place = _ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), before.split(b" ")[4])
    return place, after.split(b" ")[0].decode("ascii", "replace")


def _is_below(path: bytes, directory: bytes) -> bool:
    return path == directory or path.startswith(directory.rstrip(b"/") + b"/")
