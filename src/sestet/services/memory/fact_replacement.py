"""Rules that decide which older facts a new fact replaces.

A fact that is replaced by mistake is not lost: it is kept, shown as replaced, and can be restored. The rules
cover clear cases: the same attribute with another value, news about the one fact that it can mean, a value
that the new fact calls wrong or ended, and a yes that became a no.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from sestet.core.label import Label
from sestet.core.record import Record
from sestet.services.memory.phrases import ME, name_of
from sestet.services.memory.slots import Slots, read_slots

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
#: Words before a statement or at its end that do not change it.
_LEAD = r"^(?:(?:actually|sorry|no|oh|well|correction|in fact|by the way|update|from now on)\b[,:!.]* )+"
_TAIL = r" (?:now|nowadays|these days|at the moment|currently)$"
#: "my dog is called Max, not Rex".
_CORRECTION = r"^(?P<said>.+?)(?:, (?:and )?(?:not|no longer)| instead of| rather than) (?P<wrong>.+)$"
_CHOSEN = r"^(favou?rite|preferred|current|new|usual|main|default)\b"
_ATTRIBUTE = (
    r"^(?P<whose>my|our|the|(?:my|our) \w+'s|\w+'s) (?P<what>[\w' -]+?)"
    r" (?:is|are|was|will be|has changed to|changed to|has changed,? (?:it|and) is)(?P<now> now)?"
    r" (?P<value>.+)$"
)
#: "I have a new phone number: 5" and "I changed my phone number to 5" say what my phone number is.
_CHANGED = (
    r"^(?:i|we) (?:have|got|have got) (?P<now>an? new) (?P<what>[\w -]+?)"
    r"(?::|, (?:it is |which is )?| is) ?(?P<value>.+)$",
    r"^(?:i|we) (?:have )?(?P<now>changed) (?:my|our) (?P<what>[\w -]+?) to (?P<value>.+)$",
)
_SAME_ATTRIBUTE = {"number": "phone number", "telephone number": "phone number"}
_NAMED = r"^(?P<whose>my|our) (?P<who>[\w -]+?) (?:is|was) (?:now )?(?:called|named) (?P<value>.+)$"
_I = r"^(?:i|we)(?: am| are| have)?(?: now| currently| just| recently| finally)* "
#: Statements about the person with one value at a time, by what they are about.
_FIRST_PERSON: dict[str, str] = {
    "i live in": _I
    + r"(?:live in|live at|live near|living in|moved (?:from .+? )?(?:back )?to|relocated to|settled in)",
    "i work at": _I
    + r"(?:(?:changed jobs?|switched jobs?)(?: and|,|:)? (?:i )?(?:now )?)?"
    + r"(?:work at|work for|working at|working for|joined|started (?:working )?(?:at|for)"
    + r"|got a (?:new )?job (?:at|with)|employed (?:at|by))",
    "i work as": _I + r"(?:work as|working as)",
    "i study at": _I + r"(?:study at|studying at|go to school at|going to school at)",
    "i was born in": r"^i was born in",
    "i was born on": r"^i was born on",
    "my name": r"^(?:i am (?:called|named)|my name is|call me)",
    "i am aged": r"^i (?:am|turned|just turned)(?: now)?(?= \d+(?: years old)?$)",
}
_FULL = {"i'm": "i am", "i've": "i have", "we're": "we are", "we've": "we have"}
#: How many words a correction and the corrected fact have in common.
_LEAST_COMMON = 2
#: The most words of a value.
_LONGEST_VALUE = 4
#: Words that tell a change of what was said before.
_NEWS = r"^(?:actually|sorry|no|correction|oops|update)\b|\b(?:is|are|am) now\b|\bnow$|\binstead$"
_PLACING = frozenset(
    ("in", "at", "on", "from", "with", "near", "by", "under", "behind", "to", "of", "a", "an")
)
#: "Lena is allergic to nuts and lives in Graz" tells two things.
_SECOND_VERB = (
    r"\b(?:is|are|am|has|have|likes?|loves?|hates?|works?|studies|plays?|drives?|speaks?|lives?|eats?|needs?)\b.+"
    r"\band (?:is|are|am|has|have|likes?|loves?|hates?|works?|studies|plays?|drives?|speaks?|lives?|eats?"
    r"|needs?)\b"
)
#: "My daughter Lena lives in Graz" also tells who Lena is.
_PRESENTED = r"(?i:my|our) (?P<role>[a-z]+) [A-Z][\w-]+ (?=[a-z])"
_NOW = r"\s+(?:now|instead)(?=\s|$)"
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
    texts = {memory_id: text for memory_id, text, label in known if label.untrusted >= new_label.untrusted}
    told = read_slots(new)
    read = {memory_id: read_slots(text) for memory_id, text in texts.items() if not _says_more(text, new)}
    replaced = [
        memory_id
        for memory_id, text in texts.items()
        if contradicts(new, text)
        or any(_gives_another_value(a, b) for a in told for b in read.get(memory_id, ()))
        or any(_names_ended(a, text, read.get(memory_id, ())) for a in told)
    ]
    for one in told if not replaced else ():
        if (meant := _changed_by_news(one, read)) is not None and meant not in replaced:
            replaced.append(meant)
    return replaced


def _says_more(old: str, new: str) -> bool:
    """Whether an older fact tells something beside its value: an allergy, or who "my daughter Lena" is."""
    if re.search(_SECOND_VERB, old, re.IGNORECASE):
        return True
    presented = re.match(_PRESENTED, old)
    # Two ages, days or prices beside each other are worse than a role that must be told again.
    is_of_life = any(slot.relation in ("home", "work", "profession", "study") for slot in read_slots(new))
    return is_of_life and presented is not None and presented["role"].casefold() not in _words(new)


def _gives_another_value(new: Slots, old: Slots) -> bool:
    """Whether the new statement has the place of the old one, or says that its value has ended."""
    if new.ended and _is_ended(new, old):
        return True
    is_same = (
        bool(new.relation) and new.relation == old.relation and new.subject == old.subject and bool(new.value)
    )
    if not is_same or _same_text(new.value, old.value) or not _comparable_kinds(new, old):
        return False
    if new.relation in _BY_SUBJECT:
        return new.single and old.single and _same_somebody(new, old)
    if new.relation == new.subject and not (new.kinds & old.kinds - {"text", "name"}):
        # "Noor is …" says many things of Noor.
        return False
    if new.key == old.key:
        # "The meeting is fun" and "the meeting is long" can both be true.
        has_value = "text" not in new.kinds & old.kinds
        return (new.single and old.single and has_value) or new.news
    # "The new door code" is the code of the door that was told before.
    return new.news and new.single and bool(new.key) and (new.key <= old.key or old.key <= new.key)


def _changed_by_news(new: Slots, known: Mapping[int, Sequence[Slots]]) -> int | None:
    """The one older fact with a value of the same kind that news can mean; None: none, or several."""
    if not new.news or not new.key or not new.value:
        return None
    fits: dict[int, float] = {}
    for memory_id, statements in known.items():
        for old in statements:
            is_about = new.subject == old.subject or {new.subject, old.subject} & (new.key & old.key)
            is_near = bool(old.key) and (new.key <= old.key or old.key <= new.key)
            has_kind = bool(new.kinds & old.kinds - {"text"}) and _comparable_kinds(new, old)
            if is_about and is_near and has_kind and not _same_text(new.value, old.value):
                fit = len(new.key & old.key) / len(new.key | old.key)
                fits[memory_id] = max(fit, fits.get(memory_id, 0.0))
    best = max(fits.values(), default=0.0)
    meant = [memory_id for memory_id, fit in fits.items() if fit == best]
    return meant[0] if len(meant) == 1 else None


#: Relations that a verb tells: whose it is says all.
_BY_SUBJECT = frozenset({"home", "work", "profession", "study", "born", "age", "name", "car", "bank"})
_EXACT = frozenset({"date", "time", "weekday", "duration", "number"})


def _same_somebody(new: Slots, old: Slots) -> bool:
    """ "The keys live in the drawer" says nothing of where I live."""
    return new.subject != ME or new.key == old.key


def _is_ended(new: Slots, old: Slots) -> bool:
    """Whether the ended words are the value of a statement about the same subject."""
    ended = {word for word in _words(new.ended) if word not in _PLACING and word != "the"}
    if ended and name_of(new.ended) == old.subject:
        # "I cook on weekdays, not Jonas"
        return new.key <= old.key and _same_text(new.value, old.value)
    is_about = new.subject == old.subject or bool(new.key & old.key)
    shares = not new.relation or bool(new.key & old.key) or new.subject != old.subject
    return bool(ended) and is_about and shares and ended <= set(_words(old.value))


def _is_placed(value: str) -> bool:
    return re.match(r"(?:in|at|on|near|under|behind|to)\b", value, re.IGNORECASE) is not None


def _names_ended(new: Slots, text: str, statements: Sequence[Slots]) -> bool:
    """ "I sold the Yamaha" ends "I own a motorbike, a Yamaha MT-07", but not what that costs."""
    ended = re.fullmatch(r"(?:the |my |our )?([A-ZÄÖÜ][\w-]+)", new.ended)
    is_owned = re.match(r"(?:i|we) (?:own|have|drive|ride|use|bank)\b", text.casefold()) is not None
    is_mine = new.subject == ME and all(slot.subject == ME for slot in statements)
    return ended is not None and is_owned and is_mine and ended[1].casefold() in _words(text)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w-]+", text.casefold())


def _same_text(one: str, other: str) -> bool:
    return _words(one) == _words(other)


def _comparable_kinds(new: Slots, old: Slots) -> bool:
    """Whether two values may take each other's place: no price takes that of a name."""
    if len({_is_placed(slot.value) for slot in (new, old)}) > 1:
        # "My sister is now in Rome" says nothing of "my sister is Ada".
        return bool(new.kinds & old.kinds & _EXACT) or new.relation in _BY_SUBJECT
    if "money" in new.kinds | old.kinds:
        return "money" in new.kinds and "money" in old.kinds
    exact = (new.kinds & _EXACT, old.kinds & _EXACT)
    if all(exact):
        return bool(exact[0] & exact[1])
    return not any(exact) or (new.news and new.single)


def contradicts(new: str, old: str) -> bool:
    """Whether two facts give one subject different values, or the new one calls the old one's value wrong."""
    correction = re.match(_CORRECTION, _tidy(new))
    if correction and _has_wrong_words(_tidy(old), correction["said"], correction["wrong"]):
        return True
    said, known = read_statement(new), read_statement(old)
    if said is not None and known is not None and said.about == known.about:
        return said.value != known.value
    return _changes_one_value(new, old)


def _changes_one_value(new: str, old: str) -> bool:
    """Whether two facts differ in one value, and the new one is told as news or only a number differs.

    "my coach is now Ilka" changes "my coach is Ben", and "he takes 2 pills at noon" changes "… 1 pill …".
    """
    is_news = re.search(_NEWS, " ".join(new.casefold().split())) is not None
    here, there = (re.sub(_NOW, " ", _tidy(text)).split() for text in (new, old))
    start = _common(here, there)
    end = _common(here[start:][::-1], there[start:][::-1])
    values = (here[start : len(here) - end], there[start : len(there) - end])
    if start < 2 or not all(1 <= len(value) <= _LONGEST_VALUE for value in values):
        return False
    # "my sister is now in Rome" says nothing of "my sister is Ada".
    if len({value[0] in _PLACING for value in values}) > 1:
        return False
    if is_news:
        return start + end >= _LEAST_COMMON + 1
    return start >= _LEAST_COMMON + 1 and start + end > _LEAST_COMMON + 2 and all(map(_is_number, values))


def _is_number(words: Sequence[str]) -> bool:
    return any(character.isdecimal() for character in " ".join(words))


def _has_wrong_words(old: str, said: str, wrong: str) -> bool:
    """Whether the old fact says the same as the new one, with the wrong words in one place."""
    here, there, removed = said.split(), old.split(), wrong.split()
    start = _common(here, there)
    end = len(there) - _common(here[start:][::-1], there[start:][::-1])
    # "not on Monday" and "not Monday" mean the same.
    extra = len(removed) - (end - start)
    is_same = 0 <= extra <= start and there[start - extra : end] == removed
    return is_same and start + len(there) - end >= _LEAST_COMMON


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words two texts have in common from their beginnings on."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def read_statement(fact: str) -> Statement | None:
    """The subject and value of a fact; None if no rule matches it."""
    text = _tidy(fact)
    if correction := re.match(_CORRECTION, text):
        text = correction["said"]
    text = re.sub(_TAIL, "", text)
    for about, pattern in _FIRST_PERSON.items():
        if found := re.match(rf"{pattern}(?: now)? (?P<value>.+)$", text):
            return Statement(about, found["value"].removesuffix(" years old"))
    return _attribute(text) or _with_polarity(text)


def _attribute(text: str) -> Statement | None:
    """The value of a thing, if the thing has one value at a time or the text says that it has changed."""
    if found := re.match(_NAMED, text):
        return Statement(f"{found['whose']} {found['who']}'s name", found["value"])
    for pattern in (_ATTRIBUTE, *_CHANGED):
        found = re.match(pattern, text)
        if found and (
            found["now"] or found["what"].split()[-1] in _SINGLE or re.match(_CHOSEN, found["what"])
        ):
            what = re.sub(r"^(?:new|current) ", "", found["what"]).replace("favorite", "favourite")
            whose = found.groupdict().get("whose") or "my"
            return Statement(f"{whose} {_SAME_ATTRIBUTE.get(what, what)}", found["value"])
    return None


def _tidy(fact: str) -> str:
    """The fact in lower case, in full words and without what does not change it."""
    text = " ".join(fact.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()).rstrip(" .!")
    for short, full in _FULL.items():
        text = re.sub(rf"\b{short}", full, text)
    return re.sub(_LEAD, "", text)


def _with_polarity(text: str) -> Statement | None:
    """ "I like tea" and "I do not like tea" have one subject, with the values yes and no."""
    if not re.match(r"(?:i|we|my|our)\b", text):
        return None
    positive = re.sub(_NEGATION, "", re.sub(_NO_ANYMORE, "", text))
    return Statement(positive, "no" if re.search(_NEGATION, text) else "yes")
