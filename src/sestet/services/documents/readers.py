"""Readers that turn markdown, plain text, code, HTML and PDF into blocks."""

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import BinaryIO

from sestet.services.documents.blocks import (
    LONGEST,
    Block,
    BlockKind,
    BrokenFileError,
    Gathered,
    Headings,
    numbered,
)

_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?P<title>[ \t].*)?$")
_UNDERLINE = re.compile(r"(?P<mark>[=\-~^\"*+#])(?P=mark){2,}[ \t]*$")
#: The marks that underline headings in markdown, and their levels.
_MARKDOWN_LEVELS = {"=": 1, "-": 2}
#: Lines before or after a definition in most languages; they name nothing.
_NAMELESS = re.compile(r"""(?:#|//|/\*|\*|--|;|@|<!--|"{3}|'{3}|[})\]]|end\b)""")
_NAME_LENGTH = 80
_DROPPED = frozenset({"script", "style", "nav", "noscript", "template", "svg", "iframe", "button", "select"})
#: These tags begin the text of a page, even if a dropped tag was not closed.
_CONTENT = frozenset({"body", "main", "article", "h1"})
_INLINE = frozenset(
    # One text is easier to read and to keep than a list of quoted words.
    """
    a abbr b bdi bdo cite code data del dfn em font i img ins kbd label mark q s samp small span strong sub
    sup time tt u var wbr
    """.split()  # noqa: SIM905
)
_HTML_HEADING = re.compile(r"h[1-6]")


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
    """Paragraphs below underlined headings, as in reStructuredText; each new mark is one level deeper."""
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
    """Blocks that start at the margin after an empty line: functions, classes, sections of settings."""
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
    """A heading without its closing marks. No regular expression: it would backtrack over spaces."""
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
    """The heading level of the one gathered line, if this line underlines it; else 0."""
    return levels.get(line[0], 0) if _is_title(line, gathered) else 0


def _is_title(line: str, gathered: Gathered) -> bool:
    return (
        len(gathered.lines) == 1
        and len(gathered.lines[0]) <= 200
        and not gathered.lines[0].lstrip().startswith(("-", "*", "|", ">"))
        and _UNDERLINE.match(line.rstrip("\n")) is not None
    )


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self._headings = Headings()
        self._text: list[str] = []
        self._length = self._dropped = 0
        self._place = 1
        self._level: int | None = None
        self._kind: BlockKind = "prose"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _CONTENT:
            self._dropped = 0
        if tag in _DROPPED:
            self._dropped += 1
        if tag in _INLINE:
            return
        if tag in ("td", "th", "br"):
            self._text.append("\n" if tag == "br" else "  ")
            return
        self.finish()
        if tag == "pre":
            self._kind = "code"
        elif _HTML_HEADING.fullmatch(tag) or tag == "title":
            self._level = 1 if tag == "title" else int(tag[1])

    def handle_endtag(self, tag: str) -> None:
        if tag in _DROPPED:
            self._dropped = max(0, self._dropped - 1)
        if tag not in _INLINE and tag not in ("td", "th", "br"):
            self.finish()

    def handle_data(self, data: str) -> None:
        if self._dropped:
            return
        if not self._length and data.strip():
            lines_before = data[: len(data) - len(data.lstrip())].count("\n")
            self._place = self.getpos()[0] + lines_before
        self._text.append(data)
        self._length += len(data.strip())
        if self._length >= LONGEST:
            self.finish()

    def finish(self) -> None:
        """Make a block of the gathered text; whitespace is kept in code only."""
        text = "".join(self._text)
        if self._kind != "code":
            lines = (" ".join(line.split()) for line in text.split("\n"))
            text = " ".join(line for line in lines if line)
        if text.strip():
            if self._level is not None:
                self._headings.enter(self._level, text)
            kind = self._kind if self._level is None else "heading"
            self.blocks.append(Block(text.strip("\n"), self._place, self._headings.path, kind))
        self._text, self._length, self._level, self._kind = [], 0, None, "prose"


def read_html(pieces: Iterable[str]) -> Iterator[Block]:
    """The text of a page below its headings, without scripts, styles and navigation."""
    page = _Page()
    for piece in pieces:
        page.feed(piece)
        yield from page.blocks
        page.blocks.clear()
    page.close()
    page.finish()
    yield from page.blocks


def read_pdf(stream: BinaryIO) -> Iterator[Block]:
    """One or more blocks for each page; a page without text, such as a scan, gives none."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(stream)
        if reader.is_encrypted and not reader.decrypt(""):
            raise BrokenFileError("it is locked with a password")
        for number, page in enumerate(reader.pages, 1):
            text = page.extract_text().encode("utf-8", "replace").decode()
            for start in range(0, len(text), LONGEST):
                yield Block(text[start : start + LONGEST].strip(), number)
    except BrokenFileError:
        raise
    except MemoryError:
        raise BrokenFileError("it takes too much memory to read") from None
    except RecursionError:
        raise BrokenFileError("it is nested too deeply") from None
    except PyPdfError as error:
        raise BrokenFileError(f"it is damaged: {error}") from error
    except Exception as error:  # the parser may raise anything for a damaged file
        raise BrokenFileError(f"it is damaged: {type(error).__name__}: {error}") from error
