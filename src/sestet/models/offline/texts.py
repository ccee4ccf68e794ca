"""The words of a request that are meant for a tool, without those that only say which tool is meant."""

import re
from collections.abc import Set

from sestet.models.offline.parameters import QUOTED
from sestet.models.offline.words import Clause, Word, clauses_of, words_of

_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|on|for|of)\s+(?!it\b|them\b|that\b|this\b)", re.IGNORECASE
)
#: What to do with something that was said before: "put it down", "so bear that in mind".
_ABOUT_IT = re.compile(
    r"(?:(?:so|and|please|do|don't)\s+)*(?:\w+\s+(?:of\s+|rid\s+of\s+)?)?(?:it|that|this|them)\b",
    re.IGNORECASE,
)
_INTRODUCTION = frozenset({"that", "to", "as", "it", "this", "with", "by", "so", "from"})
#: How much of a clause has to speak of the tool for the clause to be no part of the text.
_MOSTLY = 0.6


def quoted(request: str) -> str:
    found = re.search(QUOTED, request)
    return found[0].strip("\"'`“”") if found else ""


def statement(request: str, cues: Set[str]) -> str:
    """What somebody says, as they said it: "I like tea" of "I like tea, remember it"."""
    if text := quoted(request):
        return text
    said = _without_asides(request, cues)
    words = words_of(said)
    first = _end_of_introduction(words, cues)
    end = _start_of_addendum(words, cues)
    text = said[words[first].start : words[end - 1].end] if first < end else said
    return text.strip(" ,;:.!?")


def subject_matter(request: str, cues: Set[str]) -> str:
    """What a search is for: "deposits" of "what is written in the knowledge base about deposits"."""
    if text := quoted(request):
        return text
    said = _without_asides(request, cues)
    about = _ABOUT.search(said)
    # What comes after "about" is the matter, if it says anything at all.
    if about and (text := _core(said[about.end() :], cues)):
        return text
    return _core(said, cues) or _core(request, cues)


def _core(text: str, cues: Set[str]) -> str:
    """From the first to the last word that is neither common nor a cue."""
    telling = [word for word in words_of(text) if not word.is_common and word.stem not in cues]
    return text[telling[0].start : telling[-1].end].removesuffix("'s") if telling else ""


def _without_asides(request: str, cues: Set[str]) -> str:
    """The clauses that say something, without those before and after that only say what to do with it."""
    clauses = list(clauses_of(request))
    telling = [clause for clause in clauses if not _is_aside(clause, cues)]
    return request[telling[0].start : telling[-1].end] if telling else request


def _is_aside(clause: Clause, cues: Set[str]) -> bool:
    if _ABOUT_IT.match(clause.text) and any(word.stem in cues for word in words_of(clause.text)):
        return True
    stems = [word.stem for word in words_of(clause.text) if not word.is_common]
    return sum(stem in cues for stem in stems) >= _MOSTLY * len(stems)


def _end_of_introduction(words: list[Word], cues: Set[str]) -> int:
    """Which word is the first after "add to the knowledge base that"; 0 when it begins with no cue."""
    end = 0
    if words and words[0].stem in cues:
        for index, word in enumerate(words):
            if word.stem in cues or word.text.casefold() in _INTRODUCTION:
                end = index + 1
            elif not word.is_common:
                break
    return end


def _start_of_addendum(words: list[Word], cues: Set[str]) -> int:
    """Which word is the first of "to the knowledge base" at the end."""
    index = start = len(words)
    while index and (words[index - 1].is_common or words[index - 1].stem in cues):
        index -= 1
        if words[index].text.casefold() in ("in", "into", "to", "as", "under"):
            start = index if any(word.stem in cues for word in words[index:]) else start
    return start
