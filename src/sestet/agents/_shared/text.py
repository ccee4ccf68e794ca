"""Checks of the text arguments that tools get from a model."""

from sestet.core.errors import ToolError
from sestet.core.label import Label, Origin
from sestet.core.secret_text import refusal
from sestet.core.tool import CallInfo
from sestet.services.memory.own_words import is_own_statement

#: SQLite stores no number with more digits.
_ID_LENGTH = 18


def given(value: str, name: str, most: int = 500) -> str:
    """An argument on one line; raise ToolError if it is empty or too long."""
    return checked(" ".join(value.split()), name, most)


def checked(text: str, name: str, most: int) -> str:
    """The text without outer whitespace; raise ToolError if it is empty, too long or not storable."""
    text = text.strip()
    if not text:
        raise ToolError(f"'{name}' is empty")
    if len(text) > most:
        raise ToolError(f"'{name}' has {len(text):,} characters, and the most is {most:,}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"'{name}' has characters that cannot be stored") from error
    return text


def refuse_secret(text: str) -> None:
    """Raise ToolError if a text to be stored looks like a secret: stored texts are searched and shown."""
    if why := refusal(text):
        raise ToolError(why)


def number_of(wanted: str, letter: str) -> int | None:
    """The number in an id such as m3, with or without its letter; None when there is no such number."""
    digits = wanted.strip().removeprefix(letter)
    return int(digits) if digits.isdecimal() and len(digits) < _ID_LENGTH else None


def not_yours(label: Label) -> str:
    """The mark of a stored row in a list, if others may have written it."""
    return ", perhaps not in your own words" if label.untrusted else ""


def origin_of(call: CallInfo, text: str) -> Origin:
    """The origin of a text that a call stores. A whole statement of the person's message is trusted.

    It stays trusted even if the agent has read untrusted text before.
    """
    if is_own_statement(text, call.words):
        return call.origin._replace(label=Label(private=call.label.private))
    return call.origin
