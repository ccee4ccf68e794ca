"""Finds the vault's values in texts and puts references in their places. Only the broker knows the values."""

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sestet.services.vault.encodings import SHORTEST, fold, folded_views
from sestet.services.vault.entries import REFERENCE

#: Folded characters of a longer value that are recognised without the rest. Each has its own fingerprint, so
#: pieces do not overlap: what the fingerprints tell is spread over the whole value.
PIECE = 16
_MOST_PIECES = 256
#: Places in one text that are replaced one by one, and the bytes of such a text; beyond, nothing is left.
_MOST_PLACES = 12
_MOST_BYTES = 200_000
_WORD_BITS = 64
#: More bits would tell more about a value; with fewer, more ordinary texts would go to the broker.
FINGERPRINT_BITS = 24


class Fingerprints(NamedTuple):
    """What Sestet's own process knows of the values: a few bits of each, made with a random number."""

    multiplier: int
    values: list[int]


class Needle(NamedTuple):
    """A folded text that must not leave the vault, and the entry that it belongs to."""

    text: bytes
    name: str


class Cleaned(NamedTuple):
    text: str
    #: The entries whose values were found.
    found: list[str]


class Watch:
    """The values of one vault, as needles."""

    def __init__(self, values: Iterable[tuple[str, bytes]]) -> None:
        self._values: list[Needle] = []
        self._pieces: list[Needle] = []
        for name, value in values:
            folded = fold(value)
            if len(folded) >= SHORTEST:
                self._values.append(Needle(folded, name))
                self._pieces += (Needle(piece, name) for piece in _pieces(folded))
        # Odd, and as large as the words that it multiplies.
        self._multiplier = int.from_bytes(os.urandom(_WORD_BITS // 8), "big") | 1

    @property
    def names(self) -> set[str]:
        return {needle.name for needle in self._values}

    def fingerprints(self) -> Fingerprints:
        """Enough to notice a value, and not enough to know it."""
        return Fingerprints(
            self._multiplier, sorted({self._fingerprint(piece.text[:SHORTEST]) for piece in self._pieces})
        )

    def holds_any(self, suspects: Iterable[str]) -> bool:
        """Whether one of these folded texts begins with a piece of a value."""
        folded = [suspect.encode() for suspect in suspects]
        return any(suspect.startswith(piece.text) for suspect in folded for piece in self._pieces)

    def clean(self, text: str) -> Cleaned:
        """The text with a reference in the place of each value."""
        content, found = text.encode("utf-8", "surrogatepass"), list[str]()
        # Whole values first: a piece of one would leave the rest of it.
        for needles in (self._values, self._pieces):
            for _ in range(_MOST_PLACES):
                needle = _first_in(content, needles)
                if needle is None:
                    break
                found.append(needle.name)
                if len(content) > _MOST_BYTES:
                    return _withheld(found)
                content = _replaced(content, needle)
            else:
                return _withheld(found)
        if not found:
            return Cleaned(text, [])
        return Cleaned(content.decode("utf-8", "replace"), sorted(set(found)))

    def _fingerprint(self, piece: bytes) -> int:
        word = int.from_bytes(piece, "little")
        return (word * self._multiplier % 2**_WORD_BITS) >> (_WORD_BITS - FINGERPRINT_BITS)


def _withheld(found: list[str]) -> Cleaned:
    names = sorted(set(found))
    return Cleaned(f"[withheld: it held {', '.join(REFERENCE + name for name in names)}]", names)


def _pieces(folded: bytes) -> Iterator[bytes]:
    if len(folded) <= PIECE:
        yield folded
        return
    stride = max(PIECE, len(folded) // _MOST_PIECES)
    for start in range(0, len(folded) - PIECE, stride):
        yield folded[start : start + PIECE]
    yield folded[-PIECE:]


def _first_in(content: bytes, needles: list[Needle]) -> Needle | None:
    for view in folded_views(content):
        for needle in needles:
            if needle.text in view:
                return needle
    return None


def _holds(content: bytes, needle: Needle) -> bool:
    return any(needle.text in view for view in folded_views(content))


def _replaced(content: bytes, needle: Needle) -> bytes:
    """The content without the first place that holds the needle, in whatever encoding.

    The shortest beginning of the content that holds it ends where the place ends; the shortest rest of that
    begins where the place begins. So no encoding has to say where its characters came from.
    """
    least, most = 0, len(content)
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if _holds(content[:middle], needle) else (middle + 1, most)
    end = most
    least, most = 0, end
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if _holds(content[middle:end], needle) else (least, middle - 1)
    start = least
    return content[:start] + f"[{REFERENCE}{needle.name}]".encode() + content[end:]
