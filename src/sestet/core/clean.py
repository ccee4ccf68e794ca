"""Makes text from models, tools and files harmless to a terminal."""

import re

from sestet.core.visible import is_visible

# Whole sequences first, so that their parameters do not stay behind as rubbish: CSI; then OSC, DCS, SOS, PM
# and APC up to their end; then the short ones. In both spellings, with ESC and as one C1 character.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x08\x0e-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")

_CONTROL = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))
# Marks that turn the writing direction: they make a text read differently from its characters.
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
# Characters that a person cannot see and a model still reads.
_INVISIBLE = (*range(0x206A, 0x2070), 0xFEFF, *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080))
_LONE_SURROGATES = range(0xD800, 0xE000)

_TABLE: dict[int, int | None] = {
    **dict.fromkeys((*_CONTROL, *_BIDI, *_INVISIBLE), None),
    **dict.fromkeys(_LONE_SURROGATES, 0xFFFD),
}
# A text that looks like one of our escapes is escaped itself.
_LOOKALIKE = re.compile(r"<(?=U\+[0-9A-F]{4,6}>)")
_DANGEROUS = re.compile("[\u2028\u2029" + "".join(map(re.escape, map(chr, _TABLE))) + "]")


def clean(text: str) -> str:
    """The text without anything that a terminal would obey; line ends and tabs stay."""
    return _LINE_END.sub("\n", _SEQUENCE.sub("", text)).translate(_TABLE)


def one_line(text: str, width: int) -> str:
    """The text as one line of at most ``width`` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def reveal(text: str) -> str:
    """The text with every invisible character written out, as in ``<U+202E>``; only line ends stay.

    Nothing is lost: two texts that differ are shown differently.
    """
    text = _LOOKALIKE.sub(_name, text)
    return "".join(c if c == "\n" or is_visible(c) else _name(c) for c in text)


def _name(character: str | re.Match[str]) -> str:
    return f"<U+{ord(character if isinstance(character, str) else character[0]):04X}>"


def escape_json(text: str) -> str:
    """JSON with every dangerous character escaped: nothing is lost, and nothing is obeyed."""
    return _DANGEROUS.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
