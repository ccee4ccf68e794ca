"""Bytes as text, whatever they were written with."""

import codecs
import io
from typing import BinaryIO

_HEAD_BYTES = 65_536
#: The longer ones first: one begins with the other.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decoded(stream: BinaryIO) -> io.TextIOWrapper:
    """The stream as text; what is not UTF-8 is taken for Windows' Latin, and nothing is ever refused."""
    head = stream.read(_HEAD_BYTES)
    stream.seek(0)
    return io.TextIOWrapper(stream, encoding=_encoding(head), errors="replace")


def is_binary(head: bytes) -> bool:
    """Whether the beginning of a file shows that it is not text."""
    return b"\0" in head and _by_mark(head) is None


def _by_mark(head: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)


def _encoding(head: bytes) -> str:
    if mark := _by_mark(head):
        return mark
    try:
        # A character that the end of the head cuts in two is no mistake.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
