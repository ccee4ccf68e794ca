"""Finds JSON in a text, also JSON that a small model wrote nearly right."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, cast

from sestet.core.schema import JsonValue

_WORDS: dict[str, JsonValue] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "yes": True,
    "no": False,
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
# JSON numbers, short enough for Python to parse.
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,300})(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![\w.])")
_BARE = re.compile(r"[^\s,:{}\[\]\"']+")
_CLOSING = re.compile(r"\s*([,:}\]]|$)")
_DEEPEST = 40
#: Gives up on a long text full of braces.
_MOST_ATTEMPTS = 50


class Found(NamedTuple):
    """A JSON object or array, and its place in the text."""

    value: JsonValue
    start: int
    end: int


def find_json(text: str) -> Iterator[Found]:
    """Every outermost object or array in the text, from left to right; prose between them is skipped."""
    place = 0
    for _ in range(_MOST_ATTEMPTS):
        opening = re.compile(r"[{\[]").search(text, place)
        if opening is None:
            return
        found = _read_at(text, opening.start())
        if found is None:
            place = opening.start() + 1
            continue
        yield found
        place = found.end


def parse_loosely(text: str) -> JsonValue:
    """The object or array that makes up the whole text; None for any other text."""
    found = next(find_json(text), None)
    whole = found is not None and not text[: found.start].strip() and not text[found.end :].strip()
    return found.value if found is not None and whole else None


def _read_at(text: str, start: int) -> Found | None:
    try:
        value, end = cast("tuple[JsonValue, int]", json.JSONDecoder().raw_decode(text, start))
    except (ValueError, RecursionError):
        reader = _Reader(text, start)
        try:
            value = reader.value(0)
        except _UnreadableError:
            return None
        end = reader.place
        if not value:
            return None
    return Found(value, start, end)


class _UnreadableError(Exception):
    """Not JSON, and not nearly JSON."""


class _Reader:
    """Reads single quotes, bare keys, trailing commas, Python's constants, and JSON that is cut off."""

    def __init__(self, text: str, place: int) -> None:
        self._text = text
        self.place = place

    def value(self, depth: int) -> JsonValue:
        if depth > _DEEPEST:
            raise _UnreadableError
        match self._next():
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case '"' | "'":
                return self._string()
            case "" | "}" | "]" | "," | ":":
                raise _UnreadableError
            case _:
                return self._bare()

    def _object(self, depth: int) -> JsonValue:
        members: dict[str, JsonValue] = {}
        self.place += 1
        while (character := self._next()) not in ("}", ""):
            if character == ",":
                self.place += 1
                continue
            name = self._string() if character in ("'", '"') else str(self._bare())
            if self._next() != ":":
                if not self._next():
                    # Cut off before the value.
                    break
                raise _UnreadableError
            self.place += 1
            if not self._next():
                break
            members[name] = self.value(depth + 1)
        self.place = min(self.place + 1, len(self._text))
        return members

    def _array(self, depth: int) -> JsonValue:
        items: list[JsonValue] = []
        self.place += 1
        while (character := self._next()) not in ("]", ""):
            if character == ",":
                self.place += 1
                continue
            items.append(self.value(depth + 1))
        self.place = min(self.place + 1, len(self._text))
        return items

    def _string(self) -> str:
        quote = self._text[self.place]
        self.place += 1
        pieces: list[str] = []
        while self.place < len(self._text):
            character = self._text[self.place]
            self.place += 1
            if character == "\\" and self.place < len(self._text):
                pieces.append(self._escape())
            elif character == quote and _CLOSING.match(self._text, self.place):
                break
            else:
                # A quote that is not followed by the end of a value belongs to the text.
                pieces.append(character)
        return "".join(pieces)

    def _escape(self) -> str:
        character = self._text[self.place]
        self.place += 1
        if character == "u" and (code := re.compile(r"[0-9a-fA-F]{4}").match(self._text, self.place)):
            self.place = code.end()
            return chr(int(code[0], 16))
        return _ESCAPES.get(character, character)

    def _bare(self) -> JsonValue:
        if number := _NUMBER.match(self._text, self.place):
            self.place = number.end()
            return cast("JsonValue", json.loads(number[0]))
        word = _BARE.match(self._text, self.place)
        if word is None:
            raise _UnreadableError
        self.place = word.end()
        return _WORDS.get(word[0].lower(), word[0])

    def _next(self) -> str:
        """The next character that is not white space; empty at the end."""
        while self.place < len(self._text) and self._text[self.place].isspace():
            self.place += 1
        return self._text[self.place : self.place + 1]
