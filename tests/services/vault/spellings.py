"""The ways to write a secret in a text: encodings that the scanner undoes, and some that it does not."""

import base64
import binascii
import codecs
import gzip
import json
from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import quote

Spelling: TypeAlias = Callable[[str], str]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _each(form: str) -> Spelling:
    return lambda text: "".join(form.format(byte) for byte in text.encode())


#: The scanner finds a value in each of these.
CAUGHT: dict[str, Spelling] = {
    "as it is": lambda text: text,
    "upper case": str.upper,
    "lower case": str.lower,
    "swapped case": str.swapcase,
    "reversed": lambda text: text[::-1],
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "spaces between": " ".join,
    "line ends between": "\n".join,
    "dashes between": "-".join,
    "dots between": ".".join,
    "zero-width spaces between": "\u200b".join,
    "in groups of four": lambda text: " ".join(text[at : at + 4] for at in range(0, len(text), 4)),
    "base64": _base64,
    "base64 without padding": lambda text: _base64(text).rstrip("="),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 of user:password": lambda text: _base64(f"me:{text}"),
    "base64 one byte later": lambda text: _base64(f"x{text}\n"),
    "base64 in lines": lambda text: base64.encodebytes(text.encode() * 2).decode(),
    "base64 with spaces": lambda text: " ".join(_base64(text)),
    "base64 with dashes": lambda text: "-".join(_base64(text)),
    "base64 reversed": lambda text: _base64(text)[::-1],
    "base64 of the reversed": lambda text: _base64(text[::-1]),
    "base64 twice": lambda text: _base64(_base64(text)),
    "base64 of UTF-16": lambda text: base64.b64encode(text.encode("utf-16")).decode(),
    "base64 as hexadecimal": lambda text: _base64(text).encode().hex(),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal in capitals": lambda text: text.encode().hex().upper(),
    "hexadecimal with spaces": lambda text: text.encode().hex(" "),
    "hexadecimal with colons": lambda text: text.encode().hex(":"),
    "hexadecimal with 0x": lambda text: ", ".join(hex(byte) for byte in text.encode()),
    "hexadecimal with \\x": _each("\\x{:02x}"),
    "percent signs": lambda text: quote(text, safe=""),
    "percent signs everywhere": _each("%{:02X}"),
    "zero-width spaces as percent signs": lambda text: quote("\u200b".join(text)),
    "percent signs twice": lambda text: quote(quote(text, safe=""), safe=""),
    "JSON": lambda text: json.dumps(text).replace("/", "\\/"),
    "JSON with \\u": _each("\\u{:04x}"),
    "HTML": _each("&#{};"),
    "HTML in hexadecimal": _each("&#x{:x};"),
    "quoted-printable": _each("={:02X}"),
    "octal": _each("\\{:03o}"),
    "decimal codes": lambda text: " ".join(str(byte) for byte in text.encode()),
    "bits": lambda text: " ".join(f"{byte:08b}" for byte in text.encode()),
}
#: docs/vault.md names these as limits.
MISSED: dict[str, Spelling] = {
    "base85": lambda text: base64.b85encode(text.encode()).decode(),
    "ascii85": lambda text: base64.a85encode(text.encode()).decode(),
    "compressed": lambda text: base64.b64encode(gzip.compress(text.encode())).decode(),
    "uuencode": lambda text: binascii.b2a_uu(text.encode()).decode(),
}
