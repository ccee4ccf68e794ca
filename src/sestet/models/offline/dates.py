"""Answers questions about the time and the calendar."""

import re
from calendar import isleap
from collections.abc import Mapping
from datetime import date, datetime, timedelta

from sestet.models.offline.patterns import patterns_of
from sestet.models.offline.words import with_plain_apostrophe

_SAID = patterns_of("dates")

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_NEAR: Mapping[str, int] = {
    "today": 0,
    "now": 0,
    "tomorrow": 1,
    "yesterday": -1,
    "the day after tomorrow": 2,
    "the day before yesterday": -2,
}
#: Days that people count towards: the month and the day.
_FEASTS = {
    "christmas": (12, 25),
    "xmas": (12, 25),
    "christmas eve": (12, 24),
    "new year": (1, 1),
    "new year's day": (1, 1),
    "new year's eve": (12, 31),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}
_SMALL = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "ten": 10,
}


def answer_date(text: str, now: datetime) -> str:
    """The answer to a question about the time or the calendar; empty for any other text."""
    said = " ".join(with_plain_apostrophe(text.casefold()).split()).strip(" .!?")
    if _SAID["time"].fullmatch(said):
        return f"It is {now:%H:%M}."
    if found := _SAID["day"].fullmatch(said):
        return _about_day(found["near"] or found["of"] or "today", now)
    if found := _SAID["year"].fullmatch(said):
        return _about_part(found["part"], now)
    if found := _SAID["leap"].fullmatch(said):
        year = {"this year": now.year, "next year": now.year + 1}.get(found["year"]) or int(found["year"])
        return f"{'Yes' if isleap(year) else 'No'}: {year} has {365 + isleap(year)} days."
    if (found := _SAID["born"].fullmatch(said)) and int(found["year"]) < now.year:
        age = now.year - int(found["year"])
        return f"{age - 1} or {age}: {age} after the birthday in {now.year}."
    if (found := _SAID["hours"].fullmatch(said)) and (hours := _hours_between(found["a"], found["b"])):
        return hours
    if (found := _SAID["until"].fullmatch(said)) and (
        day := _day_named(found["when"] or found["feast"] or "", now.date())
    ):
        return _days_until(day, now.date(), found["unit"] or "days")
    if (found := _SAID["which_day"].fullmatch(said)) and (day := _day_named(found["when"], now.date())):
        return f"{long_date(day)} ({day.isoformat()})."
    return ""


def is_near_day(text: str) -> bool:
    """Whether a text is only a day such as "tomorrow", as in "and tomorrow?"."""
    return text.casefold().strip(" .!?") in _NEAR


def long_date(day: date) -> str:
    return f"{day:%A}, {day.day} {day:%B %Y}"


def _about_day(near: str, now: datetime) -> str:
    day = now.date() + timedelta(days=_NEAR[near])
    is_ = "was" if _NEAR[near] < 0 else "is"
    name = "Today" if near == "now" else near.capitalize()
    return f"{name} {is_} {long_date(day)} ({day.isoformat()})."


def _about_part(part: str, now: datetime) -> str:
    seasons = ("winter", "spring", "summer", "autumn")
    said = {
        "year": f"It is {now:%Y}.",
        "month": f"It is {now:%B %Y}.",
        "season": f"It is {seasons[now.month % 12 // 3]} (north of the equator), {long_date(now.date())}.",
    }
    return said.get(part, f"It is week {now.isocalendar().week} of {now.isocalendar().year}.")


def _days_until(day: date, today: date, unit: str) -> str:
    days = (day - today).days
    if days < 0:
        return f"{long_date(day)} was {_count(-days, 'day')} ago."
    weeks = f"{_count(days // 7, 'week')} and {_count(days % 7, 'day')}, that is " if unit == "weeks" else ""
    return f"{weeks}{_count(days, 'day')} until {long_date(day)}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _hours_between(first: str, last: str) -> str:
    start, end = _minutes(first), _minutes(last)
    if start is None or end is None:
        return ""
    # The end of a night shift is on the next day.
    minutes = (end - start) % (24 * 60)
    return f"{minutes / 60:g} hours ({minutes // 60} h {minutes % 60} min)."


def _minutes(text: str) -> int | None:
    found = re.fullmatch(r"(\d{1,2})(?::(\d\d))?\s*(am|pm)?", text.strip())
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        hour = hour % 12 + (12 if found[3] == "pm" else 0)
    return hour * 60 + minute if hour <= 24 and minute < 60 else None


def _day_named(name: str, today: date) -> date | None:
    """The next day with a name: "christmas", "friday", "24 december", "2026-12-24", "in 10 days"."""
    name = re.sub(r"^(?:the|next|this|on|coming) |^(?:the )?(?=\d)", "", name.strip(" .!?"))
    name = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b(?: of)?|,", "", name)
    if name in _NEAR:
        return today + timedelta(days=_NEAR[name])
    if found := _SAID["in"].fullmatch(name):
        number = int(found["number"]) if found["number"].isdecimal() else _SMALL[found["number"]]
        days = number * (7 if found["unit"].startswith("week") else 1)
        return today + timedelta(days=-days if name.endswith(" ago") else days)
    if name in _WEEKDAYS:
        return today + timedelta(days=(_WEEKDAYS.index(name) - today.weekday() - 1) % 7 + 1)
    if name in _FEASTS:
        return _next(*_FEASTS[name], today)
    return _dated(name, today)


def _dated(name: str, today: date) -> date | None:
    month = "|".join(f"{full[:3]}(?:{full[3:]})?" for full in _MONTHS)
    iso = re.fullmatch(r"(\d{4})-(\d\d?)-(\d\d?)", name)
    words = re.fullmatch(rf"(?P<d>\d{{1,2}}) (?P<m>{month})(?: (?P<y>\d{{4}}))?", name) or re.fullmatch(
        rf"(?P<m>{month}) (?P<d>\d{{1,2}})(?: (?P<y>\d{{4}}))?", name
    )
    try:
        if iso:
            return date(int(iso[1]), int(iso[2]), int(iso[3]))
        if words:
            number = next(at for at, full in enumerate(_MONTHS, 1) if full.startswith(words["m"][:3]))
            year = words["y"]
            return date(int(year), number, int(words["d"])) if year else _next(number, int(words["d"]), today)
    except ValueError:
        return None
    return None


def _next(month: int, day: int, today: date) -> date:
    this_year = date(today.year, month, day)
    return this_year if this_year >= today else date(today.year + 1, month, day)
