"""Reads the structure of a markdown page: headings, tables, links, blocks of code."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"^(?P<marks>`{3,}|~{3,})(?P<info>.*)$")
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")


class Block(NamedTuple):
    """A block of code: the words after its fence, its text, and the number of its first line."""

    info: str
    code: str
    line: int


class Section(NamedTuple):
    """A heading without its marks, and everything up to the next heading of any level."""

    heading: str
    text: str


def read_blocks(page: str) -> list[Block]:
    blocks: list[Block] = []
    marks, info, lines, start = "", "", list[str](), 0
    for number, line in enumerate(page.splitlines(), 1):
        fence = _FENCE.match(line)
        if marks and line == marks:
            blocks.append(Block(info, "".join(f"{each}\n" for each in lines), start))
            marks = ""
        elif marks:
            lines.append(line)
        elif fence:
            marks, info, lines, start = fence["marks"], fence["info"].strip(), [], number
    assert not marks, f"the block of code at line {start} has no end"
    return blocks


def strip_blocks(page: str) -> str:
    """The page without its blocks of code, in which nothing is a heading, a table or a link."""
    kept: list[str] = []
    marks = ""
    for line in page.splitlines():
        fence = _FENCE.match(line)
        if marks:
            marks = "" if line == marks else marks
        elif fence:
            marks = fence["marks"]
        else:
            kept.append(line)
    return "\n".join(kept)


def read_sections(page: str) -> list[Section]:
    parts = re.split(r"^#+ +(.+)$", strip_blocks(page), flags=re.MULTILINE)
    return [Section(plain(heading), text) for heading, text in zip(parts[1::2], parts[2::2], strict=True)]


def read_headings(page: str) -> list[str]:
    return [section.heading for section in read_sections(page)]


def read_first_cells(page: str) -> list[str]:
    """The first cell of each row of each table, without the heads."""
    rows = [line for line in strip_blocks(page).splitlines() if line.startswith("|")]
    cells = [plain(row.split("|")[1]) for row in rows]
    rules = [position for position, cell in enumerate(cells) if set(cell) <= {"-", ":"} and cell]
    heads = {position - 1 for position in rules}
    return [cell for position, cell in enumerate(cells) if position not in heads.union(rules)]


def read_links(page: str) -> Iterator[str]:
    without_code = re.sub(r"`[^`\n]*`", "", strip_blocks(page))
    return (found["target"] for found in _LINK.finditer(without_code))


def read_anchors(page: str) -> set[str]:
    """The names under which a page's headings can be linked to."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in read_headings(page)}


def plain(text: str) -> str:
    return text.strip().replace("`", "")
