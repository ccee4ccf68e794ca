"""Tells characters that a person can see from those that only a program reads."""

import re

# Characters that count as printable and show nothing.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0"
    "\ufe00-\ufe0f\U0001d159\U000e0100-\U000e01ef]"
)


def is_visible(text: str) -> bool:
    """Whether a person sees every character of the text as it is. A blank counts as visible."""
    return text.isprintable() and not _BLANK.search(text)
