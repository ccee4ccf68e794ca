"""What a reader makes of a file: blocks of text, in order, each with its headings and its place."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from sestet.core.errors import SestetError

BlockKind: TypeAlias = Literal["prose", "code", "heading"]
DocumentKind: TypeAlias = Literal["markdown", "text", "code", "html", "pdf"]

#: No block and no line is ever longer: memory stays flat, whatever a file holds.
LONGEST = 64_000


class Block(NamedTuple):
    """A paragraph, a heading or a piece of code; ``place`` is its first line, or its page."""

    text: str
    place: int
    headings: tuple[str, ...] = ()
    kind: BlockKind = "prose"


class BrokenFileError(SestetError):
    """A file that cannot be read as what it seems to be; the text says why."""


class Headings:
    """The headings above the place where a reader stands."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        """Go on below this heading, and leave those of its own level and of deeper ones."""
        self._open = [(other, text) for other, text in self._open if other < level]
        self._open.append((level, " ".join(title.split())[:200]))

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._open if text)


class Gathered:
    """Lines that are still growing into a block."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.place = 0
        self._length = 0

    def add(self, line: str, place: int) -> None:
        if not self.lines:
            self.place = place
        self.lines.append(line)
        self._length += len(line)

    @property
    def is_full(self) -> bool:
        return self._length >= LONGEST

    def take(self, headings: tuple[str, ...], kind: BlockKind = "prose") -> Iterator[Block]:
        """The block of these lines, if they hold anything, and begin anew."""
        text = "".join(self.lines).rstrip()
        place = self.place
        self.lines, self._length = [], 0
        if text.strip():
            yield Block(text if kind == "code" else text.strip(), place, headings, kind)


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Lines with their numbers from 1; one that came in several parts keeps its number."""
    number, whole = 0, True
    for line in lines:
        number += whole
        whole = line.endswith("\n")
        yield number, line
