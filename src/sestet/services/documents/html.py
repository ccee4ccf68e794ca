"""Reads what a person would read of an HTML page."""

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser

from sestet.services.documents.blocks import LONGEST, Block, BlockKind, Headings

_DROPPED = frozenset({"script", "style", "nav", "noscript", "template", "svg", "iframe", "button", "select"})
#: Where these begin, the text of the page goes on, whatever was left open before.
_CONTENT = frozenset({"body", "main", "article", "h1"})
_INLINE = frozenset(
    # One text is easier to read and to keep than a list of quoted words.
    """
    a abbr b bdi bdo cite code data del dfn em font i img ins kbd label mark q s samp small span strong sub
    sup time tt u var wbr
    """.split()  # noqa: SIM905
)
_HEADING = re.compile(r"h[1-6]")


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
        elif _HEADING.fullmatch(tag) or tag == "title":
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
        """What was gathered is a block; whitespace means something in code alone."""
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
    """The text of a page below its headings, without what is not said to the reader."""
    page = _Page()
    for piece in pieces:
        page.feed(piece)
        yield from page.blocks
        page.blocks.clear()
    page.close()
    page.finish()
    yield from page.blocks
