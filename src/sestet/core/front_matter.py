"""Reads the front matter of AGENT.md and SKILL.md: a strict subset of YAML that needs no YAML library.

A value is text on one line, ``true``/``false``, a list of texts or a map of texts, indented by two spaces.
Anything else is an error that names the line, so the subset never reads differently from YAML. ``parse``
reads what the subset refuses: people write SKILL.md for many programs, in any YAML.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

FrontMatterValue: TypeAlias = str | bool | list[str] | dict[str, str]

_FENCE = "---"
_BOOLEANS = {"true": True, "false": False}
_SPECIAL = tuple("&*!|>%@`'{}[],#?:-~=+.")
# YAML reads these plain words as something other than text.
_NOT_TEXT = frozenset({"yes", "no", "on", "off", "null", "true", "false", ""})
_LINE_END = re.compile(r"\r\n?")
#: Some programs end a line at these, and YAML does not.
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


class FrontMatter(NamedTuple):
    values: Mapping[str, object]
    body: str


class FrontMatterError(ValueError):
    """The line that cannot be read, and why."""


def split(text: str, parse: Callable[[str], Mapping[str, object]] | None = None) -> FrontMatter:
    """Split a document into its front matter and its body.

    ``parse`` gets the front matter that is outside the subset, with an empty line for the first fence.
    """
    lines = _LINE_END.sub("\n", text.removeprefix("\ufeff")).split("\n")
    ends = [number for number, line in enumerate(lines) if line.rstrip(" \t") == _FENCE]
    if len(ends) < 2 or ends[0] != 0:
        raise FrontMatterError("line 1: the document must begin with front matter between two '---' lines")
    front, body = lines[1 : ends[1]], "\n".join(lines[ends[1] + 1 :]).strip() + "\n"
    for number, line in enumerate(front, 2):
        if found := _NO_TEXT.search(line):
            raise FrontMatterError(f"line {number}: has the control character U+{ord(found[0]):04X}")
    try:
        return FrontMatter(_read(front), body)
    except FrontMatterError:
        if parse is None:
            raise
    return FrontMatter(parse("\n".join(("", *front, ""))), body)


def _read(lines: list[str]) -> dict[str, FrontMatterValue]:
    values: dict[str, FrontMatterValue] = {}
    position = 0
    while position < len(lines):
        number = position + 2
        key, text = _pair(lines[position], number)
        if key in values:
            raise FrontMatterError(f"line {number}: the key {key!r} stands twice")
        position += 1
        if text:
            values[key] = _BOOLEANS[text] if text in _BOOLEANS else _scalar(text, number)
            continue
        block = position
        while position < len(lines) and lines[position].startswith("  "):
            position += 1
        values[key] = _block([line[2:] for line in lines[block:position]], block + 2, key)
    return values


def _block(lines: list[str], first: int, key: str) -> list[str] | dict[str, str]:
    if not lines:
        raise FrontMatterError(f"line {first - 1}: the key {key!r} has no value")
    if lines[0].startswith("- "):
        return [_item(line, first + index) for index, line in enumerate(lines)]
    pairs = [(_pair(line, first + index), first + index) for index, line in enumerate(lines)]
    return {name: _scalar(text, number) for (name, text), number in pairs}


def _item(line: str, number: int) -> str:
    if not line.startswith("- "):
        raise FrontMatterError(f"line {number}: expected a list item '- …', got {line!r}")
    return _scalar(line[2:], number)


def _pair(line: str, number: int) -> tuple[str, str]:
    key, colon, text = line.partition(":")
    if not colon or not key or key != key.strip() or (text and not text.startswith(" ")):
        raise FrontMatterError(f"line {number}: expected 'key: value', got {line!r}")
    return key, text.strip(" ")


def _scalar(text: str, number: int) -> str:
    text = text.strip(" ")
    if len(text) >= 2 and text[0] == text[-1] == '"' and '"' not in text[1:-1] and "\\" not in text:
        return text[1:-1]
    if (
        text.startswith((*_SPECIAL, '"'))
        or ": " in text
        or " #" in text
        or "\t" in text
        or text.endswith(":")
    ):
        raise FrontMatterError(f"line {number}: put the text {text!r} in double quotes")
    if text.lower() in _NOT_TEXT or text[0].isdigit():
        raise FrontMatterError(f"line {number}: {text!r} would not be text in YAML; put it in double quotes")
    return text
