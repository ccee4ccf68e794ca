"""The owner's decisions on skills: which bytes are trusted, and what was read when a skill was made."""

import fcntl
import json
import os
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sestet.config.trust import lies_in, replace_file, why_foreign
from sestet.core.label import CLEAN, Label
from sestet.core.record import Record, ValidationError, as_builtins, convert, replace
from sestet.services.skills.skill import Skill, SkillError

#: The name of the list in the data directory.
STORE = "skills.json"


class Decision(Record):
    """What is known of one digest. It holds for exactly these bytes, wherever they lie."""

    name: str
    #: The folder that was looked at.
    where: str
    trusted: bool
    at: float
    #: The label of the turn that made the skill; the skill's text keeps it.
    label: Label = CLEAN


class _Listed(Record):
    version: int
    skills: dict[str, Decision]


class TrustList:
    """A file in the data directory, which no agent and no command can write."""

    def __init__(self, data: Path, workspaces: Sequence[Path]) -> None:
        self._data = data
        self._workspaces = workspaces

    def why_unusable(self) -> str:
        """Why nothing can be trusted: a fetched folder could have brought the list along."""
        for workspace in self._workspaces:
            if lies_in(self._data, workspace.resolve()):
                return (
                    f"the list of trusted skills, {self._data / STORE}, lies in the workspace itself; "
                    "set SESTET_HOME to a directory outside"
                )
        return ""

    def read(self) -> dict[str, Decision]:
        """Every decision by its digest; a list that cannot be trusted itself has none."""
        if self.why_unusable():
            return {}
        return self._read()

    def trust(self, skill: Skill, where: str, label: Label | None = None) -> None:
        """Trust exactly these bytes; without a ``label``, they keep the one they were made with."""
        self._decide(skill, where, label, trusted=True)

    def note(self, skill: Skill, where: str, label: Label) -> None:
        """Keep what was read when a skill was made, without trusting it."""
        self._decide(skill, where, label, trusted=False)

    def revoke(self, digest: str) -> bool:
        """Trust these bytes no more; False: they were not trusted. Their label stays."""
        with self._changing() as decisions:
            known = decisions.get(digest)
            if known is None or not known.trusted:
                return False
            decisions[digest] = replace(known, trusted=False, where="")
            return True

    def forget(self, where: str) -> None:
        """Forget every decision that was made on a folder."""
        with self._changing() as decisions:
            for digest in [digest for digest, known in decisions.items() if known.where == where]:
                del decisions[digest]

    def _decide(self, skill: Skill, where: str, label: Label | None, *, trusted: bool) -> None:
        if why := self.why_unusable():
            raise SkillError(why)
        with self._changing() as decisions:
            known = decisions.get(skill.digest)
            kept = (known.label if known else CLEAN) if label is None else label
            decisions[skill.digest] = Decision(skill.name, where, trusted, time.time(), kept)

    def _read(self) -> dict[str, Decision]:
        file = self._data / STORE
        try:
            if why_foreign(file.stat()):
                return {}
            return dict(convert(json.loads(file.read_bytes()), _Listed).skills)
        except (OSError, ValueError, ValidationError, RecursionError):
            return {}

    @contextmanager
    def _changing(self) -> Generator[dict[str, Decision]]:
        """The list as it is at this moment, written at the end; another process that changes it waits."""
        try:
            self._data.mkdir(parents=True, exist_ok=True, mode=0o700)
            # The directory is locked, since the list itself is replaced by another file.
            lock = os.open(self._data, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            decisions = self._read()
            yield decisions
            self._write(decisions)
        finally:
            os.close(lock)

    def _write(self, decisions: Mapping[str, Decision]) -> None:
        listed = as_builtins(_Listed(1, dict(decisions)))
        try:
            replace_file(self._data / STORE, json.dumps(listed, indent=1) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> SkillError:
        return SkillError(f"{self._data / STORE} cannot be written: {error.strerror}")
