"""The words of a request: its clauses and stems, without courtesies."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from sestet.core.words import COMMON_WORDS, stem
from sestet.models.offline.patterns import patterns_of

_SAID = patterns_of("words")

#: A long gap would make the patterns slow, since they try every part of it.
_GAP = re.compile(r"\s{20,}")
_PUNCTUATION = " \t\r\n.!?,"
_ENDINGS = (
    "please",
    "pls",
    "for me",
    "to me",
    "thanks",
    "thank you",
    "will you",
    "would you",
    "again",
    "if that is possible",
    "if possible",
    "if you can",
    "if you could",
    "if you please",
    "though",
    "then",
    "btw",
    "by the way",
    "right now",
)
_CONTRACTED = re.compile(r"\b(who|what|where|when|how)'?s\b", re.IGNORECASE)
_WORD = re.compile(r"[\w'./~*@-]*[\w*]")
#: Where one clause ends and the next begins. A long gap is matched only from its beginning.
_BOUNDARY = re.compile(r"(?<=[.!?;:,])\s+|(?<!\s)\s+[\u2013\u2014-]\s+")
_ARTICLE = re.compile(r"^(?:the|an?|my|our|any|some)\s+", re.IGNORECASE)
_APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"


#: Words that say nothing about what is wanted.
COMMON = COMMON_WORDS | frozenset(
    """
    all any anything but can could done down ever get give go got here i'd i'm i've if into just let like
    mine more need no not now once one only out over please s said say should so some something than then
    there these those too up want would
    """.split()  # noqa: SIM905
)


class Word(NamedTuple):
    """A word and its place in the text."""

    text: str
    start: int
    end: int

    @property
    def stem(self) -> str:
        return stem(self.text)

    @property
    def is_common(self) -> bool:
        return self.text.casefold() in COMMON


class Clause(NamedTuple):
    text: str
    start: int
    end: int


def is_question(text: str) -> bool:
    said = trim_request(text)
    return "?" in text or asks(said) or _SAID["asks_at_end"].fullmatch(said) is not None


def asks(request: str) -> bool:
    """Whether a text without its courtesies begins as a question does."""
    return _SAID["question"].match(request) is not None


@lru_cache(maxsize=2048)
def trim_request(text: str) -> str:
    """The request without its greetings, courtesies and final punctuation."""
    text = with_plain_apostrophe(without_gaps(text.strip()))
    text = _CONTRACTED.sub(r"\1 is", text)
    trimmed = _without_ending(text[found.end() :] if (found := _SAID["politeness"].match(text)) else text)
    return trimmed or text


def _without_ending(text: str) -> str:
    if _SAID["ends_in_folder"].fullmatch(text):
        return text
    text = text.rstrip(_PUNCTUATION)
    for ending in _ENDINGS:
        # Only after a space or a comma: "thanks" alone is a message.
        if text[-len(ending) :].casefold() == ending and text[: -len(ending)][-1:] in (" ", ","):
            return _without_ending(text[: -len(ending)])
    return text


def without_gaps(text: str) -> str:
    return _GAP.sub(" ", text)


def as_one_request(text: str) -> str:
    """A message without long gaps, and without an end that asks for what its beginning shows anyway."""
    return _SAID["shows_anyway"].sub(r"\g<shows>", without_gaps(text))


def with_plain_apostrophe(text: str) -> str:
    return text.replace(_APOSTROPHE, "'")


def without_article(text: str) -> str:
    """A name without its article: "the roses" is "roses"."""
    return _ARTICLE.sub("", text) or text


def words_of(text: str) -> list[Word]:
    return [Word(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]


def stems_of(text: str) -> frozenset[str]:
    """The stems of the words of a text, without the common ones."""
    return frozenset(word.stem for word in words_of(text) if not word.is_common)


def clauses_of(text: str) -> Iterator[Clause]:
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        yield Clause(text[start : boundary.start()], start, boundary.start())
        start = boundary.end()
    yield Clause(text[start:], start, len(text))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
