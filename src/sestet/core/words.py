"""English words as people write and read them: common words, stems, dates, durations, amounts."""

import time
from datetime import date, datetime
from functools import lru_cache

#: Words that say nothing about the subject of a text.
COMMON_WORDS = frozenset(
    # One text is easier to read and to keep than a list of quoted words.
    """
    a about am an and are as at be been by did do does for from had has have how i in is it its know me my
    of on or our tell that the their them they this to us was we were what when where which who why will
    with you your
    """.split()  # noqa: SIM905
)
_SUFFIXES = ("'s", "ies", "ing", "ed", "es", "s")
#: Cut after the suffix, so that "note" and "noted", "story" and "stories", "cookie" and "cookies" are equal.
_LAST_LETTERS = ("ie", "e", "y")
_SHORTEST_STEM = 3
_MINUTE = 60
_UNITS = ((86_400, "day"), (3_600, "hour"), (_MINUTE, "minute"), (1, "second"))


# Cached: the texts of a person share most of their words.
@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The word in lower case without its ending: enough to see whether two texts share a word."""
    return _cut(_cut(word.casefold(), _SUFFIXES), _LAST_LETTERS)


def _cut(word: str, endings: tuple[str, ...]) -> str:
    """The word without the first of the endings that leaves enough of it."""
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def duration(seconds: float) -> str:
    """``1 hour``, ``2 minutes 30 seconds``, ``0.5 seconds``: the two largest units."""
    if seconds < _MINUTE:
        return f"{seconds:.3g} second{'' if seconds == 1 else 's'}"
    left, parts = round(seconds), list[str]()
    for unit, name in _UNITS:
        number, left = divmod(left, unit)
        if number:
            parts.append(f"{number:,} {name}{'' if number == 1 else 's'}")
        # Nobody needs the seconds of an hour, or the minutes of a day.
        if len(parts) == 2 or (parts and left < unit / 60):
            break
    return " ".join(parts)


def ended(text: str) -> str:
    """A text that ends a sentence: with a full stop, unless it is a question or an exclamation."""
    text = text.rstrip(". ")
    return text if text.endswith(("?", "!")) else f"{text}."


def money(dollars: float, digits: int = 4) -> str:
    """``$0.0012`` or ``$12.34``; an amount that would be shown as 0 is not."""
    if 0 < dollars < 0.5 / 10**digits:
        return f"<${10**-digits:.{digits}f}"
    return f"${dollars:,.{digits}f}"


def day(timestamp: float) -> str:
    """The local date of a moment, such as 2026-05-31."""
    return date.fromtimestamp(timestamp).isoformat()


def local_now() -> datetime:
    """The present moment in the person's time zone."""
    return datetime.now().astimezone()


def moment(at: datetime) -> str:
    """A moment to the minute with its zone, such as Sunday, 31 May 2026, 14:05 CEST (UTC+02:00)."""
    at = at if at.tzinfo else at.astimezone()
    # 2026-05-31T14:05+02:00
    offset = at.isoformat(timespec="minutes")[16:22]
    return at.strftime(f"%A, {at.day} %B %Y, %H:%M %Z (UTC{offset})")


def written_time(at: float) -> str:
    """The local date and time, as in ``2026-11-15 09:30``."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
