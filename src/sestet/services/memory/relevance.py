"""Decides whether a memory has to do with a message, by the subject words and the topics that they share."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from sestet.core.words import stem

_RowT = TypeVar("_RowT")
_NONE: frozenset[str] = frozenset()

#: Words that name no subject: function words, courtesies, words about time, and words about the talk itself.
EMPTY = frozenset(
    # One text is easier to read and to keep than a list of quoted words.
    """
    a about actually after afternoon again all also always am an and another any anybody anyone anything are
    as ask asked asking asks at back be because been before being but by bye can cannot could d day days did
    do does doing don done each either else ever every everybody everyone everything evening few first for
    from good goodbye great had has have having he hello help her here hers hey hi him his how however i if
    in instead interesting into is it its just kind know last least less let like list ll lot m many may
    maybe me mean mention mentioned message might mine moment more morning most mr mrs ms much must my myself
    never new next nice night no nobody none nor not note nothing now of off often ok okay old on once one
    ones only or other others our ours out over own part people perhaps person please question questions re
    really recall remember remind right s said same say saying says see sestet shall she should since so some
    somebody someone something soon sort still such sure t talk tell telling than thank thanks that the their
    theirs them then there these they thing things think this those though time to today told tomorrow tonight
    too total try two under until up us user usually ve very was way we well were what when where whether
    which while who whom whose why will with without wo word words would year yes yesterday yet you your yours
    aber alle als am auch auf aus bei bin bis bist bitte da danke das dass dein deine dem den denn der des die
    doch du ein eine einem einen einer er es für habe haben hat heute hier ich ihm ihn ihr im ist ja kann
    kannst mein meine meinem meinen meiner mich mir mit morgen nach nicht noch nur oder sich sie sind und uns
    unser unsere von vor wann war warum was welche welcher welches wem wen wenn wer wie wir wird wo zu zum zur
    à au aux avec ce ces cette dans de des du elle en est et il ils je la le les leur lui ma mais mes moi mon
    ne nos notre nous ou où par pas pour qu que quel quelle qui quoi sa ses son suis sur ta te tes ton tu un
    une vos votre vous y
    al como con cual cuando de del dónde donde el ella ellos en eres es esta está este estoy hoy la las le lo
    los me mi mis muy no nos o para pero por qué que quien quién se ser si sí sin sobre son soy su sus te
    tengo tiene tu tus un una uno y ya yo
    """.split()  # noqa: SIM905
)
#: Words for doing something. Alone they say something in a question ("what am I reading?"), but nothing in a
#: request ("read it again").
_DEEDS = frozenset(
    map(
        stem,
        """
        add answer begin book bring build buy call change check choose close come compare complete
        continue copy create cut delete describe directory do download draw drink drive eat email end
        explain fail fetch file find finish fix fly folder forget get give go keep learn leave live look
        love mail make meet move need open order page pay plan play prepare print put read remove repeat
        reply run save search send set show sit speak spend start stop store study summarise summarize
        take teach train translate travel turn undo update use wait walk want watch wear work write
        """.split(),  # noqa: SIM905
    )
)


#: Words for a request that are no subject anywhere.
_ASKING = frozenset(map(stem, ("tell", "list", "help", "remind", "recall", "say", "try", "ask")))


class _Topic:
    """Something that a person tells of themselves in many words, and asks about in others."""

    def __init__(self, asked_with: str, told: str) -> None:
        self.asked_with = frozenset(map(stem, asked_with.split()))
        self.told = rf"(?:^|[:.!;,]\s|\band )(?:{told})"


_NOW = r"(?: now| just| recently| currently| still|'ve| have)*"
_TOPICS: dict[str, _Topic] = {
    "name": _Topic(
        "name named called call surname nickname", r"i am (?:called|named)|my (?:\w+ )?name\b|call me"
    ),
    "home": _Topic(
        "live home reside based address city town move moved",
        rf"(?:i|we){_NOW} (?:live|lived|reside|moved to|relocated to|settled in)\b"
        r"|(?:my|our) (?:home |new )?address\b",
    ),
    "work": _Topic(
        "work job employer company profession occupation career employed",
        rf"(?:i|we){_NOW} (?:work|worked|joined|started at|changed jobs|got a job|am employed|run a)\b"
        r"|(?:my|our) (?:new )?(?:job|employer|company|profession|workplace)\b",
    ),
    "age": _Topic("old age aged", r"i(?:'m| am)(?: now)? \d+\b|my age\b"),
    "birth": _Topic("born birth birthday", r"i was born\b|my (?:birthday|date of birth)\b"),
    "phone": _Topic("phone mobile telephone", r"(?:my|our)(?: new)? (?:\w+ )?(?:phone|mobile|number)\b"),
    "taste": _Topic(
        "like love prefer enjoy favourite favorite taste hate dislike",
        r"(?:i|we) (?:\w+ )?(?:do not |don't |no longer )?(?:like|love|prefer|enjoy|hate|dislike)\b"
        r"|my favou?rite\b",
    ),
    "self": _Topic("", r"i(?:'m| am) (?:an?|from|the)\b"),
}
#: "Who am I?" asks for these.
_IDENTITY = frozenset(("name", "home", "work", "age", "birth", "self"))
_ASKS_WHO_I_AM = r"\bwho (?:am i|i am)\b|\babout myself\b"
#: "What do you remember?" and "what do you know about me?" ask for everything.
_ASKS_FOR_ALL = (
    r"\b(?:remember|recall|memory|memories|on record|do you know|(?:told|tell) you)\b"
    r"|^(?:all |everything )?(?:about )?(?:me|myself|us|all|everything)$"
)
_QUESTION = (
    r"\?|^\W*(?:(?:and|so|but|hey|hi|hello|please)\W+)*(?:what|which|who|whose|whom|when|where|why|how|is|are|am"
    r"|was|were|do|does|did|has|have|can|could|will|would)\b"
)
#: "my brother's": the memory has to name the brother.
_WHOSE = r"\b(?:my|our) (\w+)['\u2019]s\b"
#: "which car do I drive?": a deed of the person is a subject.
_OWN_DEED = r"\b(?:do|did|am|are|have|was|were|can|may|should) (?:i|we)\b"
#: The least part of the subject words, of the shorter of message and memory, that they share.
_LEAST = 0.3
#: Rows with fewer shared words than this part of the best row's are left out.
_NEAR_THE_BEST = 0.5

#: "fill in City with my city": the person lends a fact to a form.
_FORM_WORK = r"\b(?:fill(?:ed|ing)?|enter|form|type)\b"
_LENT = r"\bmy [\w-]+(?: (?:address|number|name|code|of birth))?"

#: "run cat /etc/hostname": the words of a command name programs and files, and no subject.
_PROGRAMS = (
    "awk|bash|cargo|cat|chmod|cp|curl|cut|date|df|diff|docker|du|echo|env|file|find|free|gcc|git|go|grep|gzip|head"
    "|hostname|id|java|kill|less|ls|make|mkdir|mv|node|nproc|npm|perl|ping|pip3?|ps|pwd|pytest|python3?|rm|rmdir"
    "|sed|sh|sleep|sort|ssh|stat|tail|tar|tee|top|touch|tr|tree|uname|uniq|unzip|uptime|wc|wget|which|whoami|xargs"
    "|zip"
)
_COMMAND = (
    r"^\W*(?:(?:please|can you|could you) )*(?:run|execute)(?: the)?(?: command| shell command)?:? "
    rf"(?:`.*`|(?:sudo )?(?:{_PROGRAMS})\b.*|\S*[/.|<>$;&]\S*.*|\S+ -{{1,2}}\w.*)$"
)


class Asked:
    """The subject of a message, or of a query, which always asks."""

    def __init__(self, message: str, *, is_query: bool = False) -> None:
        self._text = text = _tidy(message)
        self._is_command = not is_query and re.match(_COMMAND, text) is not None
        text = "" if self._is_command else text
        self.is_question = is_query or bool(re.search(_QUESTION, text))
        self._required = frozenset(map(stem, re.findall(_WHOSE, text)))
        self._topics = _topics_asked(text) if self.is_question else _NONE
        topic_words = {word for name in self._topics for word in _TOPICS[name].asked_with}
        words = _subject_words(text) - topic_words
        self._deeds = words & _DEEDS
        self._words = words if re.search(_OWN_DEED, text) else words - self._deeds

    @property
    def is_for_all(self) -> bool:
        """Whether the message asks for all memories, and names no subject."""
        named = self._words or self._topics or self._deeds or self._is_command
        return not named and (not self._text or bool(re.search(_ASKS_FOR_ALL, self._text)))

    @cached_property
    def _subject(self) -> frozenset[str]:
        """The stems of which a related memory has some; empty: only a topic can relate it."""
        return self._words or (self._deeds if self.is_question and not self._topics else _NONE)

    @property
    def search_words(self) -> str:
        """The words for a full-text search of related memories; empty if only a topic can relate them."""
        return " ".join(word for word in re.findall(r"\w+", self._text) if stem(word) in self._subject)

    @property
    def is_topic(self) -> bool:
        """Whether the message names a topic and no subject of its own, as "where do I live?" does."""
        return bool(self._topics) and not self._subject

    def may_be(self, memory: str) -> bool:
        """False if the message is about somebody's thing, such as "my brother's", and the memory is not."""
        return not self._required or self._required <= _stems(_tidy(memory))

    def shared(self, memory: str) -> float:
        """How much a memory shares with the message; 0: it has nothing to do with it."""
        if not self.may_be(memory):
            return 0
        text = _tidy(memory)
        held = _stems(text)
        told = sum(bool(re.search(_TOPICS[name].told, text)) for name in self._topics)
        if not self._subject:
            return told
        shared = len(self._subject & held)
        if not shared or shared < _LEAST * min(len(self._subject), len(_subject_words(text)) or 1):
            return 0
        return shared + told


def _topics_asked(text: str) -> frozenset[str]:
    if re.search(_ASKS_WHO_I_AM, text):
        return _IDENTITY
    words = _stems(text)
    return frozenset(name for name, topic in _TOPICS.items() if words & topic.asked_with)


def only_related(asked: Asked, rows: Sequence[_RowT], text_of: Callable[[_RowT], str]) -> list[_RowT]:
    """The rows that have to do with the message, without those that share far less than the best."""
    scores = [asked.shared(text_of(row)) for row in rows]
    least = _NEAR_THE_BEST * max(scores, default=0)
    return [row for row, score in zip(rows, scores, strict=True) if score > 0 and score >= least]


def things_lent(message: str) -> list[str]:
    """What a request for work on a form names and does not say, such as "my city"."""
    text = _tidy(message)
    return list(dict.fromkeys(re.findall(_LENT, text))) if re.search(_FORM_WORK, text) else []


def starts_with_request(text: str) -> bool:
    """Whether the first word is one with which a person wants something done: "list", "find"."""
    first = re.match(r"\W*(\w+)", text)
    return first is not None and stem(first[1]) in _DEEDS | _ASKING


def _tidy(text: str) -> str:
    return " ".join(text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, re.findall(r"\w+", text)))


def _subject_words(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in re.findall(r"\w+", text) if word not in EMPTY)
