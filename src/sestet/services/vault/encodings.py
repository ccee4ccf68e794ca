"""Undoes the encodings in which a value can stand in a text, and folds the results to letters and digits.

A value is looked for in the folded texts, so case, spaces and joiners between its characters change nothing.
Texts are read as bytes in UTF-8.
"""

import binascii
import html
import re
from collections.abc import Iterator
from contextlib import suppress

#: Fewer folded characters than this have no form of their own: they stand in ordinary texts too.
SHORTEST = 8
#: Encodings inside of encodings that are undone.
_DEPTH = 3
#: The longest reference of HTML, such as ``&CounterClockwiseContourIntegral;``, is not longer.
_ESCAPE = re.compile(
    rb"%([0-9A-Fa-f]{2})|\\x([0-9A-Fa-f]{2})|\\u00([0-9A-Fa-f]{2})|=([0-9A-Fa-f]{2})"
    rb"|\\([0-3][0-7]{2})|\\([abfnrtv\\/\"'])|(&#?\w{1,32};)|(?:=\r?\n)"
)
_ESCAPE_SIGNS = re.compile(rb"[%\\=&]")
_CODES = re.compile(rb"(?<!\w)\d{2,3}(?!\w)")
#: Eight characters in base32.
_LEAST_BASE32 = 13
_BASE32 = re.compile(rb"[A-Z2-7]{%d,}|[a-z2-7]{%d,}" % (_LEAST_BASE32, _LEAST_BASE32))
#: A decoded text that matters holds a value, or another encoding of one: signs that can be typed. UTF-16 has
#: zeros between them.
_TEXT = re.compile(rb"[\x00\t\n\r\x20-\x7e]{%d,}" % SHORTEST)
_HEX_MARK = re.compile(rb"0[xX]")

_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_UPPER = _LETTERS.upper()
_DIGITS = b"0123456789"


def _all_but(kept: bytes) -> bytes:
    return bytes(set(range(256)) - set(kept))


_FOLD = bytes.maketrans(_UPPER, _LETTERS)
_NOT_FOLDED = _all_but(_LETTERS + _UPPER + _DIGITS)
_ROTATE = bytes.maketrans(_LETTERS + _UPPER, (_LETTERS[13:] + _LETTERS[:13]) * 2)
_NOT_BASE64 = _all_but(_LETTERS + _UPPER + _DIGITS + b"+/-_")
_NOT_BASE64_JOINED = _all_but(_LETTERS + _UPPER + _DIGITS + b"+/")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
#: The letters of base32 as the digits that Python reads as a number: one step for a whole text.
_BASE32_DIGITS = bytes.maketrans(_UPPER + b"234567", _DIGITS + _LETTERS[:22])
_NOT_HEX = _all_but(_DIGITS + b"abcdefABCDEF")
_NOT_BINARY = _all_but(b"01")
_NOT_DIGITS = _all_but(_DIGITS)
#: 1 for each sign that can be typed, 0 for any other byte.
_IS_TEXT = bytes(int(byte in b"\x00\t\n\r" or 0x20 <= byte <= 0x7E) for byte in range(256))


def fold(content: bytes) -> bytes:
    """Lower case letters and digits alone."""
    return content.translate(_FOLD, _NOT_FOLDED)


def folded_views(content: bytes) -> Iterator[bytes]:
    """The content and everything that it may encode, each folded; what is too short is left out."""
    seen: set[bytes] = set()
    ahead = [(content, 0), (content[::-1], 0)]
    while ahead:
        text, depth = ahead.pop()
        for view in (fold(text), text.translate(_ROTATE, _NOT_FOLDED)):
            if len(view) >= SHORTEST:
                yield view
        if depth == _DEPTH:
            continue
        for run in (*_unescaped(text), *_runs(text)):
            if run not in seen:
                seen.add(run)
                ahead.append((run, depth + 1))
                if depth == 0:
                    ahead.append((run[::-1], depth + 1))


def _runs(text: bytes) -> Iterator[bytes]:
    """The texts in what the text may encode. Decoded ordinary text has no run of signs that can be typed."""
    for decoded in _decoded(text):
        if _has_run(decoded):
            yield from (found[0] for found in _TEXT.finditer(decoded))


def _unescaped(text: bytes) -> Iterator[bytes]:
    """The text with its escapes undone, if it has any."""
    if _ESCAPE_SIGNS.search(text) and (plain := _ESCAPE.sub(_unescape, text)) != text:
        yield plain


def _has_run(decoded: bytes) -> bool:
    """Whether there is a run of text, which a decoded ordinary text does not have.

    One large number holds a flag for each byte, so a few shifts look at all of them at once: far less work
    than a regular expression, and almost every text ends here.
    """
    flags = int.from_bytes(decoded.translate(_IS_TEXT), "little")
    for distance in (1, 2, 4):
        flags &= flags >> (8 * distance)
    return flags != 0


def _decoded(text: bytes) -> Iterator[bytes]:
    for joined in {text.translate(_URL_SAFE, _NOT_BASE64), text.translate(None, _NOT_BASE64_JOINED)}:
        for offset in range(4):
            yield _base64(joined[offset:])
    yield from _hexadecimal(_HEX_MARK.sub(b"", text).translate(None, _NOT_HEX))
    yield from _binary(text.translate(None, _NOT_BINARY))
    for run in _BASE32.findall(b" ".join(word for word in text.split() if len(word) >= _LEAST_BASE32)):
        yield from _base32(run.upper())
    if len(text.translate(None, _NOT_DIGITS)) >= 2 * SHORTEST:
        yield bytes(code for code in map(int, _CODES.findall(text)) if code < 256)


def _unescape(found: "re.Match[bytes]") -> bytes:
    percent, hexadecimal, unicode, printable, octal, letter, reference = found.groups()
    if digits := percent or hexadecimal or unicode or printable:
        return bytes.fromhex(digits.decode())
    if octal:
        return bytes([int(octal, 8)])
    if reference:
        return html.unescape(reference.decode()).encode("utf-8", "surrogatepass")
    # Of an escaped line end nothing is left, so that its letter does not stand inside of a value.
    return letter if letter in (b"/", b"\\", b'"', b"'") else b""


def _base64(text: bytes) -> bytes:
    # The last group may be incomplete: what it lacks is filled with zeros.
    with suppress(binascii.Error):
        return binascii.a2b_base64(text + b"A" * (-len(text) % 4))
    return b""


def _hexadecimal(digits: bytes) -> Iterator[bytes]:
    for offset in range(2):
        part = digits[offset:]
        yield binascii.a2b_hex(part[: len(part) // 2 * 2])


def _binary(digits: bytes) -> Iterator[bytes]:
    if len(digits) < 8 * SHORTEST:
        return
    for offset in range(8):
        size = (len(digits) - offset) // 8
        yield int(digits[offset : offset + 8 * size], 2).to_bytes(size, "big")


def _base32(run: bytes) -> Iterator[bytes]:
    digits = run.translate(_BASE32_DIGITS)
    for offset in range(8):
        bits = 5 * (len(digits) - offset)
        yield (int(digits[offset:], 32) >> bits % 8).to_bytes(bits // 8, "big")
