"""Reads a told fact as slots: whose it is, what it is about, its value, and whether it tells a change."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sestet.core.lazy_pattern import LazyPattern
from sestet.core.record import Record
from sestet.services.memory.phrases import ME, MINE, head_of, owner_of, person_stems, stems_in, words
from sestet.services.memory.values import kinds_of, without_values

#: A longer text is no single fact.
_LONGEST = 400
_MOST_CLAUSES = 6


class Slots(Record):
    """One statement of a fact."""

    #: ``me``, or the name or role of somebody else.
    subject: str
    #: The name of a relation of the data file, or the noun or verb that the statement is about.
    relation: str
    value: str
    #: The stems of what the statement is about, without its value.
    key: frozenset[str]
    #: What the value is: money, date, time, weekday, duration, number, name; else text.
    kinds: frozenset[str]
    #: Whether the relation has one value at a time.
    single: bool = False
    #: Whether the words tell a change.
    news: bool = False
    #: Words that are no longer true: "I sold the Skoda", "not Rex".
    ended: str = ""


_SHORT = {
    r"\bi'm\b": "I am",
    r"^im\b(?= (?:an?|not|the|allergic|\w+ing)\b)": "I am",
    r"\bi've\b": "I have",
    r"\bwe're\b": "we are",
    r"\bwe've\b": "we have",
    r"\b(he|she|it|that|there)'s\b": r"\1 is",
    r"\bdoesn't\b": "does not",
    r"\bdon't\b": "do not",
    r"\bdidn't\b": "did not",
    r"\bisn't\b": "is not",
    r"\baren't\b": "are not",
    r"\bwon't\b": "will not",
}
_CLAUSE = LazyPattern(
    r"\s*(?:;|(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\d)\.\s|,?\s+(?:and|und|but|aber)\s+(?=(?:i|we|she|he|it|my|our|ich|wir|mein|unser)\b)"
    r"|,\s*(?=(?:i|we|she|he|they|it|my|our|her|his|its|ich|wir|sie|er|es)\b)"
    r"|\s+and\s+(?=(?:bought|got|joined|switched|moved|started)\b))\s*",
    re.IGNORECASE,
)
_PRONOUN = LazyPattern(
    r"^(?:she|he|it|they|sie|er|es)\b|^(?:her|his|its|their|ihr|sein) name\b", re.IGNORECASE
)
#: What is no longer true.
_ENDED = tuple(
    LazyPattern(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?P<subject>.+?) (?:do|does|am|are|is|will) not (?:(?:go|drive|work|live|use|bank|train|"
        r"shop|study|play|stay|have|see|eat|run|take|attend|drink|like|own|\w+ing)(?: (?:to|at|for|in|on"
        r"|with|an?))?"
        r"(?: the)? )?(?P<ended>.+?) (?:any ?more|any longer)$",
        r"^(?P<subject>.+?) no longer (?:\w+)(?: (?:to|at|for|in|with|an?|on))?(?: the)? (?P<ended>.+)$",
        r"^(?P<subject>(?:I|we|she|he|ich|wir|(?:my|our) \w+|[A-ZÄÖÜ]\w+)) (?:have |has )?(?:left|sold"
        r"|quit|cancell?ed|dropped|gave up|got rid of|stopped (?:going to|"
        r"using|taking)|ended|closed my account (?:at|with)|closed our account (?:at|with)"
        r"|resigned from)(?: (?:my|our|the|from|job at))* (?P<ended>.+)$",
        r"^(?P<subject>.+?) (?:have |has )?(?:switched|changed|moved|went)(?: .+?)? from (?P<ended>.+?) to"
        r" (?P<value>.+)$",
        r"^(?P<subject>.+?) (?:have |has )?(?:replaced|swapped|traded)(?: (?:my|our"
        r"|the))? (?P<ended>.+?) (?:with|by|for)"
        r" (?P<value>.+)$",
        r"^(?P<subject>.+?) (?:bin|ist|sind|habe|hat|haben|arbeite|arbeitet|wohne|wohnt|trinke|trinkt"
        r"|fahre|fährt|gehe|"
        r"geht|esse|isst|heißt)\b.*?\bnicht mehr (?:(?:bei|in|zu|nach|im|am) )*(?:(?:der|die|das|dem|den) )?"
        r"(?P<ended>[\w.-]+)\b.*$",
    )
)
_WRONG = LazyPattern(
    r"^(?P<said>.+?)(?:, (?:and |but )?(?:not|no longer)|,? instead of|,? rather than|, (?:und )?nicht"
    r"|,? statt)"
    r" (?P<ended>[^,;]+)$",
    re.IGNORECASE,
)
#: "heißt nicht Waldi, sondern Wotan", "is not Rex but Max"
_NOT_BUT = LazyPattern(
    r"^(?P<before>.+?) (?:nicht|not) (?P<ended>[^,;]+?),? (?:sondern|but) (?P<value>[^,;]+)$", re.IGNORECASE
)
_BE = (
    r"(?:is|are|was|were|am|will be|has been|have been|became|ist|sind|war|waren|wird|bleibt|lautet"
    r"|heißt|heisst)"
)
_MOVED = (
    r"(?:(?:was|were|is|are|has been|have been|got|has|have) )?(?:now )?(?:moved|postponed"
    r"|pushed(?: back)?|rescheduled"
    r"|shifted|changed|brought forward|put back|delayed|switched|raised|increased|lowered|reduced|cut"
    r"|went up|gone up"
    r"|went down|gone down|rose|risen|dropped|fell|fallen|climbed|set)(?: from .+?)? (?:to|until|till|on|for)"
)
#: Statements of an attribute, the most telling first.
_ATTRIBUTES = tuple(
    (LazyPattern(pattern, re.IGNORECASE), news)
    for pattern, news in (
        (
            r"^(?P<owner>.+?) (?:has|have|got|has got|have got|hat|habe|haben)"
            r" (?:an? new|an? different|another|new|einen? neuen?|ein neues) (?P<what>[\w -]+?)"
            r"(?:\s*[:,]\s*(?:(?:her|his|its|the|ihr|sein) (?:name|number) is |(?:it|he|she) is |called "
            r"|named |which is )?"
            r"| (?:called|named|namens) )(?P<value>.+)$",
            True,
        ),
        (
            r"^(?P<owner>.+?) (?:go|goes|went|see|sees|use|uses|have|take|takes)(?: to| with)?"
            r" (?:a different|another|a new|an? new) (?P<what>[\w -]+?)\s*(?:[:,]|called"
            r"|named)\s*(?P<value>.+)$",
            True,
        ),
        (
            # "They changed the shed code to 5518", "the dentist moved my appointment to 28 May"
            r"^(?:I|we|they|he|she|the [\w' -]+?|my [\w' -]+?) (?:have |has )?(?:changed|moved|postponed"
            r"|rescheduled"
            r"|raised|lowered|increased|updated) (?:my|our|the) (?P<what>[\w' -]+?) (?:to"
            r"|until) (?P<value>.+)$",
            True,
        ),
        (
            r"^(?P<owner>I|we|\w+) (?:have |has )?(?:changed|switched|updated) (?:my|our|the|her|his)"
            r" (?P<what>[\w' -]+?)(?: to|[,:;]\s*(?:it is|now it is)?) (?P<value>.+)$",
            True,
        ),
        (r"^(?P<owner>I|we|\w+) (?:have |has )?switched to (?P<value>.+?) for (?P<what>.+)$", True),
        (r"^(?P<owner>I|we|\w+) pays? (?P<value>\S+ (?:euros?|dollars?|pounds?|eur|€)|[€$£]\S+)"
         r"(?: an? \w+| per \w+)?(?: of| for| in)? (?P<what>.+?)(?: for .+)?$", False),
        (r"^(?P<owner>ich|wir|\w+) (?:zahle|zahlt|zahlen) (?P<value>\S+ (?:euro"
            r"|franken)) (?:für )?(?P<what>.+)$", False),
        (rf"^(?P<what>.+?) {_MOVED} (?P<value>.+)$", True),
        (r"^(?P<what>.+?) (?:wurde|ist|wird) (?:auf|um)(?: den| die| das)? (?P<value>.+?)"
         r" (?:verschoben|verlegt|erhöht|gesenkt|geändert|gestiegen|gesunken)$", True),
        (r"^(?P<what>.+?) (?:has|have|hat) (?:an? new|a different|einen neuen|eine neue) (?P<part>[\w -]+?)"
         r"\s*[:,]\s*(?P<value>.+)$", True),
        (rf"^(?P<what>.+?) {_BE} (?:called |named |at |on |with |from )?(?P<value>.+)$", False),
        (r"^(?P<owner>I|we|\w+) (?:have|has|got|own|owns|keep|keeps|go to|goes to|see|sees) (?:an? "
            r"|the )?(?P<what>[\w -]+?)"
         r" (?:called|named) (?P<value>.+)$", False),
        (r"^(?P<what>.+?) (?:costs?|kostet|kosten)(?: me| us)? (?P<value>.+)$", False),
    )
)  # fmt: skip
#: Those that tell a new thing with its name, over the end of a clause.
_OF_CHANGE = _ATTRIBUTES[:5]


@lru_cache(maxsize=1024)
def read_slots(fact: str) -> tuple[Slots, ...]:
    """The statements of a fact; none if no rule reads it."""
    return tuple(_statements(fact))


def _statements(fact: str) -> list[Slots]:
    text = _plain(fact)
    if not text or len(text) > _LONGEST or text.endswith("?"):
        return []
    is_news = words().news.search(text) is not None or words().leads.match(text) is not None
    text = words().leads.sub("", text)
    found: list[Slots] = []
    if (whole := _of_attribute(_bare(text), is_news, _OF_CHANGE)) is not None:
        return [whole]
    subject = ""
    for clause in [part for part in _CLAUSE.split(text) if part and part.strip()][:_MOST_CLAUSES]:
        clause = _with_subject(clause.strip(" ,"), subject)
        read = list(_of_clause(clause, is_news))
        subject = subject or _first_words(clause)
        found += read
    return found


def _plain(fact: str) -> str:
    text = " ".join(fact.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()).rstrip(" .!")
    for short, full in _SHORT.items():
        text = re.sub(short, full, text, flags=re.IGNORECASE)
    return text


def _with_subject(clause: str, subject: str) -> str:
    """A later clause with the subject of the first one in the place of its pronoun."""
    if not subject:
        return clause
    if re.match(r"(?:bought|got|joined|switched|moved|started)\b", clause, re.IGNORECASE):
        return f"{subject} {clause}"
    return _PRONOUN.sub(lambda _: subject, clause)


def _first_words(clause: str) -> str:
    """The subject of a clause, for the pronouns after it."""
    found = re.match(
        r"((?:I|we|ich|wir)\b|(?:my|our|the|mein\w*|unser\w*|der|die|das) [\w'-]+(?: [A-ZÄÖÜ][\w'-]+)*"
        r"|[A-ZÄÖÜ][\w'-]+)",
        clause,
    )
    return found[1] if found else ""


def _of_clause(clause: str, is_news: bool) -> Iterator[Slots]:
    ended = ""
    if (wrong := _NOT_BUT.match(clause)) is not None:
        clause, ended, is_news = f"{wrong['before']} {wrong['value']}", wrong["ended"], True
    elif wrong := _WRONG.match(clause):
        clause, ended, is_news = wrong["said"], wrong["ended"], True
    bare = _bare(clause)
    for pattern in _ENDED:
        if not ended and (found := pattern.match(bare)):
            owner = owner_of(found["subject"])
            value = found.groupdict().get("value") or ""
            yield Slots(
                owner, "", value, stems_in(found["subject"]), kinds_of(value), news=True, ended=found["ended"]
            )
            if not value:
                return
    read = (
        _of_relation(bare, is_news)
        or _of_attribute(bare, is_news, _ATTRIBUTES)
        or _of_sentence(bare, is_news)
    )
    if read is not None:
        yield Slots(
            read.subject, read.relation, read.value, read.key, read.kinds, read.single, read.news, ended
        )
    elif ended:
        yield Slots(owner_of(bare), "", "", stems_in(bare), frozenset(), news=True, ended=ended)


def _bare(clause: str) -> str:
    """A clause without the adverbs that say nothing of its value."""
    return re.sub(r"\s+(?=[:,])", "", " ".join(words().adverbs.sub(" ", clause).split())).strip(" ,")


def _of_relation(clause: str, is_news: bool) -> Slots | None:
    for relation in words().relations:
        for pattern, tells_news in relation.patterns:
            if (found := pattern.match(clause)) is None:
                continue
            named = found.groupdict()
            subject, value = named.get("subject") or "I", found["value"].strip(" .,")
            kinds = kinds_of(value)
            if (
                not (kinds & relation.kinds or _begins_with_name(value, kinds))
                or len(value.split()) > 12
                or re.match(_NO_SUBJECT, subject, re.IGNORECASE)
            ):
                continue
            owner = owner_of(subject)
            if relation.name == "age" and not _is_age(subject, owner, value):
                continue
            # "The keys live in the drawer": a thing is its own subject.
            key = stems_in(subject)
            return Slots(owner, relation.name, value, key, kinds, relation.single, is_news or tells_news)
    return None


def _begins_with_name(value: str, kinds: frozenset[str]) -> bool:
    """ "Graz with two flatmates" is a place, whatever numbers follow."""
    return value[:1].isupper() and kinds <= {"number", "duration"} and not value[:2].isupper()


def _is_age(subject: str, owner: str, value: str) -> bool:
    """ "Tijn is seven" tells an age, "the door code is 8842" does not."""
    is_somebody = owner != ME or subject.casefold() in ("i", "ich")
    return is_somebody and re.fullmatch(r"1?\d?\d|[^\W\d]+", value) is not None


_NO_SUBJECT = (
    r"(?:if|when|because|that|what|who|where|how|there|this|would|could|should|in|im|on|at|am|against|for|every|as"
    r"|jeden?|gegen)\b|.*\b(?:have|has|is|are|was|who|which|called|that|goes|want|wants)\b"
)


def _of_attribute(clause: str, is_news: bool, patterns: Sequence[tuple[LazyPattern, bool]]) -> Slots | None:
    for pattern, tells_news in patterns:
        if (found := pattern.match(clause)) is None:
            continue
        named = found.groupdict()
        what = " ".join(filter(None, (named.get("what"), named.get("part"))))
        value = found["value"].strip(" .,")
        if (
            re.fullmatch(r"(?:I|we|she|he|they|ich|wir|it|there|that|this|es)", what, re.IGNORECASE)
            or len(what.split()) > 9
        ):
            continue
        if re.search(r"\b(?:that|who|because|when|if|to)\b", what, re.IGNORECASE) and "of" not in what:
            continue
        if (
            pattern.pattern.endswith("(?P<value>.+)$")
            and _MOVED in pattern.pattern
            and not kinds_of(value) & _EXACT
        ):
            continue
        head, owner = head_of(what), owner_of(what)
        first = what.split()[0].casefold()
        if named.get("owner") and owner in (ME, head):
            owner = owner_of(found["owner"])
        # "My boss" is mine, and "Jonas is a carpenter" is about Jonas.
        is_named = not kinds_of(value) & {"text"} or head not in person_stems()
        owner = ME if owner == head and first in MINE and is_named else owner
        key = stems_in(f"{named.get('owner') or ''} {what}")
        is_new = (
            is_news or tells_news or re.search(r"\b(?:new|neue[rsnm]?)\b", what, re.IGNORECASE) is not None
        )
        kinds = kinds_of(value)
        if re.search(r"costs?|kostet", pattern.pattern) and kinds & {"number"}:
            kinds |= {"money"}
        is_chosen = (
            any(word in words().chosen for word in what.casefold().split()) or "lieblings" in what.casefold()
        )
        is_had = named.get("owner") is not None and "called" in pattern.pattern and not tells_news
        named_thing = re.search(r" (?:called|named|heißt|heisst) ", clause) is not None and first in MINE
        single = (head in words().single or is_chosen or "money" in kinds or named_thing) and not is_had
        if owner == head and re.match(r"(?:an?|eine?) [a-z]", value):
            # "Jonas is a carpenter"
            return Slots(owner, "profession", value, key, kinds, news=is_new)
        return Slots(owner, head, value, key, kinds, single, is_new)
    return None


_EXACT = frozenset({"money", "date", "time", "weekday", "duration", "number"})


def _of_sentence(clause: str, is_news: bool) -> Slots | None:
    """Any other sentence with an exact value or a name: what is left of it is what it is about."""
    kinds = kinds_of(clause) - {"text"}
    rest, value = without_values(clause)
    if not kinds or not value:
        return None
    subject = _first_words(clause) or clause.split()[0]
    if re.match(r"(?:against|for|at|in|on|im|am|during|with|every|this|there)\b", clause, re.IGNORECASE):
        subject = "I"
    key = frozenset(word for word in stems_in(rest) if word not in words().light)
    if not key:
        return None
    return Slots(owner_of(subject), " ".join(sorted(key))[:80], value, key, kinds, news=is_news)
