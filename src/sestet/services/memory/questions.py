"""Reads what a question asks of memory: whose facts, about what, of which kind, of which time."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise

from sestet.core.lazy_pattern import LazyPattern
from sestet.core.words import stem
from sestet.services.memory.phrases import name_of, relations_asked, words
from sestet.services.memory.relevance import EMPTY
from sestet.services.memory.slots import Slots
from sestet.services.memory.values import kinds_of

#: "Where did I live before?" asks for what is no longer true.
_HISTORY = LazyPattern(
    r"\b(?:before|previous|previously|former|formerly|used to|prior|earlier|until recently|ex|früher\w*"
    r"|vorher|zuvor|"
    r"ehemalig\w*|damals)\b|\b(?:the|my|our) old\b(?! (?:man|lady|woman|friend))|\b(?:der|die|das|mein\w*"
    r"|unser\w*) alte[rsn]?\b",
    re.IGNORECASE,
)
_YES_NO = LazyPattern(
    r"^(?:(?:and|so|but|hey|ok|und|also)[\s,]+)*(?P<verb>do|does|did|am|is|are|was|were|have|has|had|can|could|will|would|"
    r"should|isn't|aren't|don't|doesn't|bin|ist|sind|war|hat|habe|haben|wohnt|wohne|arbeitet|arbeite|heißt|heisst|mag|"
    r"spielt|spiele|fährt|fahre|trinkt|trinke|isst|esse|kostet|kann|lebt|lebe|besitzt"
    r"|besitze)\b(?! (?:you|du|sie)\b)",
    re.IGNORECASE,
)
#: The kinds of values that question words ask for.
_WANTED = (
    (r"^(?:and |so |since |until )?when\b|\bwann\b|\b(?:what|which) (?:day|date|month|year|weekday)\b"
        r"|\ban welchem tag\b", "date weekday time"),
    (r"\b(?:what|which) time\b|\bum wie viel uhr\b", "time"),
    (r"\bhow much\b|\bwie ?viel (?:kostet|zahle|bezahle)\b|\bwas kostet\b|\bprice\b"
        r"|\bwhat (?:do|does|did) .*\b(?:cost|costs|pay|spend)\b", "money number"),
    (r"\bhow (?:many|old|tall|big|far|heavy|wide|high)\b|\bwie (?:viele|alt|groß|hoch|schwer)\b"
        r"|\bnumber\b|\bcode\b", "number duration"),
    (r"\bhow long\b|\bwie lange\b", "duration number date"),
    (r"\bwho(?:m|se)?\b|\bwer\b|\bwem\b|\bwen\b", "name"),
    (r"\bwhere\b|\bwo\b|\bwohin\b|\b(?:which|what|welcher) (?:city|town|country|stadt|bank|hotel|shop"
        r"|gym)\b", "name text"),
)  # fmt: skip
#: Words that ask and name nothing. A fact need not have them.
_ASKING = frozenset(
    """
    name named called call number kind sort type much many long often old tall exactly currently still now
    nowadays
    today anymore who whom whose what which where when why how do does did is are was were am have has had
    can could
    would should will may tell told say said know remember mention mentioned happen happened happens get
    got go goes
    take takes use uses keep keeps make need want live lives living work works come comes give put day date
    time year
    month week weekday place thing people person someone before previously formerly previous former old
    used earlier
    prior heiß heiße heißt heisst heißen wie viel viele wann wer wo wohin welche welcher welches welchem
    welchen was
    wohnt wohne wohnen jetzt früher vorher kostet kosten cost costs pay paid price spend born habe hat ist
    sind mein
    meine in im am beim lebt arbeitet arbeite stadt city town each per every during gern currently please
    whether
    fürs jemand ich wir dir erzählt gesagt about living job also favourite favorite preferred lieblings
    must allowed best most
    """.split()  # noqa: SIM905
)
#: A name of somebody. Behind one of these words it is one of a place or a thing.
_NOT_BEHIND = """in at to a an the from my our der die das mein meine beim nach welcher welche eine ein
    fürs für zum mit im am von zur for with of on"""
_NAME = LazyPattern(
    r"(?<!^)(?<![.!?] )"
    + "".join(rf"(?<!\b{word} )" for word in _NOT_BEHIND.split())
    + r"\b(?!I\b|I'|GP\b)[A-ZÄÖÜ][\w-]+"
)
_CONTRACTED = LazyPattern(r"(?:n't|'(?:m|re|ve|ll|d))$")
_HEAD = LazyPattern(
    r"(?:and |so )?(?:(?:what|which)(?: (?:kind|sort|type) of)? (?P<plain>(?!is\b|are\b|was\b|do\b|does\b"
    r"|did\b|can\b|should\b"
    r"|must\b|am\b|have\b|'s)[\w-]+)|(?:what|who|where|when)(?:'s| is| are| was| were) (?:my|our)"
    r" (?P<owned>(?!.*'s )[\w' -]+?)(?= (?:of|in|at|to|for|on|called|with|again|now)\b|\W*$))"
)
_WORK_OUT = LazyPattern(r"\bwork(?:ing)? out\b")
_NEGATIVE = LazyPattern(
    r"\b(?:not|never|no longer|cannot|hates?|dislikes?|detests?|loathes?|avoids?|allergic|intolerant"
    r"|vegetarian|vegan|nicht|kein\w*|nie"
    r"|hasst?e?|without)\b|n't\b"
)
_GERMAN = LazyPattern(
    r"\b(?:ich|mein\w*|wie|wer|wo|wann|welche\w*|der|das|ist|wohnt|heißt|habe|unser\w*|wir|kostet|warum|und|dir|nicht)\b"
)
_MY = LazyPattern(r"\b(?:i|my|me|mine|we|our|us|ich|mein\w*|mir|mich|wir|unser\w*|uns)\b", re.IGNORECASE)
_SHORTEST_PREFIX = 6
#: How much a word near that of the question counts.
_NEARLY = 0.75
_SOMEWHAT = 0.4
_NONE: frozenset[str] = frozenset()
_NO_NAMES: Mapping[str, frozenset[str]] = {}
_NUMBERS = frozenset({"money", "number", "duration"})
#: The kinds of which a fact must have one, by the first kind that a question asks for.
_EXACT_FOR = {
    "date": frozenset({"date", "weekday", "time", "duration", "number"}),
    "time": frozenset({"time", "number", "weekday", "date"}),
    "money": _NUMBERS,
    "number": _NUMBERS,
    "duration": _NUMBERS,
    "weekday": frozenset({"weekday", "date"}),
}


class Question:
    """A question, as facts are compared with it."""

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
        said = _WORK_OUT.sub("train", self.text.casefold())
        self._said = re.sub(r"^(?:do you (?:still )?(?:remember|know)|weißt du(?: noch)?)[,\s]+", "", said)

    @cached_property
    def is_history(self) -> bool:
        return _HISTORY.search(re.sub(r"\bhow old\b", "", self.text)) is not None

    @cached_property
    def asks_why(self) -> bool:
        """Whether it asks why the world is as it is: no fact about the person answers that."""
        return self._said.startswith("why ") and not self.is_mine

    @cached_property
    def is_yes_no(self) -> bool:
        return _YES_NO.match(self._said) is not None

    @cached_property
    def tokens(self) -> frozenset[str]:
        return frozenset(map(stem, re.findall(r"\w+", self._said)))

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems that a fact shares with the question, with one word for words that are alike."""
        found = (word.removesuffix("'s") for word in re.findall(r"[\w'-]+", self._said))
        telling = (word for word in found if word not in EMPTY | _ASKING and not _CONTRACTED.search(word))
        return frozenset(_canonical(word) for word in telling)

    @property
    def telling_words(self) -> str:
        """The words of the content, for a search by words."""
        found = re.findall(r"[\w'-]+", self._said)
        return " ".join(w for w in found if w not in EMPTY and w not in _ASKING)

    @cached_property
    def relations(self) -> list[str]:
        found = relations_asked(self.tokens)
        # "What is my dog called?" asks for no name of the person.
        return [name for name in found if name != "name"] if self.content else found

    @cached_property
    def wanted(self) -> frozenset[str]:
        """The kinds of values that answer it; none: any."""
        return frozenset(
            kind for said, kinds in _WANTED if re.search(said, self._said) for kind in kinds.split()
        )

    @cached_property
    def roles(self) -> frozenset[str]:
        """The roles of the person's people in the question, as in "my sister's job"."""
        said = re.findall(r"[\w-]+", self._said.replace("'s", ""))
        return frozenset(_canonical(word) for word in said if word in words().persons)

    @cached_property
    def owners(self) -> frozenset[str]:
        """The names and roles in the question: a fact that answers is about one of them."""
        names = [name_of(name) for name in _NAME.findall(self.text)]
        return frozenset(names) | self.roles

    @cached_property
    def is_mine(self) -> bool:
        return _MY.search(self._said) is not None

    @cached_property
    def subject(self) -> frozenset[str]:
        """The content without names: what is asked of them."""
        return self.content - self.owners

    @cached_property
    def asks_relation(self) -> bool:
        """Whether it asks for a relation alone, as "where do I live?" does."""
        return bool(self.relations) and (
            self.is_yes_no or not self.subject or self.subject <= _asked_words(self.relations)
        )

    def coverage(self, held: frozenset[str], names: Mapping[str, frozenset[str]] = _NO_NAMES) -> float:
        """The part of the question's content that a fact with these stems has.

        ``names``: of the people and things in it; a fact about Biscuit is about the cat.
        """
        if not self.content:
            return 0.0
        held = held | {word for word, called in names.items() if called & held}
        return sum(_share(word, held) for word in self.content) / len(self.content)

    @property
    def is_about_who(self) -> bool:
        return re.match(r"(?:and |so |und )?(?:who|whom|wer|wem|wen)\b", self._said) is not None

    def lacks_number(self, held: frozenset[str]) -> bool:
        """Whether it names a number that a fact with these stems does not have: "bed 9"."""
        return any(word[:1].isdigit() and word not in held for word in self.content)

    @cached_property
    def head(self) -> str:
        """The thing that is asked for: "instrument" in "what instrument do I play?"; empty: none is named."""
        found = _HEAD.match(self._said)
        named = (found["plain"] or found["owned"] or "") if found else ""
        said = [_canonical(word) for word in re.findall(r"[\w'-]+", named)]
        return next((word for word in reversed(said) if word in self.subject), "")

    def lacks_head(self, held: frozenset[str]) -> bool:
        return bool(self.head) and not _share(self.head, held)

    def is_of_another_thing(self, fact: str, held: frozenset[str], statements: Iterable[Slots]) -> bool:
        """Whether a fact is about another thing of the same kind: the maths exam, not the chemistry exam."""
        owned = re.search(r"\b(\w+)'s (\w+)", self._said)
        if owned and owned[1] not in _ASKING:
            # "Who is Tom's manager?" is not answered by "Tom is Priya's manager".
            owners = re.findall(rf"\b(\w+)'s {re.escape(owned[2])}\b", fact.casefold())
            if owners and owned[1] not in owners:
                return True
        for slot in statements:
            before = self._modifier_of(slot.relation)
            if before and not _share(before, held) and slot.key - {slot.relation} - self.content - self.roles:
                return True
        return False

    def _modifier_of(self, head: str) -> str:
        """The word of the content right before a noun: "chemistry" in "my chemistry exam"."""
        said = [_canonical(word) for word in re.findall(r"[\w'-]+", self._said)]
        return next(
            (first for first, second in pairwise(said) if second == head and first in self.subject), ""
        )

    def names_any(self, owners: Iterable[str], held: frozenset[str]) -> bool:
        """Whether a fact with these stems names one of these people, or what is said of them."""
        return any(_share(owner, held) for owner in owners)

    def says_relation(self, held: frozenset[str]) -> bool:
        """Whether a fact with these stems has a word of the relation that is asked for."""
        return bool(held & _asked_words(self.relations))

    def shares_subject(self, held: frozenset[str]) -> bool:
        """Whether a fact with these stems has a word of what is asked, or one near it."""
        return any(_share(word, held) for word in self.subject)

    @property
    def near_words(self) -> frozenset[str]:
        """Words near those of the content, by which facts may be found."""
        stems = self.content | {near for word in self.content for near in words().near.get(word, _NONE)}
        return frozenset(word for each in stems for word in words().spelled.get(each, _NONE))

    @cached_property
    def is_german(self) -> bool:
        return _GERMAN.search(self._said) is not None

    @cached_property
    def is_negative(self) -> bool:
        return is_negative(self._said)

    def wants_value(self, fact: str) -> bool:
        """Whether it asks for a number, an amount or a time that a fact does not have."""
        wanted = self.wanted - {"name", "text"}
        return (
            bool(wanted)
            and wanted == self.wanted
            and not any(kinds_of(fact) & _EXACT_FOR[kind] for kind in wanted)
        )


def is_negative(text: str) -> bool:
    """Whether a text says no, or tells a dislike."""
    return _NEGATIVE.search(text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")) is not None


def _asked_words(relations: Iterable[str]) -> frozenset[str]:
    return frozenset(word for entry in words().relations if entry.name in relations for word in entry.asked)


def stems_of(text: str) -> frozenset[str]:
    """The stems of the words of a fact, with one word for words that are alike."""
    return frozenset(_canonical(word.removesuffix("'s")) for word in re.findall(r"[\w'-]+", text.casefold()))


def _canonical(word: str) -> str:
    word = word.strip("'-")
    stemmed = stem(f"{word[:-3]}y" if word.endswith("ied") else word)
    return words().alike.get(stemmed, stemmed)


def _share(word: str, held: frozenset[str]) -> float:
    if word in held:
        return 1.0
    if words().near.get(word, _NONE) & held:
        return _NEARLY
    if len(word) < _SHORTEST_PREFIX:
        return 0.0
    # "Rudern" and "Ruderverein", "fly" and "flight" are near.
    return _SOMEWHAT if any(other[:_SHORTEST_PREFIX] == word[:_SHORTEST_PREFIX] for other in held) else 0.0
