"""Decides whether a new fact is the person's own correction of an older fact.

"My cat is called Kim, not Tom" states the new fact and names the words that are wrong. Both stand in the
message, so a model that obeys a page can choose neither of them.
"""

import re

from sestet.services.memory.own_words import is_own_statement

# Compiled on first use: most processes end before a fact is corrected.
_NOT = r",? (?:and |but )?(?:not|instead of|rather than) (?P<wrong>[^,;.?!\n]{1,60})"
#: Words before the right value that do not change it.
_LEAD = (
    r"(?:(?:oh|no|nope|wait|sorry|oops|actually|correction|well|my mistake|i was wrong|that'?s wrong)\b"
    r"[\s,:;.!-]*)*"
    r"(?:(?:it|that|this|he|she|they)(?:'s|'re| is| are| was| should be)|i (?:meant|mean)(?: to say)?"
    r"|(?:make|change|set|correct|update) (?:it|that)(?: to)?)? ?"
)
#: A value with one of these is more than a value.
_MORE = r"\b(?:if|when|unless|until|because|maybe|perhaps|not|never|no|only|said|told|or|and|but)\b|n't\b"
_LONGEST_MESSAGE = 300
_LONGEST_VALUE = 4
_LEAST_COMMON = 2


def states_correction(fact: str, old: str, message: str) -> bool:
    """Whether the message states the fact and calls a part of the old one wrong: "my cat is Kim, not Tom"."""
    said, known = _words(fact), _words(old)
    start = next(
        (at for at, (a, b) in enumerate(zip(said, known, strict=False)) if a != b), min(len(said), len(known))
    )
    if start < _LEAST_COMMON or start == len(said) or len(message) > _LONGEST_MESSAGE:
        return False
    for found in re.finditer(_NOT, _tidy(message)):
        wrong = _words(found["wrong"])
        # "Not on Monday" and "not Monday" mean the same.
        begins = {start, *range(max(0, start - len(wrong) + 1), start)}
        if any(known[at : at + len(wrong)] == wrong for at in begins):
            return is_own_statement(f"{fact}{found[0]}", message)
    return False


def wrong_value(fact: str, old: str, message: str) -> str:
    """The words of the old fact that the message replaces by others to give the new one; else empty.

    "It's at 4pm, not 3pm" gives "3pm" for "my meeting is at 4pm". It does not say which fact is meant.
    """
    found = re.fullmatch(rf"{_LEAD}(?P<new>.+?){_NOT}[.!]*", _tidy(message))
    if found is None or len(message) > _LONGEST_MESSAGE:
        return ""
    new, wrong = _words(found["new"]), _words(found["wrong"])
    if re.search(_MORE, f"{found['new']}\n{found['wrong']}") or max(len(new), len(wrong)) > _LONGEST_VALUE:
        return ""
    said, known = _words(fact), _words(old)
    places = [at for at in range(len(known)) if known[at : at + len(wrong)] == wrong]
    # "It's at 4pm, not 3pm": a preposition may stand before both values or before one.
    values = [value for value in (new, new[1:]) if value]
    fits = any([*known[:at], *value, *known[at + len(wrong) :]] == said for at in places for value in values)
    return " ".join(wrong) if len(places) == 1 and fits else ""


def holds(fact: str, value: str) -> bool:
    """Whether a fact has the words of a value."""
    words, wanted = _words(fact), value.split()
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words)))


def _tidy(text: str) -> str:
    return " ".join(text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())


def _words(text: str) -> list[str]:
    return [word for part in _tidy(text).split() if (word := part.strip(".,;:!?\"'"))]
