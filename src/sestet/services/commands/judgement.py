"""The judgement of a command line, and the owner's rules for it."""

from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from sestet.core.record import Record

Kind: TypeAlias = Literal["blocked", "read_only", "allowed", "asks"]


class JudgedPart(Record):
    """A simple command of the line, as it is written."""

    source: str
    #: It only reads, or the owner allows it.
    harmless: bool


class Judgement(Record):
    kind: Kind
    #: Why it is blocked, or why the person is asked; a clause for people.
    why: str = ""
    parts: tuple[JudgedPart, ...] = ()
    #: The owner lets it use the network.
    network: bool = False
    #: The whole line is one plain command that the owner allows.
    allowed_alone: bool = False


class OwnerRules(Record):
    """Patterns such as ``pytest *`` for commands that the owner allows."""

    allowed: tuple[str, ...] = ()
    network: tuple[str, ...] = ()

    def allows(self, written: str) -> bool:
        return any(fnmatchcase(written, pattern) for pattern in self.allowed)

    def gives_network(self, written: str) -> bool:
        return any(fnmatchcase(written, pattern) for pattern in self.network)
