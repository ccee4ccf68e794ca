"""Makes one harmless line out of text that a stranger wrote."""

import re
import unicodedata

_HEADING = re.compile(r"(?<!\S)#+\s*")

# Letters, marks and symbols that are drawn as nothing. Other invisible characters have their own category.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def one_line(text: str, limit: int) -> str:
    """The visible words of ``text`` in one line that cannot pass for a part of a prompt's layout.

    Control characters, marks that turn the writing direction and hidden characters are of category C and are
    dropped. White space of that category still separates words.
    """
    seen = "".join(
        character
        for character in _BLANK.sub("", text).replace("`", "")
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
    line = _HEADING.sub("", " ".join(seen.split())).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
