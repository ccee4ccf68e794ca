"""How the tools of several rooms take text from a model and write dates for the person."""

import re

from sestet.core.errors import ToolError
from sestet.core.label import Label, Origin
from sestet.core.tool import CallInfo

#: SQLite stores no number with more digits.
_ID_LENGTH = 18


def given(value: str, name: str, most: int = 500) -> str:
    """An argument as one tidy line; a ToolError when nothing is left of it, or too much."""
    return checked(" ".join(value.split()), name, most)


def checked(text: str, name: str, most: int) -> str:
    """The text as it stands, if there is any, if it is not too long, and if it can be stored at all."""
    text = text.strip()
    if not text:
        raise ToolError(f"'{name}' is empty")
    if len(text) > most:
        raise ToolError(f"'{name}' has {len(text):,} characters, and the most is {most:,}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"'{name}' holds characters that are not text") from error
    return text


def number_of(wanted: str, letter: str) -> int | None:
    """The number in an id such as m3, with or without its letter; None when there is no such number."""
    digits = wanted.strip().removeprefix(letter)
    return int(digits) if digits.isdecimal() and len(digits) < _ID_LENGTH else None


def origin_of(call: CallInfo, text: str) -> Origin:
    """Where a text comes from that a call stores: what stands in the person's message as it is, is theirs.

    Whatever else was read before it, nobody else has written it.
    """
    said = " ".join(call.words.casefold().split())
    if re.search(rf"(?<!\w){re.escape(text.casefold())}(?!\w)", said):
        return call.origin._replace(label=Label(private=call.label.private))
    return call.origin
