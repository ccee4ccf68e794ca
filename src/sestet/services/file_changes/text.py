"""The text of a file, with the encoding and the line ends to write it back with."""

import codecs
from io import BytesIO

from sestet.core.errors import ToolError
from sestet.core.record import Record
from sestet.services.safe_open import quoted
from sestet.services.text_encoding import guess_encoding, is_binary

_HEAD_BYTES = 65_536
#: How an encoding is called in an error, and how its text begins.
_UTF_8, _UTF_8_MARKED, _WESTERN = "utf-8", "utf-8-sig", "cp1252"
_SHOWN = {_WESTERN: "Windows-1252 (Latin-1)"}
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
#: Windows-1252, in which each byte has a character: one that it does not define is read as in Latin-1.
_WESTERN_CHARACTERS = {
    byte: ord(bytes([byte]).decode(_WESTERN, "ignore") or chr(byte)) for byte in range(256)
}
_WESTERN_BYTES = {character: byte for byte, character in _WESTERN_CHARACTERS.items()}
_MOST_NAMED = 5


class FileText(Record):
    """The text of one file. ``encode`` gives every other byte back as it was."""

    path: str
    text: str
    encoding: str = _UTF_8
    #: The byte order mark at the beginning.
    mark: bytes = b""
    #: Every line ends with CR and LF.
    is_crlf: bool = False

    def encode(self, text: str) -> bytes:
        """A text as bytes of this file: in its encoding and with its line ends."""
        if "\0" in text:
            raise ToolError(
                f"a text for {quoted(self.path)} has a NUL character, which text files never have"
            )
        if self.is_crlf:
            text = text.replace("\r\n", "\n").replace("\n", "\r\n")
        try:
            return self.mark + _encode(text, self.encoding)
        except UnicodeEncodeError as error:
            wrong = text[error.start]
            named = _SHOWN.get(self.encoding, self.encoding.upper())
            raise ToolError(
                f"{quoted(self.path)} is written in {named}, which has no {wrong!r}; nothing was changed"
            ) from error

    def replace(self, old: str, new: str) -> str:
        """The text with ``new`` in place of ``old``, which must stand in it exactly once."""
        if not old:
            raise ToolError("the text to replace is empty; give the exact text that stands in the file")
        old, new = (self._as_written(part, old) for part in (old, new))
        count = self.text.count(old)
        if count == 0:
            raise ToolError(
                f"{quoted(self.path)} does not contain the text to replace; it must stand there exactly, "
                "with the same blanks and line ends"
            )
        if count > 1:
            raise ToolError(
                f"{quoted(self.path)} contains the text to replace {count} times, at {self._lines_of(old)}; "
                "give more of the text around the one that you mean"
            )
        if old == new:
            raise ToolError("the old and the new text are the same, so nothing would change")
        return self.text.replace(old, new)

    def _as_written(self, part: str, old: str) -> str:
        """A text with the line ends of the file: a model reads lines that end with LF alone."""
        if self.is_crlf or ("\n" in old and old not in self.text and _crlf(old) in self.text):
            return _crlf(part)
        return part

    def _lines_of(self, old: str) -> str:
        lines: list[str] = []
        position = self.text.find(old)
        while position >= 0 and len(lines) < _MOST_NAMED:
            lines.append(str(self.text.count("\n", 0, position) + 1))
            position = self.text.find(old, position + len(old))
        more = " and more" if position >= 0 else ""
        return f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}{more}"


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _encode(text: str, encoding: str) -> bytes:
    if encoding != _WESTERN:
        return text.encode(encoding)
    return codecs.charmap_encode(text, "strict", _WESTERN_BYTES)[0]


def read_text(path: str, content: bytes) -> FileText:
    """The text of a file; an error for a file that is no text."""
    if is_binary(content[:_HEAD_BYTES]):
        raise ToolError(f"{quoted(path)} is not a text file")
    mark, encoding = _mark_and_encoding(content)
    body = content[len(mark) :]
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding not in (_UTF_8, _WESTERN):
            raise ToolError(f"{quoted(path)} is not a whole {encoding.upper()} text") from error
        encoding = _WESTERN
        text = codecs.charmap_decode(body, "strict", _WESTERN_CHARACTERS)[0]
    line_ends = text.count("\n")
    return FileText(path, text, encoding, mark, is_crlf=0 < line_ends == text.count("\r\n"))


def _mark_and_encoding(content: bytes) -> tuple[bytes, str]:
    for mark, encoding in _WIDE.items():
        if content.startswith(mark):
            return mark, encoding
    guessed = guess_encoding(BytesIO(content))
    if guessed == _UTF_8_MARKED:
        return codecs.BOM_UTF8, _UTF_8
    return b"", guessed
