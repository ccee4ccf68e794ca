"""The owner's decisions on skills: which bytes are trusted, and what was read when a skill was made."""

import time
from collections.abc import Sequence
from pathlib import Path

from sestet.core.label import CLEAN, Label
from sestet.core.record import Record, replace
from sestet.services.owner_list import OwnerList
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


class TrustList:
    """The decisions on skills, by their digests."""

    def __init__(self, data: Path, workspaces: Sequence[Path]) -> None:
        self._list = OwnerList(data / STORE, "skills", Decision, workspaces, SkillError)

    def why_unusable(self) -> str:
        """Why nothing can be trusted; empty: something can."""
        return self._list.why_unusable("skills")

    def read(self) -> dict[str, Decision]:
        """Every decision by its digest; a list that cannot be trusted itself has none."""
        return {} if self.why_unusable() else self._list.read()

    def trust(self, skill: Skill, where: str, label: Label | None = None) -> None:
        """Trust exactly these bytes; without a ``label``, they keep the one they were made with."""
        self._decide(skill, where, label, trusted=True)

    def note(self, skill: Skill, where: str, label: Label) -> None:
        """Keep what was read when a skill was made, without trusting it."""
        self._decide(skill, where, label, trusted=False)

    def revoke(self, digest: str) -> bool:
        """Trust these bytes no more; False: they were not trusted. Their label stays."""
        with self._list.changing() as decisions:
            known = decisions.get(digest)
            if known is None or not known.trusted:
                return False
            decisions[digest] = replace(known, trusted=False, where="")
            return True

    def forget(self, where: str) -> None:
        """Forget every decision that was made on a folder."""
        with self._list.changing() as decisions:
            for digest in [digest for digest, known in decisions.items() if known.where == where]:
                del decisions[digest]

    def _decide(self, skill: Skill, where: str, label: Label | None, *, trusted: bool) -> None:
        if why := self.why_unusable():
            raise SkillError(why)
        with self._list.changing() as decisions:
            known = decisions.get(skill.digest)
            kept = (known.label if known else CLEAN) if label is None else label
            decisions[skill.digest] = Decision(skill.name, where, trusted, time.time(), kept)
