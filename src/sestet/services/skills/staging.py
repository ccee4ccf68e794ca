"""Puts the bytes of a skill into a private folder for one run, and takes them away again."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from sestet.services.skills.skill import SCRIPTS

#: The folder of such copies in the data directory.
DIRECTORY = "skill-runs"


@contextmanager
def staged(data: Path, name: str, files: Mapping[str, bytes]) -> Generator[Path]:
    """A folder with exactly these files, which nobody can change but this user."""
    runs = data / DIRECTORY
    runs.mkdir(parents=True, exist_ok=True, mode=0o700)
    top, lock = _begin(runs)
    try:
        write_files(top / name, files)
        yield (top / name).resolve()
    finally:
        os.close(lock)
        shutil.rmtree(top, ignore_errors=True)


def _begin(runs: Path) -> tuple[Path, int]:
    """A new folder and its lock, which tells a run that goes on from one that a crash cut off."""
    directory = _locked(runs, fcntl.LOCK_EX)
    try:
        _clean_up(runs)
        top = Path(tempfile.mkdtemp(dir=runs))
        return top, _locked(top, fcntl.LOCK_EX)
    finally:
        os.close(directory)


def _locked(folder: Path, how: int) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, how)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_files(folder: Path, files: Mapping[str, bytes], *, durable: bool = False) -> None:
    """Write the files of a skill into a new folder; scripts can be started, also by the sandbox's user."""
    folder.mkdir()
    folder.chmod(0o755)
    for path, content in files.items():
        file = folder / path
        for above in reversed(file.relative_to(folder).parents[:-1]):
            (folder / above).mkdir(exist_ok=True)
            (folder / above).chmod(0o755)
        mode = 0o755 if path.startswith(f"{SCRIPTS}/") else 0o644
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            if durable:
                os.fsync(descriptor)
            os.fchmod(descriptor, mode)


def _clean_up(runs: Path) -> None:
    """Remove the folders of runs that a crash cut off."""
    for folder in runs.iterdir():
        with suppress(OSError):
            descriptor = _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)
