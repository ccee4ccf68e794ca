"""Cuts blocks into chunks of 120 to 300 words."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sestet.services.documents.blocks import Block, BlockKind

LEAST_WORDS = 120
MOST_WORDS = 300
#: A last sentence of at most this many words is repeated in the next chunk.
OVERLAP_WORDS = 30
#: Text without spaces is measured by its letters.
_LETTERS_A_WORD = 8

_LINE = re.compile(r"\n")
_SPACE = re.compile(r"\s")
#: Where to cut a block that is too long, the best places first.
_CUTS: dict[BlockKind, tuple[re.Pattern[str], ...]] = {
    "prose": (re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])"), _LINE, _SPACE),  # noqa: RUF001 - East Asian
    "code": (re.compile(r"\n[ \t]*\n(?=\S)"), re.compile(r"\n[ \t]*\n"), _LINE, _SPACE),
    "heading": (_LINE, _SPACE),
}


class Chunk(NamedTuple):
    """A part of a document; ``place`` is its first line, or its page."""

    text: str
    place: int
    headings: tuple[str, ...]


def count_words(text: str) -> int:
    return max(len(text.split()), len(text) // _LETTERS_A_WORD)


def cut_chunks(blocks: Iterable[Block], *, by_page: bool = False) -> Iterator[Chunk]:
    """Chunks of 120 to 300 words where the text allows it; a shorter section joins the next."""
    held: list[Block] = []
    words = 0
    for block in _short_enough(blocks, by_page):
        more = count_words(block.text)
        ends_section = words >= LEAST_WORDS and block.headings != held[-1].headings
        if ends_section or (held and words + more > MOST_WORDS):
            cut = _before_headings(held)
            yield from _chunk(held[:cut])
            held = held[cut:] or _overlap(held[-1], block)
            words = sum(count_words(each.text) for each in held)
        held.append(block)
        words += more
    yield from _chunk(held)


def _chunk(blocks: list[Block]) -> Iterator[Chunk]:
    if blocks:
        text = "\n\n".join(block.text for block in blocks)
        yield Chunk(text, blocks[0].place, blocks[0].headings)


def _before_headings(blocks: list[Block]) -> int:
    """The number of blocks before trailing headings, which belong to the next chunk."""
    count = len(blocks)
    while count and blocks[count - 1].kind == "heading":
        count -= 1
    return count or len(blocks)


def _overlap(last: Block, following: Block) -> list[Block]:
    """The last sentence again, if prose continues in the same section."""
    if last.kind != "prose" or following.kind != "prose" or last.headings != following.headings:
        return []
    start = 0
    for cut in _CUTS["prose"][0].finditer(last.text):
        start = cut.end() if cut.end() < len(last.text) else start
    sentence = last.text[start:].strip()
    if not start or count_words(sentence) > OVERLAP_WORDS:
        return []
    # The place of a chunk is the place of its new text.
    return [last._replace(text=sentence, place=following.place)]


def _short_enough(blocks: Iterable[Block], by_page: bool) -> Iterator[Block]:
    for block in blocks:
        for start, text in _divide(block.text, 0, _CUTS[block.kind]):
            # A place by line moves inside the block; a place by page does not.
            lines = 0 if by_page else block.text.count("\n", 0, start)
            text = text.strip("\n") if block.kind == "code" else text.strip()
            if text.strip():
                yield block._replace(text=text, place=block.place + lines)


def _divide(text: str, start: int, cuts: tuple[re.Pattern[str], ...]) -> Iterator[tuple[int, str]]:
    """Parts of at most ``MOST_WORDS`` with their offsets, cut at the best possible places."""
    if count_words(text) <= MOST_WORDS:
        yield start, text
        return
    if not cuts:
        step = MOST_WORDS * _LETTERS_A_WORD
        yield from ((start + at, text[at : at + step]) for at in range(0, len(text), step))
        return
    first = last = words = 0
    for end in (*(cut.end() for cut in cuts[0].finditer(text)), len(text)):
        more = count_words(text[last:end])
        if words + more > MOST_WORDS and last > first:
            yield from _divide(text[first:last], start + first, cuts[1:])
            first, words = last, 0
        last, words = end, words + more
    yield from _divide(text[first:], start + first, cuts[1:])
