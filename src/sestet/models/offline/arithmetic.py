"""Sums, as people write them: "12 * 12", "what is 15% of 80", "7 plus 5"."""

import re
from collections.abc import Iterator
from fractions import Fraction

_ASKED = re.compile(r"(what is|what are|how much is|calculate|compute|work out)\s+|\s*=\s*$", re.IGNORECASE)
_SPOKEN = (
    (r"(?<=\d)\s*(?:%|percent)\s+of\s+", "/100*"),
    (r"\s+plus\s+", "+"),
    (r"\s+minus\s+", "-"),
    (r"\s+times\s+|\s+multiplied by\s+|(?<=\d)\s*[x\u00d7]\s*(?=\d)", "*"),
    (r"\s+divided by\s+|\s+over\s+|\u00f7", "/"),
    (r"(?<=\d),(?=\d{3}\b)", ""),
)
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[-+*/()])")
_DATE = re.compile(r"\d[-/]\d+[-/]\d")
_DIGITS = 6


def work_out(text: str) -> str:
    """The sum with its result; empty when the text is not a sum that can be worked out."""
    asked = sum_ = _ASKED.sub("", text).strip()
    for pattern, sign in _SPOKEN:
        sum_ = re.sub(pattern, sign, sum_, flags=re.IGNORECASE)
    tokens = _TOKEN.findall(sum_)
    if _DATE.search(sum_) or "".join(tokens) != re.sub(r"\s", "", sum_) or len(tokens) < 3:
        return ""
    try:
        reading = _Reading(iter(tokens))
        result = reading.terms()
    except (ZeroDivisionError, ValueError):
        return ""
    return f"{asked} = {_shown(result)}" if reading.next is None else ""


class _Reading:
    """Reads from left to right: terms of factors, a factor being a number or terms in brackets."""

    def __init__(self, tokens: Iterator[str]) -> None:
        self._tokens = tokens
        self.next = next(tokens, None)

    def terms(self) -> Fraction:
        total = self._factors()
        while self.next in ("+", "-"):
            sign = self._take()
            total = total + self._factors() if sign == "+" else total - self._factors()
        return total

    def _factors(self) -> Fraction:
        product = self._factor()
        while self.next in ("*", "/"):
            sign = self._take()
            product = product * self._factor() if sign == "*" else product / self._factor()
        return product

    def _factor(self) -> Fraction:
        sign = self._take()
        if sign == "-":
            return -self._factor()
        if sign != "(":
            return Fraction(sign)
        inner = self.terms()
        if self._take() != ")":
            raise ValueError("a bracket is not closed")
        return inner

    def _take(self) -> str:
        token, self.next = self.next, next(self._tokens, None)
        return token or ""


def _shown(number: Fraction) -> str:
    if number.denominator == 1:
        return f"{number.numerator:,}"
    return f"{float(number):,.{_DIGITS}f}".rstrip("0").rstrip(".")
