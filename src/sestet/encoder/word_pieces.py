"""Splits a text into the word pieces of BERT's uncased vocabulary."""

import re
import unicodedata
import zlib
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("word_pieces.zlib")
_UNKNOWN = "[UNK]"
_LONGEST_WORD = 100
# A word, or one sign. ``_is_alone`` handles ideographs, which are words by themselves.
_TOKEN = re.compile(r"\w+|[^\w\s]")


@cache
def vocabulary() -> dict[str, int]:
    """Every piece with its number; a piece inside of a word begins with ``##``."""
    pieces = zlib.decompress(_FILE.read_bytes()).decode().split("\n")
    return {piece: number for number, piece in enumerate(pieces)}


def encode(text: str, most: int) -> list[int]:
    """The numbers of the text's pieces between the marks of a sentence, at most ``most`` of them."""
    numbers = vocabulary()
    found: list[int] = []
    for word in _split(text):
        found += _pieces(word, numbers)
        if len(found) >= most - 2:
            break
    return [numbers["[CLS]"], *found[: most - 2], numbers["[SEP]"]]


def _split(text: str) -> list[str]:
    # The normalisation that BERT was trained with: lower case, no accents.
    plain = unicodedata.normalize("NFD", text.lower())
    cleaned = "".join(
        f" {character} " if _is_alone(character) else character
        for character in plain
        if unicodedata.category(character) not in {"Mn", "Cc", "Cf", "Cs", "Co", "Cn"}
        or character in "\t\n\r"
    )
    return _TOKEN.findall(cleaned)


def _is_alone(character: str) -> bool:
    """Whether it is a token of its own: an underscore, or a Chinese character."""
    return character == "_" or "\u4e00" <= character <= "\u9fff" or "\u3400" <= character <= "\u4dbf"


def _pieces(word: str, numbers: dict[str, int]) -> list[int]:
    """The longest piece that the word begins with, then the longest that goes on, to its end."""
    if len(word) > _LONGEST_WORD:
        return [numbers[_UNKNOWN]]
    found: list[int] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = numbers.get(prefix + word[start:end])
            if number is not None:
                found.append(number)
                start = end
                break
        else:
            return [numbers[_UNKNOWN]]
    return found
