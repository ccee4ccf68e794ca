"""Reads the files of a skill out of a zip or tar archive, into memory and within the limits of a skill."""

import gzip
import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from sestet.services.skills.reading import LEFT_OUT
from sestet.services.skills.skill import MANUAL, MOST_BYTES, MOST_FILES, SkillError, require_path

#: An archive is small when it is packed, and its unpacked stream has headers beside the files.
_MOST_PACKED = 2 * MOST_BYTES
_MOST_UNPACKED = 2 * MOST_BYTES
#: Entries that are looked at, folders included.
_MOST_ENTRIES = 5 * MOST_FILES
_ENCRYPTED = 0x1
#: What the readers of archives raise for bytes that are none.
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, ValueError, RuntimeError)


def read_archive(file: Path) -> dict[str, bytes]:
    """The files of the one skill in an archive; nothing is written."""
    try:
        # Not blocking: a pipe without a writer would hold the program up for ever.
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise SkillError("it is not a regular file")
            packed = stream.read(_MOST_PACKED + 1)
    except OSError as error:
        raise SkillError(f"it cannot be read: {error.strerror}") from error
    if len(packed) > _MOST_PACKED:
        raise SkillError(f"it is larger than {_MOST_PACKED // 1_000_000} MB")
    try:
        entries = _read_zip(packed) if packed[:4] == b"PK\x03\x04" else _read_tar(packed)
        return _below_manual(_gathered(entries))
    except _BROKEN as error:
        raise SkillError(f"it is not a whole zip or tar.gz archive: {error}") from error
    except OSError as error:
        raise SkillError(f"it is not a whole zip or tar.gz archive: {error.strerror or error}") from error


def _gathered(entries: Iterator[tuple[str, bytes]]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left = MOST_BYTES
    for path, content in entries:
        if any(part in LEFT_OUT for part in path.split("/")):
            continue
        if path in files:
            raise SkillError(f"'{path}' stands twice in it")
        if len(files) == MOST_FILES:
            raise SkillError(f"it has more than {MOST_FILES} files")
        left -= len(content)
        if left < 0:
            raise SkillError(f"its files have more than {MOST_BYTES // 1_000_000} MB together")
        files[path] = content
    return files


def _below_manual(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files of the skill, which may lie in one folder of the archive."""
    manuals = [path for path in files if path.rpartition("/")[2] == MANUAL]
    if MANUAL in files:
        return {require_path(path): content for path, content in files.items()}
    if len(manuals) != 1:
        what = f"no {MANUAL}" if not manuals else f"more than one skill: {', '.join(sorted(manuals)[:5])}"
        raise SkillError(f"it has {what}; give it as one folder or archive for each skill")
    top = manuals[0].removesuffix(MANUAL)
    if beside := [path for path in files if not path.startswith(top)]:
        raise SkillError(f"'{beside[0]}' lies beside the folder of the skill")
    return {require_path(path.removeprefix(top)): content for path, content in files.items()}


def _plain(path: str) -> str:
    """A path as it stands in the archive; one that would lead elsewhere is refused, not mended."""
    path = path.removeprefix("./")
    if path.startswith("/") or "\\" in path or ".." in path.split("/") or "\0" in path:
        raise SkillError(f"{path[:200]!r} leads out of the skill's folder")
    return path


def _read_zip(packed: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        entries = archive.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise SkillError(f"it has more than {_MOST_ENTRIES} entries")
        for entry in entries:
            path, kind = _plain(entry.orig_filename), stat.S_IFMT(entry.external_attr >> 16)
            if entry.is_dir():
                continue
            if kind not in (0, stat.S_IFREG):
                raise SkillError(f"'{path}' is a link or a device")
            if entry.flag_bits & _ENCRYPTED:
                raise SkillError(f"'{path}' is encrypted")
            # The size that an entry declares may be a lie, so no more than the limit is unpacked.
            with archive.open(entry) as stream:
                content = stream.read(MOST_BYTES + 1)
            yield path, content


def _read_tar(packed: bytes) -> Iterator[tuple[str, bytes]]:
    if packed[:2] == b"\x1f\x8b":
        # Unpacked up to a limit: a small archive may unpack to any size.
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
            packed = stream.read(_MOST_UNPACKED + 1)
        if len(packed) > _MOST_UNPACKED:
            raise SkillError(f"it unpacks to more than {_MOST_UNPACKED // 1_000_000} MB")
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as archive:
        for number, entry in enumerate(archive):
            if number == _MOST_ENTRIES:
                raise SkillError(f"it has more than {_MOST_ENTRIES} entries")
            path = _plain(entry.name)
            if entry.isdir():
                continue
            if entry.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                raise SkillError(f"'{path}' is a link or a device")
            content = archive.extractfile(entry)
            yield path, content.read(MOST_BYTES + 1) if content else b""
