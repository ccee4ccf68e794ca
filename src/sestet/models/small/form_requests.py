"""Reads requests to fill in a form on a page, and what a page says about something."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sestet.models.offline.parameters import ADDRESS, unquoted

_PAGE = rf"(?:the\s+)?(?:(?:web\s*)?page|(?:web)?site)?\s*{ADDRESS}"
_SAYS = r"(?:say|says|tell|tells|write|writes|mention|mentions)(?:\s+(?:us|me))?"
_ABOUT = re.compile(
    rf"(?:(?:tell|show)\s+me\s+|find\s+out\s+)?what\s+(?:(?:does|do)\s+)?(?:it|this|{_PAGE})\s+{_SAYS}\s+"
    r"(?:about|on|of|regarding)\s+(?P<topic>[^;]+)",
    re.IGNORECASE,
)
_FILLS = re.compile(r"(?:fill(?:\s+(?:in|out))?|enter|type)\s+(?:the\s+fields?\s+)?", re.IGNORECASE)
_SENDS = re.compile(
    r"(?:\s*[,;]\s*|\s+)(?:and\s+)?(?:then\s+)?(?:send|submit)(?:\s+(?:it|(?:the|this)\s+form))?"
    r"(?:\s+(?:with|by|using)\s+(?:pressing\s+)?(?:the\s+)?(?:button\s+)?(?P<button>[^,;]+?)(?:\s+button)?)?$",
    re.IGNORECASE,
)
#: Between two fields: the next one has a name and a value of its own.
_NEXT = re.compile(
    r"(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+)(?=(?:(?!\band\b)[\w' -]){1,60}?(?:\s+with\s|\s*[:=]))",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"(?:the\s+)?(?:field\s+)?(?P<label>[^:=]+?)(?:\s+with\s+|\s*[:=]\s*)(?P<value>.+)", re.IGNORECASE
)
#: A value with such words holds a second order: "Ada and download the report".
_FURTHER = re.compile(
    r"\b(?:and|then)\s+(?:then\s+)?(?:click|close|download|go|log|mail|open|press|print|read|save|send|show|sign"
    r"|submit|take|tell|tick|upload|wait)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"")
_PLACE = re.compile(r"\x00(\d+)\x00")
_ARTICLE = re.compile(r"(?:the|an?|its|their)\s+", re.IGNORECASE)
_OWN = re.compile(r"my\s+(?P<thing>[\w-]+(?:\s+[\w-]+){0,2})", re.IGNORECASE)
_FACT_END = r"(?=\s+and\s+(?:i|we|my|our)\b|[.;,]?\s*$|[;,]\s|\.\s)"
#: Facts in other words than "my … is".
_TOLD_AS = {
    "name": r"(?:i am (?:called|named)|call me)\s+",
    "city": r"i live in\s+",
    "town": r"i live in\s+",
}


class Fill(NamedTuple):
    """Fill in a form on a page."""

    url: str
    #: The names of its fields, and their values.
    fields: tuple[tuple[str, str], ...]
    #: Whether to send it, and the button that the request names; empty: none.
    sends: bool = False
    button: str = ""

    @property
    def own(self) -> Sequence[str]:
        """What the values name and do not say, such as the name in "my name"."""
        found = (_OWN.fullmatch(value) for _, value in self.fields)
        return list(dict.fromkeys(" ".join(each["thing"].casefold().split()) for each in found if each))

    def with_values(self, values: Mapping[str, str]) -> str:
        """The same request in words, with these values in the places of what it named."""
        said = [(label, self._value(value, values)) for label, value in self.fields]
        fields = ", ".join(f"{label} with “{_without_quotes(value)}”" for label, value in said)
        button = f" with the button {self.button}" if self.button else ""
        return f"open {self.url} and fill in {fields}" + (
            f", and send the form{button}" if self.sends else ""
        )

    def _value(self, value: str, values: Mapping[str, str]) -> str:
        found = _OWN.fullmatch(value)
        return values.get(" ".join(found["thing"].casefold().split()), value) if found else value


def _without_quotes(value: str) -> str:
    return re.sub("[“”]", "", value)


class About(NamedTuple):
    """Tell what a page says about something."""

    url: str
    topic: str


def read_about(url: str, order: str) -> About | None:
    found = _ABOUT.fullmatch(order)
    if found is None:
        return None
    article = _ARTICLE.match(found["topic"])
    return About(url, unquoted(found["topic"][article.end() if article else 0 :]))


def read_fill(url: str, order: str) -> Fill | None:
    """The form work of an order; None: it is other work, or a field has no value."""
    begin = _FILLS.match(order)
    if begin is None:
        return None
    quotes = _QUOTED.findall(order)
    numbers = iter(range(len(quotes)))
    # What stands in quotes is a value as a whole, whatever words it has.
    words = _QUOTED.sub(lambda _: f"\0{next(numbers)}\0", order[begin.end() :])
    sending = _SENDS.search(words)
    found = [
        _FIELD.fullmatch(each.strip(" ,;")) for each in _NEXT.split(words[: sending and sending.start()])
    ]
    if not all(found) or _FURTHER.search(words[: sending and sending.start()]):
        return None

    def whole(text: str) -> str:
        return unquoted(_PLACE.sub(lambda place: quotes[int(place[1])], text))

    fields = tuple((whole(each["label"]), whole(each["value"])) for each in found if each)
    if any(label.casefold().split()[-1:] == ["form"] for label, _ in fields):
        return None
    return Fill(url, fields, sending is not None, whole((sending and sending["button"]) or ""))


def values_on_record(things: Sequence[str], memory: str) -> Mapping[str, Sequence[str]]:
    """What the memory says about each of these things of the person; several values if it is not certain."""
    return {thing: _on_record(thing, memory) for thing in things}


def _on_record(thing: str, memory: str) -> Sequence[str]:
    words = r"\s+".join(map(re.escape, thing.split()))
    starts = [rf"my\s+{words}(?:\s+address|\s+number)?\s+(?:is|are)\s+", _TOLD_AS.get(thing, "")]
    pattern = re.compile(rf"\b(?:{'|'.join(filter(None, starts))})(?P<value>\S.*?){_FACT_END}", re.IGNORECASE)
    found = (match["value"].strip(" .;,") for line in memory.splitlines() for match in pattern.finditer(line))
    return list(dict.fromkeys(found))
