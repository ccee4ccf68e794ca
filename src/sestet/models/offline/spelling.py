"""Corrects hasty typing in the words that ask: "raed", "opne teh". Names and contents stay as they are."""

import re
from functools import cache

from sestet.models.offline.patterns import read_table

_WORDS = re.compile(r"\S+")
#: A shorter word has too many neighbours: "red" may be a colour.
_SHORTEST = 4
#: Only a request's first words are its own; later ones may be contents.
_MOST_NOUNS = 4
#: Verbs of requests without contents of their own, which a correction could spoil.
_LOOKS = frozenset(["list", "show", "what", "which"])
#: "With teh text tea": the words before a content are no part of it.
_WITH_TEXT = re.compile(r"(\bwith )(?:teh|hte|th|te)( (?:text|words?|lines?|contents?)\b)", re.IGNORECASE)
#: Words between "a file" and its name.
_NAMES = ("called", "named", "containing")
#: In a shorter word a wrong letter may make another word: "lost" is not "list".
_SHORTEST_REPLACED = 6
#: After these the word is a name: "Raed is my friend".
_AFTER_NAME = frozenset(["is", "are", "was", "were", "has", "have", "had", "will", "and"])


def with_known_verbs(text: str) -> str:
    """The text with its courtesies, its verb and the word after it as they are spelt."""
    words = list(_WORDS.finditer(text))
    corrected = list[tuple[int, int, str]]()
    for at, found in enumerate(words):
        word = found[0].casefold().strip(",.!?:")
        following = words[at + 1][0].casefold() if at + 1 < len(words) else ""
        fixed = _table().get(word, word)
        is_courtesy = fixed in _courtesies()
        if not is_courtesy and following not in _AFTER_NAME:
            fixed = known_verb(fixed)
        if fixed != word:
            corrected.append((found.start(), found.start() + len(found[0].rstrip(",.!?:")), fixed))
        if not is_courtesy:
            corrected += _corrected_nouns(words[at + 1 :], looks=fixed in _LOOKS)
            corrected += _corrected_naming(words[at + 1 :])
            break
    for start, end, fixed in reversed(corrected):
        text = f"{text[:start]}{fixed}{text[end:]}"
    return _WITH_TEXT.sub(r"\1the\2", text)


def _corrected_nouns(words: list[re.Match[str]], *, looks: bool) -> list[tuple[int, int, str]]:
    """The word after the verb by the table; in a request to look at something also the nouns."""
    corrected = list[tuple[int, int, str]]()
    for at, found in enumerate(words[:_MOST_NOUNS]):
        word = found[0].casefold().rstrip(",.!?:")
        fixed = _table().get(word, word) if at == 0 or looks else word
        if looks and word.isalpha() and len(word) >= _SHORTEST and word not in _known():
            fixed = next((noun for noun in _nouns() if _is_mistyped(word, noun)), fixed)
        if fixed != word:
            corrected.append((found.start(), found.start() + len(word), fixed))
    return corrected


def _corrected_naming(words: list[re.Match[str]]) -> list[tuple[int, int, str]]:
    """The word between a file and its name: "a file caled ideas.txt" names no file "caled"."""
    for noun, found, _ in zip(words[:_MOST_NOUNS], words[1:], words[2:], strict=False):
        word = found[0].casefold()
        named = next((name for name in _NAMES if _is_mistyped(word, name)), "")
        if noun[0].casefold() in _nouns() and named:
            return [(found.start(), found.end(), named)]
    return []


def known_verb(word: str) -> str:
    """The verb that a word with one typing error means; else the word itself."""
    if len(word) < _SHORTEST or not word.isalpha() or word in _known():
        return word
    return next((verb for verb in _verbs() if _is_mistyped(word, verb)), word)


def _is_mistyped(word: str, verb: str) -> bool:
    """Whether two letters are swapped, or one is missing, doubled or (in a long word) wrong."""
    if len(word) == len(verb):
        differing = [at for at, (a, b) in enumerate(zip(word, verb, strict=True)) if a != b]
        if len(differing) == 1:
            return len(verb) >= _SHORTEST_REPLACED and word[0] == verb[0]
        swapped = len(differing) == 2 and differing[1] == differing[0] + 1
        return (
            swapped and word[differing[0]] == verb[differing[1]] and word[differing[1]] == verb[differing[0]]
        )
    shorter, longer = sorted((word, verb), key=len)
    if len(longer) - len(shorter) != 1 or word[0] != verb[0] or len(verb) < _SHORTEST:
        return False
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))


@cache
def _table() -> dict[str, str]:
    lines = read_table("spelling")["words"].splitlines()
    return dict(line.split(" = ") for line in lines if line)


@cache
def _nouns() -> tuple[str, ...]:
    return tuple(read_table("spelling")["nouns"].split())


@cache
def _verbs() -> tuple[str, ...]:
    return tuple(read_table("spelling")["verbs"].split())


@cache
def _known() -> frozenset[str]:
    return frozenset((*_verbs(), *_nouns(), *read_table("spelling")["other"].split()))


@cache
def _courtesies() -> frozenset[str]:
    return frozenset(read_table("spelling")["courtesies"].split())
