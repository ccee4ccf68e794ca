"""Recognises danger, grief and sadness in a message: these come before every request."""

import re
from functools import cache
from typing import NamedTuple

from sestet.models.offline.patterns import compiled, read_table
from sestet.models.offline.words import is_question, with_plain_apostrophe

#: A longer text is a document, which may tell of anything.
_LONGEST = 300


class Care(NamedTuple):
    answer: str
    #: Whether the answer is all that is said; else the requests of the message are met too.
    alone: bool


def find_care(text: str) -> Care | None:
    """What to say to somebody in danger, in grief or sad; None for any other message."""
    said = with_plain_apostrophe(text)
    if len(said) > _LONGEST:
        return None
    found = next((care for pattern, care in _cares() if pattern.search(said)), None)
    # "Where is the letter about my dog who died?" asks for a letter.
    return None if found is None or (not found.alone and is_question(said)) else found


@cache
def _cares() -> tuple[tuple[re.Pattern[str], Care], ...]:
    return tuple(
        (compiled(entry["said"]), Care(entry["answer"], bool(entry.get("alone"))))
        for entry in read_table("care")["care"]
    )
