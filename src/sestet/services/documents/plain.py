"""Reads markdown, plain text and code, line by line."""

import re
from collections.abc import Iterable, Iterator

from sestet.services.documents.blocks import Block, Gathered, Headings, numbered

_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?P<title>[ \t].*)?$")
_UNDERLINE = re.compile(r"(?P<mark>[=\-~^\"*+#])(?P=mark){2,}[ \t]*$")
#: What markdown itself underlines headings with, and their levels.
_MARKDOWN_LEVELS = {"=": 1, "-": 2}
#: Lines that stand before a definition or end one, in most languages, and name nothing.
_NAMELESS = re.compile(r"""(?:#|//|/\*|\*|--|;|@|<!--|"{3}|'{3}|[})\]]|end\b)""")
_NAME_LENGTH = 80


def read_markdown(lines: Iterable[str]) -> Iterator[Block]:
    """Paragraphs and fenced code below their headings."""
    headings, gathered, fence = Headings(), Gathered(), ""
    for number, line in numbered(lines):
        if fence:
            gathered.add(line, number)
            closes = line.strip().startswith(fence) and not line.strip().strip(fence[0])
            if closes or gathered.is_full:
                yield from gathered.take(headings.path, "code")
            fence = "" if closes else fence
        elif opening := _FENCE.match(line):
            yield from gathered.take(headings.path)
            gathered.add(line, number)
            fence = opening["marks"]
        elif heading := _HEADING.match(line.rstrip("\n")):
            yield from gathered.take(headings.path)
            headings.enter(len(heading["marks"]), _without_marks(heading["title"] or ""))
            yield Block(line.strip(), number, headings.path, "heading")
        elif level := _underlined(line, gathered, _MARKDOWN_LEVELS):
            yield from _heading(level, line, gathered, headings)
        else:
            yield from _paragraph(line, number, gathered, headings.path)
    yield from gathered.take(headings.path, "code" if fence else "prose")


def read_text(lines: Iterable[str]) -> Iterator[Block]:
    """Paragraphs below underlined headings, as in reStructuredText; marks are as deep as they come late."""
    headings, gathered = Headings(), Gathered()
    levels: dict[str, int] = {}
    for number, line in numbered(lines):
        if _is_title(line, gathered):
            levels.setdefault(line[0], len(levels) + 1)
        if level := _underlined(line, gathered, levels):
            yield from _heading(level, line, gathered, headings)
        else:
            yield from _paragraph(line, number, gathered, headings.path)
    yield from gathered.take(headings.path)


def read_code(lines: Iterable[str]) -> Iterator[Block]:
    """Blocks that begin at the margin after an empty line: functions, classes, sections of settings."""
    gathered, name, after_gap = Gathered(), "", True
    for number, line in numbered(lines):
        at_margin = not line[:1].isspace()
        names = at_margin and not _NAMELESS.match(line)
        if (after_gap and at_margin and not line.startswith((")", "]", "}"))) or gathered.is_full:
            yield from gathered.take((name,) if name else (), "code")
            name = ""
        if names and not name:
            name = line.strip().rstrip("{(:=[ ")[:_NAME_LENGTH]
        gathered.add(line, number)
        after_gap = not line.strip()
    yield from gathered.take((name,) if name else (), "code")


def _without_marks(title: str) -> str:
    """A heading's text without the marks that may close it. By hand: a pattern would try every space."""
    title = title.rstrip()
    text = title.rstrip("#")
    return text if text[-1:].isspace() else title


def _paragraph(line: str, number: int, gathered: Gathered, path: tuple[str, ...]) -> Iterator[Block]:
    if line.strip():
        gathered.add(line, number)
    if not line.strip() or gathered.is_full:
        yield from gathered.take(path)


def _heading(level: int, line: str, gathered: Gathered, headings: Headings) -> Iterator[Block]:
    title, place = gathered.lines[0], gathered.place
    gathered.lines.clear()
    headings.enter(level, title)
    yield Block(f"{title.strip()}\n{line.strip()}", place, headings.path, "heading")


def _underlined(line: str, gathered: Gathered, levels: dict[str, int]) -> int:
    """The level of the one line that was gathered, if this line makes it a heading; else 0."""
    return levels.get(line[0], 0) if _is_title(line, gathered) else 0


def _is_title(line: str, gathered: Gathered) -> bool:
    return (
        len(gathered.lines) == 1
        and len(gathered.lines[0]) <= 200
        and not gathered.lines[0].lstrip().startswith(("-", "*", "|", ">"))
        and _UNDERLINE.match(line.rstrip("\n")) is not None
    )
