"""Works out sums as people write and say them: "15% of 80", "7 plus 5", "add 130, 245 and 78"."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isqrt, sqrt

from sestet.models.offline.parameters import NUMBER_WORDS

_ASKS_FOR_SUM = re.compile(
    r"^(?:(?:and|so|tell\s+me|calculate|compute|work\s+out|figure\s+out|solve|evaluate|what\s+(?:is|are|would\s+be|does)"
    r"|what's|whats|how\s+much\s+(?:is|are|would\s+be|does)|what|the\s+(?:result|value)\s+of)\s+)+"
    r"|\s+(?:is|make|makes|equals?|come\s+to)\s*$|\s*=\s*\??\s*$",
    re.IGNORECASE,
)
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_LIST = rf"{_NUMBER}(?:\s*(?:,\s*and|,|and|\+|plus)\s*{_NUMBER})+"
#: How people say a sum, and the same in signs. The first that fits a whole text is used.
_SENTENCES: tuple[tuple[str, str], ...] = (
    (
        rf"(?:add(?:\s+up)?|(?:the\s+)?sum(?:\s+up)?(?:\s+of)?|(?:the\s+)?total(?:\s+of)?)\s+(?P<list>{_LIST})(?:\s+(?:up|together))?",
        "+",
    ),
    (rf"multiply\s+(?P<list>{_LIST.replace('plus', 'by')})", "*"),
    (rf"subtract\s+(?P<b>{_NUMBER})\s+from\s+(?P<a>{_NUMBER})", r"\g<a>-\g<b>"),
    (
        rf"(?:divide|split|share)\s+(?:(?:an?|the|my|our)\s+)?(?:\w+\s+of\s+)?[$€£]?(?P<a>{_NUMBER})(?:\s*(?:[$€£]|dollars?|euros?|pounds?))?"
        rf"\s+(?:equally\s+|evenly\s+)?(?:by|among|amongst|between|in|into|with|over)\s+(?P<b>{_NUMBER})(?:\s+\w+){{0,2}}",
        r"\g<a>/\g<b>",
    ),
    (
        rf"(?P<b>{_NUMBER})\s*(?:%|percent)\s+(?:tip\s+|tax\s+|vat\s+)?on\s+(?P<a>{_NUMBER})",
        r"\g<a>*\g<b>/100",
    ),
    (rf"(?:the\s+)?square\s+of\s+(?P<a>{_NUMBER})", r"\g<a>^2"),
    (rf"(?:the\s+)?cube\s+of\s+(?P<a>{_NUMBER})", r"\g<a>^3"),
    (rf"half\s+(?:of\s+)?(?P<a>{_NUMBER})", r"\g<a>/2"),
    (rf"a\s+(?:third|quarter)\s+of\s+(?P<a>{_NUMBER})", ""),
    (rf"(?:double|twice)\s+(?:of\s+)?(?P<a>{_NUMBER})", r"\g<a>*2"),
    (rf"(?P<a>{_NUMBER})\s*(?:-|minus|less)\s*(?P<b>{_NUMBER})\s*(?:%|percent)", r"\g<a>*(100-\g<b>)/100"),
    (rf"(?P<a>{_NUMBER})\s*(?:\+|plus)\s*(?P<b>{_NUMBER})\s*(?:%|percent)", r"\g<a>*(100+\g<b>)/100"),
    (rf"(?P<b>{_NUMBER})\s*(?:%|percent)\s+off\s+(?P<a>{_NUMBER})", r"\g<a>*(100-\g<b>)/100"),
)
_FRACTIONS = {"third": "3", "quarter": "4"}
_SPOKEN = (
    (r"[$€£]\s*(?=\d)|(?<=\d)\s*(?:dollars?|euros?|pounds?|eur|usd|€|\$)(?!\w)", ""),
    (r"(?<=\d)\s*(?:%|percent)\s+of\s+", "/100*"),
    (r"(?<=\d/\d)\s+of\s+(?=\d)", "*"),
    (r"\s+squared\b|\u00b2", "^2"),
    (r"\s+cubed\b|\u00b3", "^3"),
    (r"\s+(?:raised\s+)?to\s+the\s+(?:power\s+(?:of\s+)?|(?=\d+(?:st|nd|rd|th)\b))|\s*\*\*\s*", "^"),
    (r"(?<=\^)(\d+)(?:st|nd|rd|th)?(?:\s+power)?", r"\1"),
    (r"\s+plus\s+", "+"),
    (r"\s+(?:minus|less)\s+", "-"),
    (r"\s+times\s+|\s+multiplied by\s+|(?<=\d)\s*[x\u00d7]\s*(?=\d)", "*"),
    (r"\s+divided by\s+|\s+over\s+|\u00f7", "/"),
    (r"\u2212", "-"),
    (r"(?<=\d),(?=\d{3}\b)", ""),
)
_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred")
_WORDS = {
    **NUMBER_WORDS,
    **{word: number for number, word in enumerate(_TEENS, 13)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
    "zero": 0,
}
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[-+*/^()])")
#: Figures that are a day or a month, and no sum.
_DATE = re.compile(r"\d[-/]\d+[-/]\d|^\d{1,2}[-/](?:19|20)\d\d$")
_ROOT = re.compile(
    rf"(?:the\s+)?(?:square\s+root|sqrt)\s*(?:of\s+|\(\s*)?(?P<number>{_NUMBER})\s*\)?", re.IGNORECASE
)
_DIGITS = 6
#: A larger power has more digits than anybody reads.
_LARGEST_EXPONENT, _LARGEST_BASE = 100, 10**6


_FOLLOW_UP = re.compile(
    rf"(?:(?:and|then|now|ok|so|what\s+(?:is|about)|what's|whats|how\s+about)\s+)*(?:(?:that|it|the\s+result)\s+)?"
    rf"(?:(?P<sign>divided\s+by|times|multiplied\s+by|plus|minus|less|over|[-+*/\u00d7\u00f7x])\s*(?P<number>{_NUMBER})(?P<percent>\s*(?:%|percent))?(?:\s+(?:vat|tax|sales\s+tax|tip|gratuity|interest|discount|fees?|shipping|postage|delivery))?"
    rf"|(?P<times>double|twice|half)(?:\s+of)?\s+(?:that|it)|(?P<share>{_NUMBER})\s*(?:%|percent)\s+of\s+(?:that|it|the\s+result))",
    re.IGNORECASE,
)
_SIGNS = {"divided by": "/", "over": "/", "\u00f7": "/", "plus": "+", "minus": "-", "less": "-"}
_FACTORS = {"double": "2", "twice": "2", "half": "(1/2)"}


_COMMAND = re.compile(
    r"(?P<deed>divide|split|share|multiply|add|subtract)\s+(?:(?:that|it|the\s+result)\s+(?:by|in|into|among|between)\s+)?(?P<number>\d[\d.,]*)"
    r"(?:\s+(?:to|from)\s+(?:that|it|the\s+result))?$",
    re.IGNORECASE,
)
_DEEDS = {
    "divide": "divided by",
    "split": "divided by",
    "share": "divided by",
    "multiply": "times",
    "add": "plus",
    "subtract": "minus",
}


def _as_sign(found: re.Match[str]) -> str:
    return f"{_DEEDS[found['deed'].casefold()]} {found['number']}"


_OTHER_NUMBER = re.compile(
    r"(?:(?:and|what about|how about|or) )*(?:of|for|with) (?P<number>\d[\d.,]*)", re.IGNORECASE
)


def go_on_with_sum(text: str, earlier: Sequence[str]) -> str:
    """The sum that goes on with the result before it ("and divided by 2?"); empty for another text."""
    before = earlier[-1].strip(" .!?") if earlier else ""
    if (other := _OTHER_NUMBER.fullmatch(text.strip(" .!?"))) and work_out(before):
        # "What is 19% of 1200?", "and of 450?"
        *_, last = re.finditer(r"\d[\d.,]*", before)
        return work_out(f"{before[: last.start()]}{other['number']}{before[last.end() :]}")
    result, answer = "", ""
    for said in (*earlier, text):
        plain = _COMMAND.sub(_as_sign, _with_figures(said.strip(" .!?")))
        followed = _FOLLOW_UP.fullmatch(plain) if result else None
        result = _followed(result, followed) if followed else _in_figures(plain)
        answer = work_out(result) if followed else ""
    return answer


def _followed(result: str, found: re.Match[str]) -> str:
    if found["share"]:
        return f"{found['share']}/100*({result})"
    if found["times"]:
        return f"({result})*{_FACTORS[found['times'].casefold()]}"
    sign = " ".join(found["sign"].casefold().split())
    sign = _SIGNS.get(sign, sign if sign in "+-*/" else "*")
    if found["percent"] and sign in "+-":
        return f"({result})*(100{sign}{found['number']})/100"
    return f"({result}){sign}{found['number']}"


def _in_figures(text: str) -> str:
    """A sum in signs; empty for a text that is none."""
    if not work_out(text):
        return ""
    return _signs(_ASKS_FOR_SUM.sub("", text.strip(" .!?")).strip(" .!?"))


def _signs(asked: str) -> str:
    sum_ = _in_signs(asked)
    for pattern, sign in _SPOKEN:
        sum_ = re.sub(pattern, sign, sum_, flags=re.IGNORECASE)
    return re.sub(r"\s", "", sum_)


def work_out(text: str) -> str:
    """The sum with its result; empty when the text is not a sum."""
    asked = _ASKS_FOR_SUM.sub("", text.strip(" .!?")).strip(" .!?")
    if root := _ROOT.fullmatch(asked):
        return f"{asked} = {_shown(_square_root(Fraction(root['number'].replace(',', ''))))}"
    sum_ = _signs(_with_figures(asked))
    tokens = _TOKEN.findall(sum_)
    if _DATE.search(sum_) or "".join(tokens) != sum_ or len(tokens) < 3:
        return ""
    try:
        parser = _SumParser(iter(tokens))
        result = parser.terms()
    except ZeroDivisionError:
        return f"{asked} has no result: dividing by 0 is not possible."
    except ValueError:
        return ""
    return f"{asked} = {_shown(result)}" if parser.next is None else ""


def _with_figures(text: str) -> str:
    """Number words as figures: "divided by zero"."""
    return _NUMBER_WORD.sub(lambda found: str(_WORDS[found[0].casefold()]), text)


def _square_root(number: Fraction) -> Fraction:
    """Exact for the square of a fraction, else to twelve digits."""
    whole = Fraction(isqrt(number.numerator), isqrt(number.denominator))
    return whole if whole * whole == number else Fraction(sqrt(number))


def _in_signs(asked: str) -> str:
    for pattern, signs in _SENTENCES:
        if found := re.fullmatch(pattern, asked, re.IGNORECASE):
            if "list" in found.groupdict():
                return signs.join(re.findall(_NUMBER, found["list"]))
            part = next((word for word in _FRACTIONS if word in asked.casefold()), "")
            return f"{found['a']}/{_FRACTIONS[part]}" if part else found.expand(signs)
    return asked


class _SumParser:
    """A recursive-descent parser: terms of factors of powers, of numbers or of terms in brackets."""

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
        product = self._power()
        while self.next in ("*", "/"):
            sign = self._take()
            product = product * self._power() if sign == "*" else product / self._power()
        return product

    def _power(self) -> Fraction:
        base = self._factor()
        if self.next != "^":
            return base
        self._take()
        exponent = self._power()
        if exponent.denominator != 1 or abs(exponent) > _LARGEST_EXPONENT or abs(base) > _LARGEST_BASE:
            raise ValueError("too large, or no whole exponent")
        return base**exponent.numerator

    def _factor(self) -> Fraction:
        sign = self._take()
        if sign == "-":
            return -self._power()
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
