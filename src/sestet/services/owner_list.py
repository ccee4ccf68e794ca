"""A list of the owner's decisions: a file in the data directory, which no agent and no command can write."""

import fcntl
import json
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from sestet.config.trust import lies_in, replace_file, why_foreign
from sestet.core.record import ValidationError, as_builtins, convert

_Entry = TypeVar("_Entry")


class OwnerList(Generic[_Entry]):
    """Entries of one kind by their keys, below ``name`` in the file. ``error`` says why it is not written."""

    def __init__(
        self,
        file: Path,
        name: str,
        kind: type[_Entry],
        workspaces: Sequence[Path],
        error: Callable[[str], Exception],
    ) -> None:
        self._file = file
        self._name = name
        self._kind = kind
        self._workspaces = workspaces
        self._error = error

    def why_unusable(self, what: str) -> str:
        """Why nothing can be trusted: a fetched folder could have brought the list along."""
        for workspace in self._workspaces:
            if lies_in(self._file.parent, workspace.resolve()):
                return (
                    f"the list of trusted {what}, {self._file}, lies in the workspace itself; "
                    "set SESTET_HOME to a directory outside"
                )
        return ""

    def read(self) -> dict[str, _Entry]:
        """Every entry; a file that another user may have written, or that cannot be read, has none."""
        try:
            if why_foreign(self._file.stat()):
                return {}
            listed = json.loads(self._file.read_bytes())
            return dict(convert(listed[self._name], dict[str, self._kind]))
        except (OSError, ValueError, TypeError, LookupError, ValidationError, RecursionError):
            return {}

    @contextmanager
    def changing(self) -> Generator[dict[str, _Entry]]:
        """The entries as they are now, written at the end; another process that changes them waits."""
        folder = self._file.parent
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # The directory is locked, since the file itself is replaced by another one.
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            entries = self.read()
            yield entries
            self._write(entries)
        finally:
            os.close(lock)

    def _write(self, entries: dict[str, _Entry]) -> None:
        listed = {"version": 1, self._name: as_builtins(entries)}
        try:
            replace_file(self._file, json.dumps(listed, indent=1) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> Exception:
        return self._error(f"{self._file} cannot be written: {error.strerror}")
