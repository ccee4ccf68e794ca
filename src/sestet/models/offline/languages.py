"""Recognises a message in another language than English, and answers it with one honest line."""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from sestet.core.words import COMMON_WORDS
from sestet.models.offline.patterns import read_table

#: Quoted text, code and names of files say nothing about the language of a request.
_NOT_SAID = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`|(?<!\w)'[^']*'(?!\w)|\S*[/\\.]\S+|\S*\d\S*")
_WORD = re.compile(r"[^\W\d_]+")
#: Frequent English words beside the common ones. A text that has the most of these is English.
_ENGLISH = COMMON_WORDS | frozenset(
    """
    all any can come could door dove fare file files find forget get give hello help her his if list make
    men more my name no not note now over plus please read remember save search she show so some son sur
    hi im its hey ok tell tempo text thank thanks then there they time today tomorrow want word write yes
    """.split()  # noqa: SIM905
)
#: This share of the letters in another script decides.
_SCRIPT_SHARE = 0.3
#: Two words decide, or a single one with a letter that English does not have.
_ENOUGH = 2


class Language(NamedTuple):
    """How a language is recognised, and what is said in it."""

    words: frozenset[str]
    script: str
    greets: str
    hello: str
    cannot: str


def answer_in_language(text: str, before: Sequence[str] = ()) -> str:
    """An honest line in the language of a message; empty for English.

    ``before``: the earlier messages. A person who has written in a language goes on with it.
    """
    language = _language(text) or (_goes_on(text, _language(before[-1])) if before else None)
    if language is None:
        return ""
    said = " ".join(text.casefold().split()).strip(" .!?¡¿\u3002\uff01\uff1f")
    parts = (said, *(part.strip() for part in re.split(r"[.!?,¡¿\uff0c\u3002\uff01\uff1f;]+", said)))
    greets = any(re.fullmatch(language.greets, part) for part in parts if part)
    return language.hello if greets else language.cannot


def _goes_on(text: str, language: "Language | None") -> "Language | None":
    """The language of the message before, if this one has at least as many words of it as of English."""
    words = _WORD.findall(_NOT_SAID.sub(" ", text).casefold())
    of_it = sum(word in language.words or not word.isascii() for word in words) if language else 0
    return language if of_it and of_it >= sum(word in _ENGLISH for word in words) else None


def _language(text: str) -> Language | None:
    said = _NOT_SAID.sub(" ", text).casefold()
    words = list(dict.fromkeys(_WORD.findall(said)))
    letters = len("".join(_WORD.findall(said)))
    if not letters:
        return None
    best, most = None, 0
    for language in _languages():
        if language.script and len(re.findall(language.script, said)) >= _SCRIPT_SHARE * letters:
            # Japanese text has Chinese characters too, so a script that is found later is the better guess.
            best, most = language, letters
        score = sum(word in language.words for word in words)
        if score > most:
            best, most = language, score
    english = sum(word in _ENGLISH for word in words)
    if best is None or most <= english:
        return None
    is_foreign = any(not word.isascii() for word in best.words.intersection(words))
    is_greeting = re.fullmatch(best.greets, " ".join(words)) is not None
    return best if most >= _ENOUGH or is_greeting or (is_foreign and not english) else None


@cache
def _languages() -> tuple[Language, ...]:
    entries = read_table("languages")
    return tuple(
        Language(
            frozenset(entry["words"].split()) - _ENGLISH,
            entry.get("script", ""),
            entry["greets"],
            entry["hello"],
            entry["cannot"],
        )
        for entry in entries.values()
    )
