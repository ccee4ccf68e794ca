"""Converts amounts between units: "70 kg in pounds", "38.5 celsius in fahrenheit"."""

import re
from functools import cache
from typing import NamedTuple

from sestet.models.offline.patterns import read_table

_TEMPERATURES = {
    "c": "°C",
    "celsius": "°C",
    "centigrade": "°C",
    "f": "°F",
    "fahrenheit": "°F",
    "k": "K",
    "kelvin": "K",
}
_AMOUNT = r"(?P<amount>-?\d[\d,]*(?:\.\d+)?|an?|one|half an?)"
_DEGREE = r"(?:°\s*|degrees?\s+)?"
_VERB = r"(?:convert|change|turn|express|what\s+is|what\s+are|how\s+much\s+is|how\s+much\s+are)"
_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:{_VERB}\s+)?{_AMOUNT}\s*{_DEGREE}(?P<given>[^\d\s].*?)\s+(?:to|in|into|as|=)\s+{_DEGREE}(?P<wanted>\D+?)",
        rf"how\s+(?:many|much)\s+{_DEGREE}(?P<wanted>\D+?)\s+(?:is|are|in|make|makes|are\s+in|are\s+there\s+in|"
        rf"is\s+in|would\s+be)\s+{_AMOUNT}\s*{_DEGREE}(?P<given>[^\d\s].*?)",
    )
)
_ONE = r"(\d[\d,]*(?:\.\d+)?)\s*([a-zµ]+)"
_PART = re.compile(_ONE, re.IGNORECASE)
_SEVERAL = re.compile(rf"\b{_ONE}(?:(?:\s*,|\s+and)?\s+{_ONE})+\b", re.IGNORECASE)
_WORDS = {"a": 1.0, "an": 1.0, "one": 1.0, "half a": 0.5, "half an": 0.5}


class Unit(NamedTuple):
    symbol: str
    kind: str
    size: float


def convert_units(text: str) -> str:
    """The amount in both units; empty when the text does not ask for a conversion."""
    several = _SEVERAL.search(text)
    whole = _added_up(text)
    if several and whole != text:
        # "3 hours and 45 minutes = 225 min"
        _, _, result = convert_units(whole).partition(" = ")
        return f"{several[0]} = {result}" if result else ""
    for form in _FORMS:
        if found := form.fullmatch(text):
            given, wanted = found["given"].casefold().strip(), found["wanted"].casefold().strip()
            said = " ".join(found["amount"].casefold().split())
            amount = _WORDS[said] if said in _WORDS else float(said.replace(",", ""))
            if answer := _degrees(amount, given, wanted) or _converted(amount, given, wanted):
                return answer
    return ""


def _added_up(text: str) -> str:
    """The text with "3 hours and 45 minutes" as one amount of the smallest unit."""
    found = _SEVERAL.search(text)
    parts = _PART.findall(found[0]) if found else []
    units = [_units().get(_singular(name.casefold())) for _, name in parts]
    known = [unit for unit in units if unit is not None]
    if found is None or len(known) < len(parts) or len({unit.kind for unit in known}) > 1:
        return text
    least = min(known, key=lambda unit: unit.size)
    amounts = zip(parts, known, strict=True)
    total = sum(float(number.replace(",", "")) * unit.size for (number, _), unit in amounts) / least.size
    return f"{text[: found.start()]}{total:.6f} {least.symbol}{text[found.end() :]}"


def _converted(amount: float, given: str, wanted: str) -> str:
    one, other = _units().get(_singular(given)), _units().get(_singular(wanted))
    if one is None or other is None or one.kind != other.kind:
        return ""
    return f"{shown(amount)} {one.symbol} = {shown(amount * one.size / other.size)} {other.symbol}"


def _degrees(amount: float, given: str, wanted: str) -> str:
    one, other = _TEMPERATURES.get(given), _TEMPERATURES.get(wanted)
    if one is None or other is None:
        return ""
    celsius = {"°C": amount, "°F": (amount - 32) / 1.8, "K": amount - 273.15}[one]
    result = {"°C": celsius, "°F": celsius * 1.8 + 32, "K": celsius + 273.15}[other]
    return f"{shown(amount)} {one} = {shown(round(result, 2))} {other}"


def _singular(name: str) -> str:
    return name if name in _units() else name.removesuffix("s")


@cache
def _units() -> dict[str, Unit]:
    kinds = read_table("units")
    return {
        name: Unit(symbol, kind, size)
        for kind, units in kinds.items()
        for symbol, (size, names) in units.items()
        for name in (*names.split("|"), symbol.casefold())
    }


def shown(number: float) -> str:
    """A number for people: with a comma for thousands, and without digits that say nothing."""
    digits = 3 if abs(number) >= 1 else 6
    return f"{number:,.{digits}f}".rstrip("0").rstrip(".")
