"""The part of a text around the words that were searched for."""

from collections.abc import Sequence

#: Bounds on the search: the characters of the text, and the places of each word.
_LOOKED_AT = 100_000
_MOST_PLACES = 50


def excerpt(text: str, words: Sequence[str], length: int) -> str:
    """The text on one line, or the part of a long text around one of the words, which are in lower case."""
    line = " ".join(text[:_LOOKED_AT].split())
    if len(line) <= length and len(text) <= _LOOKED_AT:
        return line
    lower = line.lower()
    if len(lower) != len(line):  # a letter that has two in lower case would shift all places after it
        lower = line
    places = [place for word in words if (place := _find_word(lower, word)) >= 0]
    start = max(0, min(min(places, default=0) - length // 4, len(line) - length))
    shown = line[start : start + length].strip()
    is_cut = start + length < len(line) or len(text) > _LOOKED_AT
    return f"{'…' if start else ''}{shown}{'…' if is_cut else ''}"


def _find_word(line: str, word: str) -> int:
    """Where a word begins with these letters; -1 if none of the first places is one."""
    place = -1
    for _ in range(_MOST_PLACES):
        place = line.find(word, place + 1)
        if place <= 0 or not line[place - 1].isalnum():
            return place
    return -1
