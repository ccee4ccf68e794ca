"""Reads which time a question is about: "what did I tell you last Tuesday?"."""

import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

from sestet.core.lazy_pattern import LazyPattern

_MONTHS = (
    "january januar jan", "february februar feb", "march märz mar", "april apr", "may mai", "june juni jun",
    "july juli jul", "august aug", "september sept sep", "october oktober oct okt", "november nov",
    "december dezember dec dez",
)  # fmt: skip
_WEEKDAYS = (
    "monday montag", "tuesday dienstag", "wednesday mittwoch", "thursday donnerstag", "friday freitag",
    "saturday samstag", "sunday sonntag",
)  # fmt: skip
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_DAY_OF = {name: number for number, names in enumerate(_WEEKDAYS) for name in names.split()}
_NUMBERS = dict(
    zip(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
        range(1, 11),
        strict=True,
    )
) | dict(
    zip(
        ["eine?", "einem?", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"],
        (1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
        strict=True,
    )
)
#: A question about what was told or happened, and not about the facts themselves.
_ABOUT_TELLING = LazyPattern(
    r"\b(?:did|have|had) (?:i|we) (?:just |ever )?(?:tell|told|say|said|mention|mentioned|talk|talked"
    r"|write|wrote|report)\b"
    r"|\bi (?:told|said|mentioned)\b|\bwe (?:talked|spoke)\b|\bwhat (?:happened|was new|was going on"
    r"|changed)\b"
    r"|\bwhat(?:'s| is) new since\b|\b(?:habe|hab) ich (?:dir )?.*\b(?:erzählt|gesagt|erwähnt)\b"
    r"|\bwas (?:ist|war) (?:.*)passiert\b"
    r"|\bwas war (?:am|im|letzte)",
    re.IGNORECASE,
)
_MONTH = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_DAY = "|".join(_DAY_OF)
_NUMBER = "|".join(_NUMBERS)
_SAID = LazyPattern(
    rf"""
    (?P<today>\b(?:today|this\ (?:morning|afternoon|evening)|heute)\b)
    |(?P<before>\b(?:the\ )?day\ before\ yesterday\b|\bvorgestern\b)
    |(?P<yesterday>\b(?:yesterday|last\ night|gestern)\b)
    |(?P<ago>\b(?P<count>\d{{1,3}}|{_NUMBER}|a)\ (?P<unit>day|week|month)s?\ ago\b)
    |(?P<vor>\bvor\ (?P<anzahl>\d{{1,3}}|{_NUMBER})\ (?P<einheit>tag|woche|monat)e?n?\b)
    |(?P<week>\b(?P<which>last|this|past|letzte[rn]?|diese[rn]?|vorige)\ (?:week|woche)\b)
    |(?P<of_month>\b(?P<which_month>last|this|past|letzten|diesen|vorigen)\ (?:month|monat)\b)
    |(?P<date>\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\ (?:of\ )?(?P<m>{_MONTH})\b(?:\ (?P<y>\d{{4}}))?
      |\b(?P<m2>{_MONTH})\ (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\ (?P<y2>\d{{4}}))?)
    |(?P<iso>\b\d{{4}}-\d\d-\d\d\b)
    |(?P<weekday>\b(?:on|last|this|am|letzten|vergangenen|past)\ (?:last\ |past\ )?(?P<name>{_DAY})s?\b)
    |(?P<month>\b(?:in|im|during|last|letzten)\ (?P<month_name>{_MONTH})\b(?:\ (?P<year>\d{{4}}))?)
    """,
    re.IGNORECASE | re.VERBOSE,
)


class Span(NamedTuple):
    """Days: the first one, and the one after the last."""

    start: date
    end: date
    #: The words of the question that name it.
    words: str

    @property
    def times(self) -> tuple[float, float]:
        return _midnight(self.start), _midnight(self.end)

    @property
    def named(self) -> str:
        last = self.end - timedelta(days=1)
        return (
            self.start.isoformat()
            if last == self.start
            else f"{self.start.isoformat()} to {last.isoformat()}"
        )


def _midnight(day: date) -> float:
    return datetime.combine(day, datetime.min.time()).astimezone().timestamp()


def read_span(question: str, today: date) -> Span | None:
    """The days that a question about what was told names; None for any other question."""
    if not _ABOUT_TELLING.search(question):
        return None
    found = _SAID.search(question)
    if found is None:
        return None
    days = _days(found, today)
    return Span(*days, found[0]) if days else None


def _days(found: re.Match[str], today: date) -> tuple[date, date] | None:
    one = timedelta(days=1)
    kind = found.lastgroup
    named = found.groupdict()
    for name, back in (("today", 0), ("yesterday", 1), ("before", 2)):
        if named[name]:
            return today - back * one, today - (back - 1) * one
    if named["ago"] or named["vor"]:
        return _ago(
            (named["count"] or named["anzahl"]).casefold(),
            (named["unit"] or named["einheit"]).casefold(),
            today,
        )
    if named["week"]:
        monday = today - today.weekday() * one
        is_this = named["which"].casefold().startswith(("this", "dies"))
        return (monday, monday + 7 * one) if is_this else (monday - 7 * one, monday)
    if named["of_month"]:
        first = today.replace(day=1)
        is_this = named["which_month"].casefold().startswith(("this", "dies"))
        return (first, _next_month(first)) if is_this else ((first - one).replace(day=1), first)
    if named["weekday"]:
        back = (today.weekday() - _DAY_OF[named["name"].casefold()]) % 7 or 7
        return today - back * one, today - (back - 1) * one
    if named["month"]:
        first = _latest(today, _MONTH_OF[named["month_name"].casefold()], 1, named["year"])
        return (first, _next_month(first)) if first else None
    day = _dated(named, today) if kind else None
    return (day, day + one) if day else None


def _ago(count: str, unit: str, today: date) -> tuple[date, date]:
    number = int(count) if count.isdecimal() else _NUMBERS.get(count, 1)
    back = timedelta(days=number * {"d": 1, "t": 1, "w": 7, "m": 30}[unit[0]])
    # A week ago is a day or two around it.
    around = timedelta(days=0 if unit[0] in "dt" else 1)
    return today - back - around, today - back + around + timedelta(days=1)


def _dated(named: dict[str, str | None], today: date) -> date | None:
    if iso := named["iso"]:
        try:
            return date.fromisoformat(iso)
        except ValueError:
            return None
    day, month = named["d"] or named["d2"], named["m"] or named["m2"]
    if not day or not month:
        return None
    return _latest(today, _MONTH_OF[month.casefold()], int(day), named["y"] or named["y2"])


def _latest(today: date, month: int, day: int, year: str | None) -> date | None:
    """The last such day that is not after today, or that of a named year."""
    try:
        if year:
            return date(int(year), month, day)
        this_year = date(today.year, month, day)
        return this_year if this_year <= today else date(today.year - 1, month, day)
    except ValueError:
        return None


def _next_month(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)
