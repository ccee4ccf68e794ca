"""Recognises the values in a fact: amounts of money, dates, times, weekdays, durations, numbers and names."""

import re

from sestet.core.lazy_pattern import LazyPattern

_NUMBER_WORD = (
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    r"eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|zwei|drei|vier|fünf|sechs|"
    r"sieben|acht|neun|zehn|elf|zwölf|zwanzig|dreißig"
)
_MONTH = (
    r"jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|okt(?:ober)?|nov(?:ember)?|dec(?:ember)?|dez(?:ember)?"
)
_WEEKDAY = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|weekdays?|"
    r"weekends?|wochenende"
)
_AMOUNT = r"\d[\d.,'\u202f]*"
_MONEY_WORD = (
    r"euros?|eur|dollars?|usd|pounds?|quid|gbp|chf|francs?|franken|cents?|kronor|kroner|crowns?|yen|zloty"
)
_UNIT_OF_TIME = (
    r"minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|minuten?|stunden?|tage?n?"
    r"|wochen?|monate?n?"
    r"|jahre?n?"
)
#: The patterns of each kind, in the order in which they are looked for.
_PATTERNS: dict[str, str] = {
    "money": rf"[€$£]\s?{_AMOUNT}|\b{_AMOUNT}\s?(?:[€$£]|(?:{_MONEY_WORD})\b)|\b\d+[.,]\d\d (?:a|per|each"
    rf"|im|pro) ",
    "date": rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of)? (?:{_MONTH})\b(?: \d{{4}})?"
    rf"|\b(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?\b|"
    rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}\.\d{{1,2}}\.(?:\d{{2,4}})?|\b(?:in|until|till|since|by|im|bis"
    rf"|seit) (?:{_MONTH})\b(?: \d{{4}})?"
    rf"|\b(?:in|since|until|by|seit|bis) (?:19|20)\d\d\b|\bthe (?:first|last|\d{{1,2}}(?:st|nd|rd"
    rf"|th)) of\b|\b(?:end|start|beginning|middle|ende|anfang"
    rf"|mitte)(?: of)? (?:{_MONTH})\b",
    "time": rf"\b\d{{1,2}}:\d\d\b(?: ?(?:am|pm))?|\b\d{{1,2}} ?(?:am|pm|o'clock|uhr)\b|\b(?:half"
    rf"|quarter) (?:past|to) \w+|"
    rf"\bat (?:\d{{1,2}}(?![:\d])|{_NUMBER_WORD})\b(?! \w+ (?:a|per)\b)|\b(?:noon|midnight)\b"
    rf"|\bhalb (?:{_NUMBER_WORD})\b",
    "weekday": rf"\b(?:{_WEEKDAY})\b",
    "duration": rf"\b(?:{_AMOUNT}|{_NUMBER_WORD})(?: and a half)? (?:{_UNIT_OF_TIME})\b",
    "number": rf"(?<![\w-])(?:\+?\d[\w./:-]*\d|\d)(?![\w])|\b[A-Z]{{1,3}}-?\d[\w-]*|\b(?:{_NUMBER_WORD})\b",
}
_COMPILED = {kind: LazyPattern(pattern, re.IGNORECASE) for kind, pattern in _PATTERNS.items()}
KINDS = (*_PATTERNS, "name", "text")
#: A name: words with a capital letter that do not begin the sentence.
_NAME = LazyPattern(
    r"(?<![.!?]\s)(?<!^)(?:\b(?:Dr|Mr|Mrs|Ms|Herr|Frau)\.? )?\b[A-ZÄÖÜ][\wäöüß'-]*(?:(?: (?:de|van|von"
    r"|der|la|da|do|of))*"
    r" [A-ZÄÖÜ\d][\w'-]*)*"
)
_BEGINS_WITH_NAME = LazyPattern(r"(?:the )?[A-ZÄÖÜ][\w'-]*(?: [A-ZÄÖÜ\d][\w'-]*)*")


def kinds_of(value: str) -> frozenset[str]:
    """The kinds of a value; ``text`` if it is none of the others."""
    found = {kind for kind, pattern in _COMPILED.items() if pattern.search(value)}
    exact = found - {"number"}
    if exact:
        # The number of an amount or a date is no value of its own.
        rest = value
        for kind in exact:
            rest = _COMPILED[kind].sub(" ", rest)
        if not _COMPILED["number"].search(rest):
            found = exact
    if not found:
        named = _BEGINS_WITH_NAME.match(value) or _NAME.search(value)
        found = {"name"} if named and named[0] not in ("I",) else {"text"}
    return frozenset(found)


def without_values(sentence: str) -> tuple[str, str]:
    """A sentence without its exact values and later names, and the first of these."""
    values: list[str] = []

    def cut(found: re.Match[str]) -> str:
        values.append(found[0])
        return " "

    rest = sentence
    for pattern in _COMPILED.values():
        rest = pattern.sub(cut, rest)
    if not values:
        rest = _NAME.sub(cut, rest)
    return rest, values[0] if values else ""
