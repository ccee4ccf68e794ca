"""Guesses the encoding of a file."""

import codecs
from typing import BinaryIO

_HEAD_BYTES = 65_536
#: Longer marks first, since the UTF-32 mark begins with the UTF-16 mark.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def guess_encoding(stream: BinaryIO) -> str:
    """The encoding by byte order mark, else UTF-8, else Windows-1252."""
    head = stream.read(_HEAD_BYTES)
    stream.seek(0)
    if mark := _by_mark(head):
        return mark
    try:
        # Incremental, since the head may end inside a character.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def is_binary(head: bytes) -> bool:
    """Whether the beginning of a file shows that it is not text."""
    return b"\0" in head and _by_mark(head) is None


def _by_mark(head: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)
