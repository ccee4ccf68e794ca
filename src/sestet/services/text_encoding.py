"""Reads text whose encoding nobody states: UTF-8, UTF-16, UTF-32 or Windows-1252, which holds latin-1."""

import codecs
from io import BytesIO
from typing import BinaryIO

_PIECE_BYTES = 1_048_576
#: Longer marks first, since the UTF-32 mark begins with the UTF-16 mark.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PDF = b"%PDF-"


def guess_encoding(stream: BinaryIO) -> str:
    """The encoding by byte order mark, else UTF-8, else Windows-1252; the stream is rewound.

    Reads the whole stream, since the first letter that is not ASCII may be far down.
    """
    mark = encoding_by_mark(stream.read(4))
    stream.seek(0)
    if mark is not None:
        return mark
    sound = broken = 0
    pieces = iter(lambda: stream.read(_PIECE_BYTES), b"")
    for text in codecs.iterdecode(pieces, "utf-8", "surrogateescape"):
        if not text.isascii():
            # Each broken byte is a surrogate, which no encoding takes.
            characters = len(text.encode("utf-32-le", "ignore")) // 4
            broken += len(text) - characters
            sound += characters - len(text.encode("ascii", "ignore"))
    stream.seek(0)
    # Some bytes of UTF-8 may be broken; letters of Windows-1252 almost never form a character of UTF-8.
    return "cp1252" if broken > sound else "utf-8"


def decode_text(data: bytes) -> str:
    """The text of a whole file or of whole lines, with plain line ends and without a byte order mark."""
    return data.decode(guess_encoding(BytesIO(data)), "replace").replace("\r\n", "\n")


def is_binary(head: bytes) -> bool:
    """Whether the beginning of a file shows that it is not text."""
    return head.startswith(_PDF) or (b"\0" in head and encoding_by_mark(head) is None)


def encoding_by_mark(head: bytes) -> str | None:
    """The encoding that a byte order mark states; None without a mark."""
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)
