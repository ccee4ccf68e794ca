"""Answers messages without a request: greetings, thanks, complaints, questions about the assistant itself."""

import re
from functools import cache
from typing import NamedTuple

from sestet.models.offline.patterns import compiled, read_table
from sestet.models.offline.words import with_plain_apostrophe

#: A longer message is more than small talk.
_LONGEST = 200
_PUNCTUATION = re.compile(r"[.,!?;\u2026\"()*~\u2013\u2014-]+")
#: Words as people shorten them in a chat.
_IN_FULL = {
    "u": "you",
    "ya": "you",
    "r": "are",
    "ur": "your",
    "thnx": "thanks",
    "4": "for",
    "thankyou": "thank you",
}
_SHORTENED = re.compile(rf"\b(?:{'|'.join(_IN_FULL)})\b")


class _Phrase(NamedTuple):
    said: re.Pattern[str]
    #: Its place in the file: the earliest kind of a message counts.
    rank: int
    answer: str


def small_talk(text: str) -> str:
    """The answer, with its placeholders; empty for a message that is more than small talk."""
    if len(text) > _LONGEST:
        return ""
    said = " ".join(_PUNCTUATION.sub(" ", with_plain_apostrophe(text.casefold())).split())
    said = _SHORTENED.sub(lambda found: _IN_FULL[found[0]], said)
    found: list[_Phrase] = []
    while said:
        # The longest phrase at the beginning, so that "good morning" is not "good" and a rest.
        best = max(
            ((len(m[0]), phrase) for phrase in _phrases() if (m := phrase.said.match(said))),
            default=None,
            key=_length,
        )
        if best is None:
            return ""
        length, phrase = best
        found.append(phrase)
        said = said[length:].lstrip()
    named = [phrase for phrase in found if phrase.answer]
    return min(named, key=lambda phrase: phrase.rank).answer if named else ""


def _length(pair: tuple[int, _Phrase]) -> int:
    return pair[0]


@cache
def _phrases() -> tuple[_Phrase, ...]:
    data = read_table("small_talk")
    entries = [(entry["said"], entry["answer"]) for entry in data["phrase"]]
    return tuple(
        _Phrase(compiled(rf"(?:{said})(?!\S)"), rank, answer)
        for rank, (said, answer) in enumerate((*entries, (data["fillers"], "")))
    )
