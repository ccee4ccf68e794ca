"""Answers questions about the use of Sestet: each with a command, and the page that says more."""

import re
from functools import cache

from sestet.models.offline.patterns import compiled, read_table

_LONGEST = 200


def how_to(text: str) -> str:
    """The answer to "how do I make a backup?"; empty for another message."""
    said = " ".join(text.split()).strip(" .?!")
    if len(said) > _LONGEST or not _asks().match(said):
        return ""
    return next((line for pattern, line in _lines() if pattern.search(said)), "")


@cache
def _asks() -> re.Pattern[str]:
    return compiled(read_table("howto")["asks"])


@cache
def _lines() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((compiled(entry["about"]), entry["line"]) for entry in read_table("howto")["howto"])
