"""Blocks: the pieces of text that a reader makes of a file, each with its headings and place."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from sestet.core.errors import SestetError

BlockKind: TypeAlias = Literal["prose", "code", "heading"]
DocumentKind: TypeAlias = Literal["markdown", "text", "code", "html", "pdf"]

#: The most characters of a block or line, so that memory stays flat for any file.
LONGEST = 64_000


class Block(NamedTuple):
    """A paragraph, a heading or a piece of code; ``place`` is its first line, or its page."""

    text: str
    place: int
    headings: tuple[str, ...] = ()
    kind: BlockKind = "prose"


class BrokenFileError(SestetError):
    """A file that cannot be read as its kind; the text says why."""


class Headings:
    """The headings above the current place of a reader."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        """Enter a heading, and leave headings of the same or a deeper level."""
        self._open = [(other, text) for other, text in self._open if other < level]
        self._open.append((level, " ".join(title.split())[:200]))

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._open if text)


class Gathered:
    """Lines collected for the next block."""

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
        """Yield the collected lines as a block unless they are empty, and start over."""
        text = "".join(self.lines).rstrip()
        place = self.place
        self.lines, self._length = [], 0
        if text.strip():
            yield Block(text if kind == "code" else text.strip(), place, headings, kind)


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Lines with their numbers from 1; the parts of a long line share its number."""
    number, whole = 0, True
    for line in lines:
        number += whole
        whole = line.endswith("\n")
        yield number, line
