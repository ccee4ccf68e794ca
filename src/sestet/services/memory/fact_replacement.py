"""Rules that decide which older facts a new fact replaces.

A fact that is replaced by mistake is not lost: it is kept, shown as replaced, and can be restored. The rules
cover two clear cases: the same attribute with another value, and a yes that became a no.
"""

import re
from collections.abc import Iterable

from sestet.core.label import Label
from sestet.core.record import Record

#: Attributes with one value at a time; "my sister is tall" must not replace "my sister is Ada".
_SINGLE = frozenset(
    # One text is easier to read and to keep than a list of quoted words.
    """
    address age birthday boss city code colour color company contact country date deadline diet doctor email
    employer gate height home hometown hotel iban job landlord language login manager name nickname number
    office phone pin plate position postcode profession room salary school seat size surname team time
    timezone title university username weight workplace zip
    """.split()  # noqa: SIM905
)
# Compiled on first use: most processes end before a fact is stored.
_CHOSEN = r"^(favou?rite|preferred|current|new|usual|main|default)\b"
_ATTRIBUTE = (
    r"^(?P<whose>my|our|the|(?:my|our) \w+'s|\w+'s) (?P<what>[\w' -]+?)"
    r" (?:is|are|was|will be|has changed to|changed to)(?P<now> now)? (?P<value>.+)$"
)
#: Statements about the person with one value at a time.
_FIRST_PERSON = (
    r"^(?:i|we)(?: now| currently)? (?P<verb>live in|live at|live near|work at|work for|work as|am called"
    r"|am named|was born in|was born on|moved to|go to school at|study at)(?: now)? (?P<value>.+)$"
)
_MOVED = {"moved to": "live in", "live at": "live in", "live near": "live in", "am named": "am called"}
_AGE = r"^i(?:'m| am)(?: now)? (?P<value>\d+)(?: years old)?$"
_NEGATION = r"\b(?:do not|does not|no longer|not|never|don't|doesn't|isn't|aren't)\b ?"
_NO_ANYMORE = r" (?:any ?more|any longer|now)$"


class Statement(Record):
    """The subject of a fact, and its value."""

    about: str
    value: str


def find_replaced(new: str, new_label: Label, known: Iterable[tuple[int, str, Label]]) -> list[int]:
    """The ids of the known facts that the new fact replaces.

    Untrusted text never replaces a fact in the person's own words.
    """
    return [
        memory_id
        for memory_id, text, label in known
        if label.untrusted >= new_label.untrusted and contradicts(new, text)
    ]


def contradicts(new: str, old: str) -> bool:
    """Whether two facts give one subject different values."""
    said, known = read_statement(new), read_statement(old)
    return said is not None and known is not None and said.about == known.about and said.value != known.value


def read_statement(fact: str) -> Statement | None:
    """The subject and value of a fact; None if no rule matches it."""
    text = " ".join(fact.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()).rstrip(" .!")
    if found := re.match(_AGE, text):
        return Statement("i am aged", found["value"])
    if found := re.match(_FIRST_PERSON, text):
        return Statement(f"i {_MOVED.get(found['verb'], found['verb'])}", found["value"])
    found = re.match(_ATTRIBUTE, text)
    if found and (found["what"].split()[-1] in _SINGLE or re.match(_CHOSEN, found["what"]) or found["now"]):
        what = re.sub(r"^(?:new|current) ", "", found["what"])
        return Statement(f"{found['whose']} {what.replace('favorite', 'favourite')}", found["value"])
    return _with_polarity(text)


def _with_polarity(text: str) -> Statement | None:
    """ "I like tea" and "I do not like tea" have one subject, with the values yes and no."""
    if not re.match(r"(?:i|we|my|our)\b", text):
        return None
    positive = re.sub(_NEGATION, "", re.sub(_NO_ANYMORE, "", text))
    return Statement(positive, "no" if re.search(_NEGATION, text) else "yes")
