"""Which older facts a new one replaces, by a few plain rules. Pure.

A fact that is replaced by mistake is not lost: it stays, is shown as replaced, and can be restored. The rules
hold what can be said with some certainty: the same attribute with another value, or a yes that became a no.
"""

import re
from collections.abc import Iterable

from sestet.core.label import Label
from sestet.core.record import Record

#: Things of which one has one at a time; "my sister is tall" must not replace "my sister is Ada".
_SINGLE = frozenset(
    # One text is easier to read and to keep than a list of quoted words.
    """
    address age birthday boss city code colour color company contact country date deadline diet doctor email
    employer gate height home hometown hotel iban job landlord language login manager name nickname number
    office phone pin plate position postcode profession room salary school seat size surname team time
    timezone title university username weight workplace zip
    """.split()  # noqa: SIM905
)
# Compiled on first use: most programs end before anything is remembered.
_CHOSEN = r"^(favou?rite|preferred|current|new|usual|main|default)\b"
_ATTRIBUTE = (
    r"^(?P<whose>my|our|the|(?:my|our) \w+'s|\w+'s) (?P<what>[\w' -]+?)"
    r" (?:is|are|was|will be|has changed to|changed to)(?P<now> now)? (?P<value>.+)$"
)
#: What the person is or does in one way at a time.
_FIRST_PERSON = (
    r"^(?:i|we)(?: now| currently)? (?P<verb>live in|live at|live near|work at|work for|work as|am called"
    r"|am named|was born in|was born on|moved to|go to school at|study at)(?: now)? (?P<value>.+)$"
)
_MOVED = {"moved to": "live in", "live at": "live in", "live near": "live in", "am named": "am called"}
_AGE = r"^i(?:'m| am)(?: now)? (?P<value>\d+)(?: years old)?$"
_NEGATION = r"\b(?:do not|does not|no longer|not|never|don't|doesn't|isn't|aren't)\b ?"
_NO_ANYMORE = r" (?:any ?more|any longer|now)$"


class Statement(Record):
    """What a fact is about, and what it says of it."""

    about: str
    value: str


def replaced(new: str, new_label: Label, known: Iterable[tuple[int, str, Label]]) -> list[int]:
    """The ids of the known facts in whose place the new one counts.

    What a stranger may have written never replaces what the person said.
    """
    said = read_statement(new)
    if said is None:
        return []
    return [
        memory_id
        for memory_id, text, label in known
        if (label.untrusted or not new_label.untrusted)
        and (old := read_statement(text)) is not None
        and old.about == said.about
        and old.value != said.value
    ]


def read_statement(fact: str) -> Statement | None:
    """What a fact says of what; None when no rule knows its form."""
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
    """To like tea and not to like tea are about the same, and say yes and no."""
    if not re.match(r"(?:i|we|my|our)\b", text):
        return None
    positive = re.sub(_NEGATION, "", re.sub(_NO_ANYMORE, "", text))
    return Statement(positive, "no" if re.search(_NEGATION, text) else "yes")
