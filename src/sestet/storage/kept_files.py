"""The contents of files before they were changed: one private file for each content, named by its SHA-256."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sestet.core.errors import StorageError

#: The directory beside the database.
DIRECTORY = "undo"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def digest_of(content: bytes) -> str:
    # Loaded on use: most processes change no file.
    from hashlib import sha256

    return sha256(content).hexdigest()


class KeptFile(NamedTuple):
    size: int
    written_at: float


class KeptFiles:
    """Any thread may use it: a content is written whole and never changes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def put(self, content: bytes) -> str:
        """Keep a content; on the disk when this returns. Raises OSError if it cannot be written."""
        digest = digest_of(content)
        file = self.directory / digest
        if file.exists():
            return digest
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = self.directory / f".{os.urandom(8).hex()}"
        try:
            with open(os.open(written, _FLAGS, 0o600), "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            written.rename(file)
        except BaseException:
            with suppress(OSError):
                written.unlink()
            raise
        return digest

    def get(self, digest: str) -> bytes:
        """The content; raises StorageError if it is gone or damaged."""
        try:
            content = (self.directory / digest).read_bytes()
        except FileNotFoundError as error:
            raise StorageError(
                f"'{self.directory}' no longer has what was there before; a backup does not hold it"
            ) from error
        except OSError as error:
            raise StorageError(
                f"{self.directory}: a kept content cannot be read: {error.strerror}"
            ) from error
        if digest_of(content) != digest:
            raise StorageError(f"{self.directory / digest}: the kept content is damaged")
        return content

    def text(self, digest: str) -> str:
        """The content as far as it is a text; empty if it cannot be read."""
        try:
            content = self.get(digest)
        except StorageError:
            return ""
        try:
            return content.decode()
        except UnicodeDecodeError:
            return content.decode("latin-1")

    def remove(self, digests: Iterable[str]) -> None:
        for digest in digests:
            with suppress(OSError):
                (self.directory / digest).unlink()

    def all(self) -> dict[str, KeptFile]:
        """Each kept content by its digest; a file that is being written is left out."""
        found: dict[str, KeptFile] = {}
        with suppress(OSError), os.scandir(self.directory) as entries:
            for entry in entries:
                with suppress(OSError):
                    if not entry.name.startswith("."):
                        state = entry.stat()
                        found[entry.name] = KeptFile(state.st_size, state.st_mtime)
        return found
