"""Judges which stored facts answer a question, by their words: nothing unrelated is offered as an answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sestet.core.message import Found
from sestet.core.words import COMMON_WORDS, stem
from sestet.models.offline.categories import is_of_another_kind, read_asked_kind, things_of
from sestet.models.offline.patterns import compiled, patterns_of, read_table
from sestet.models.offline.words import COMMON, with_plain_apostrophe

_SAID = patterns_of("answering")

_WORD = re.compile(r"[\w'-]*\w")
_ID = re.compile(r"[a-z]\d+")
_SHORTEST_PREFIX = 5
_SHORTEST_MISSPELT = 6
_SHORTEST_UNDOUBLED = 4
#: Kinds of questions that no fact without the form of their answer answers.
_BY_FORM_ALONE = ("age", "phone")
#: Of this many telling words, one may be missing.
_MANY = 4
#: "What's", which is no owner.
_ASKS_IS = frozenset({"what", "who", "where", "when", "how", "it", "that", "there", "here"})
#: The noun that a question asks for: "which breed".
_ATTRIBUTE = r"(?:and |so )?(?:what|which)(?: (?:kind|sort|type) of)? ([a-z]+) (?!is\b.*\bof\b)"


class Question(NamedTuple):
    """A question by its words: all of ``telling`` must be in a fact that answers it."""

    telling: tuple[str, ...]
    kind: str


def read_question(text: str) -> Question:
    said = with_plain_apostrophe(text).strip().casefold()
    said = re.sub(
        r"^(?:and|so|but|then|ok|okay|please|tell me|remind me|(?:do )?you (?:still )?(?:know|remember))"
        r"[\s,]+",
        "",
        said,
    )
    said = re.sub(r"\b(how many) \w+ (?=of (?!the\b|my\b|our\b|them\b|these\b))", r"\1 ", said)
    said = re.sub(r"\bmay (?=(?:i|we|you|one)\b)", "", said)
    # "How many days until my exam?" is answered by its day, and "anyone in my family" is a person.
    said = _SAID["counts_days_to"].sub("when is ", said)
    said = _SAID["anyone_of_mine"].sub("who", said)
    said = _SAID["asks_my_diet"].sub("my diet", said)
    # "Which colour do I like best?" asks for the one that is liked.
    said = re.sub(r"\b(like|love|prefer|enjoy)(s?) (?:the )?(?:best|most)\b(?: of all)?", r"\1\2", said)
    said = re.sub(r"\b(e-?mail) address\b|\b(phone|telephone|mobile) number\b", r"\1\2", said)
    inner = re.search(r"\b(?:when|where|who|how)\b", said)
    kind = _kind_of(said) or (_kind_of(said[inner.start() :]) if inner else "")
    by_form = _table().kinds[kind].by_form
    words = [word for word in _words(said) if word not in COMMON_WORDS | by_form]
    telling = [word for word in words if word not in _table().empty]
    # "What do I like?" has only empty words, "what is my phone number?" only the form: so these tell.
    telling = telling or [word for word in words if word in _table().groups]
    if kind == "phone":
        telling = telling or [word for word in _words(said) if word in by_form][:1]
    return Question(tuple(dict.fromkeys(telling)), kind)


def answers_to(question: str, found: Iterable[Found]) -> list[Found]:
    """What was found that answers the question, the newest first; all of it if the question is for all."""
    found = sorted(found, key=_newest_first)
    if _SAID["asks_for_all"].search(question):
        return found
    if _SAID["asks_my_age"].search(question):
        return [one for one in found if _SAID["says_my_age"].match(one.text)][:1]
    if _SAID["asks_who_i_am"].search(question):
        named = [one for one in found if _SAID["says_my_name"].search(one.text)]
        # Asked for a name, another fact about the person is no answer.
        is_about_name = re.search(r"\bnames?\b", question, re.IGNORECASE)
        return (
            named or []
            if is_about_name
            else named or [one for one in found if _SAID["says_who_i_am"].match(one.text)]
        )
    asked = read_question(question)
    if _SAID["whether_liked"].match(question) and (
        thing := [w for w in asked.telling if _liked(w) != "like" and not same_word(w, "like")]
    ):
        # What was said last counts, whether it is liked or not.
        liking = [
            one for one in found if any(same_word(_liked(w), "like") for w in _words(one.text.casefold()))
        ]
        return [
            one
            for one in liking
            if _score(Question(tuple(thing), ""), one.text) and not _is_of_another(question, one.text)
        ][:1]
    named = [read_question(other) for other in with_names_told(question, found)]
    scored = [
        (score, one)
        for one in found
        if (score := max(_score(one_asked, _text_of(one)) for one_asked in (asked, *named)))
    ]
    scored = [(score, one) for score, one in scored if not _is_of_another(question, one.text)]
    best = max((score for score, _ in scored), default=0)
    return [one for score, one in scored if score == best]


def with_names_told(question: str, found: Sequence[Found]) -> list[str]:
    """The question with the name of "my daughter", if the facts have it: "Lena moved" is about her."""
    whom = _SAID["whom"].search(question)
    if whom is None:
        return []
    called = re.compile(rf"\b(?i:{whom['whom']})(?:'s name)?(?: is)?(?: called| named)? ([A-Z][\w-]+)")
    names = {told[1] for one in found if (told := called.search(one.text))}
    # Two daughters: then nothing says which one is meant.
    return [question.replace(whom[0], name) for name in names] if len(names) == 1 else []


def candidates_for(question: str, found: Iterable[Found]) -> list[Found]:
    """What the person said of themselves with the verb of "what music do I like?".

    Nothing says that it is music, so it may only be told as what may be meant.
    """
    asked = read_asked_kind(question)
    if asked is None or answers_to(question, found := list(found)):
        return []
    return [
        one
        for one in sorted(found, key=_newest_first)
        if _SAID["of_myself"].match(one.text)
        and _is_in(asked.deed, words := frozenset(_words(one.text.casefold())))
        and not is_of_another_kind(asked.kind, words)
    ]


def has_subject(question: str) -> bool:
    """Whether the question names something that a fact could be about."""
    return is_about_person(question) or bool(read_question(question).telling)


def is_about_person(question: str) -> bool:
    """Whether it asks for the person's name, or for everything: no word of it is in the facts."""
    return any(_SAID[name].search(question) for name in ("asks_who_i_am", "asks_my_age", "asks_for_all"))


def asks_name_or_age(question: str) -> bool:
    """Whether it asks for the person's own name or age, for which the newest fact counts."""
    return any(_SAID[name].search(question) for name in ("asks_who_i_am", "asks_my_age"))


def asks_who_i_am(question: str) -> bool:
    return _SAID["asks_who_i_am"].search(question) is not None


def _text_of(one: Found) -> str:
    """What was found, with its title; an id such as m3 says nothing."""
    return one.text if _ID.fullmatch(one.name) else f"{one.name} {one.text}"


def _newest_first(one: Found) -> int:
    return -int(one.name[1:]) if _ID.fullmatch(one.name) else 0


def _is_of_another(question: str, fact: str) -> bool:
    """Whether the question is about "my birthday" or "am I …?", and the fact only about somebody else."""
    if _SAID["asks_of_myself"].match(question) and _SAID["of_another"].match(fact):
        return True
    if (of := re.search(r"\b(\w+)'s (\w+)", with_plain_apostrophe(question))) and of[
        1
    ].casefold() not in _ASKS_IS:
        # "Who is Tom's manager?" is not answered by "Tom is Priya's manager".
        owners = re.findall(rf"\b(\w+)'s {re.escape(of[2])}\b", with_plain_apostrophe(fact), re.IGNORECASE)
        if owners and not any(same_word(of[1].casefold(), owner.casefold()) for owner in owners):
            return True
    # "My car's plate" is the person's own plate, and "my sister's plate" is hers.
    fact = _SAID["of_my_thing"].sub(r"\g<my> ", with_plain_apostrophe(fact))
    owned = re.search(r"\bmy (?:own )?([a-z]+)\b(?!')", question, re.IGNORECASE)
    if owned is None or re.search(rf"\b(?:my|our)(?: \w+)? {owned[1]}|^{owned[1]}", fact, re.IGNORECASE):
        return (
            owned is not None and re.search(rf"\b(?:my|our) \w+s {owned[1]}", fact, re.IGNORECASE) is not None
        )
    return re.search(rf"\w+'s? {owned[1]}", fact, re.IGNORECASE) is not None


def search_words(question: str) -> str:
    """The question with other words for the same things, for a search by words."""
    known = set(_words(question.casefold()))
    # Recalling knows words for liking by itself.
    telling = [word for word in read_question(question).telling if word not in COMMON]
    extra = [word for told in telling for word in (*_alike(told), *things_of(told)) if word not in known]
    return " ".join((question, *dict.fromkeys(extra)))


def shares_subject(one: str, other: str) -> float:
    """The part of the telling words of the shorter text that the other one has too."""
    first, second = ([*map(_liked, read_question(text).telling)] for text in (one, other))
    shorter, longer = sorted((first, second), key=len)
    if not shorter:
        return 0.0
    return sum(any(same_word(a, b) for b in longer) for a in shorter) / len(shorter)


def _liked(word: str) -> str:
    """ "Dislike" as "like": both are about the same thing."""
    return "like" if same_word(word, "dislike") else word


def _score(asked: Question, text: str) -> int:
    """0: no answer. 1: it has the words. 2: it also has the form of an answer."""
    words = frozenset(_words(text.casefold()))
    kind = _table().kinds[asked.kind]
    has_form = kind.form.search(text) is not None
    implied = kind.implied if has_form else frozenset[str]()
    present = [word for word in asked.telling if _is_in(word, words)]
    missing = [word for word in asked.telling if word not in present and word not in implied]
    # One more word than the fact has may be a mere detail of a long question, but never a number.
    is_detail = len(asked.telling) >= _MANY and len(missing) == 1 and not missing[0][0].isdigit()
    # An age is a number: where somebody lives does not answer how old they are.
    if not present or (missing and not is_detail) or (asked.kind in _BY_FORM_ALONE and not has_form):
        return 0
    return 1 + has_form


def lines_that_answer(
    question: str, lines: Iterable[Found], head: str = "", *, spare: int = 0
) -> list[Found]:
    """The lines of files with all telling words of a question, in the line or in its place.

    ``head``: the first line of a table, whose words belong to each of its lines. At least one telling word
    must be in the line itself. ``spare``: so many words may be missing beside two that are there.
    """
    asked = read_question(question)
    kind = _table().kinds[asked.kind]
    scored: list[tuple[int, Found]] = []
    for line in lines:
        own = frozenset(_words(line.text.casefold()))
        around = frozenset(re.findall(r"[^\W\d_]+|\d+", f"{line.name} {head}".casefold()))
        in_line = [word for word in asked.telling if _is_in(word, own)]
        rest = [word for word in asked.telling if word not in in_line and not _is_in(word, around)]
        has_form = kind.line_form.search(f"{head} {line.text}" if head else line.text) is not None
        implied = _table().deeds | (kind.implied if has_form else frozenset[str]())
        rest = [word for word in rest if word not in implied]
        may_miss = spare if len(asked.telling) - len(rest) > 1 and not any(w.isdigit() for w in rest) else 0
        if in_line and len(rest) <= may_miss and (has_form or not kind.needs_form):
            scored.append((len(in_line), line))
    best = max((score for score, _ in scored), default=0)
    return [line for score, line in scored if score == best]


def lines_about(question: str, lines: Iterable[Found]) -> list[Found]:
    """The lines about the subject of "what breed is Oskar?", where no line has the word "breed"."""
    asked, lines = read_question(question), list(lines)
    kind = re.match(_ATTRIBUTE, with_plain_apostrophe(question).strip().casefold())
    rest = [word for word in asked.telling if kind is None or word != kind[1]]
    if kind is None or kind[1] not in asked.telling or not rest or _table().kinds[asked.kind].needs_form:
        return []
    if read_asked_kind(question):
        # "What food do I like?" names no subject: a line with "love" is about anything.
        return []
    return [one for one in lines if all(_is_in(w, frozenset(_words(one.text.casefold()))) for w in rest)]


def alike_words(word: str) -> Sequence[str]:
    """Other words for the same thing."""
    return [other for other in _alike(word) if other != word]


def _kind_of(said: str) -> str:
    return next((name for name, kind in _table().kinds.items() if name and kind.asked.match(said)), "")


def _is_in(word: str, words: frozenset[str]) -> bool:
    return word in words or bool(things_of(word) & words) or any(same_word(word, other) for other in words)


def same_word(one: str, other: str) -> bool:
    """Whether two words are forms of one word, words for the same thing, or one of them is misspelt."""
    if one == other or stem(one) == stem(other):
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) in (3, 4) and longer in _table().shortened and longer.startswith(shorter):
        return True
    if any(character.isdigit() for character in one + other):
        return False
    if _groups(one) & _groups(other):
        return True
    first, second = stem(one), stem(other)
    shorter, longer = sorted((first, second), key=len)
    if len(shorter) >= _SHORTEST_PREFIX and longer.startswith(shorter):
        return True
    if len(shorter) >= _SHORTEST_MISSPELT:
        return _differ_by_one(first, second)
    return min(len(one), len(other)) >= _SHORTEST_UNDOUBLED and _undoubled(one) == _undoubled(other)


def _groups(word: str) -> frozenset[int]:
    """The groups of a word, or of its singular: "my mothers birthday"."""
    return _table().groups.get(word) or _table().groups.get(word.removesuffix("s"), _NONE)


def _undoubled(word: str) -> str:
    """A word with each letter once where it stands twice: "fery" and "ferry" are typed for the same."""
    return re.sub(r"(.)\1", r"\1", word)


def _differ_by_one(one: str, other: str) -> bool:
    """Whether one letter was mistyped, left out or added."""
    if abs(len(one) - len(other)) > 1 or one[0] != other[0]:
        return False
    at = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return one[at + 1 :] == other[at + 1 :] or one[at:] == other[at + 1 :] or one[at + 1 :] == other[at:]


def _words(text: str) -> list[str]:
    # "Don't like" is "dislike", in a question and in a fact.
    text = _SAID["not_liked"].sub(r"\g<who> dislike", with_plain_apostrophe(text))
    return [word.removesuffix("'s").strip("'-") for word in _WORD.findall(text)]


_NONE = frozenset[int]()


class _Kind(NamedTuple):
    """A kind of question: how it is asked, and the form of its answer."""

    asked: re.Pattern[str]
    form: re.Pattern[str]
    by_form: frozenset[str]
    implied: frozenset[str]
    #: The form of a line of a file that answers, and whether a line without it is no answer.
    line_form: re.Pattern[str]
    needs_form: bool


class _Table(NamedTuple):
    empty: frozenset[str]
    #: By name; the empty name is the kind of any other question.
    kinds: dict[str, _Kind]
    #: The numbers of the groups of a word.
    groups: dict[str, frozenset[int]]
    members: tuple[tuple[str, ...], ...]
    #: Days and months, which are often shortened to three letters.
    shortened: frozenset[str]
    #: Verbs that a line of a file need not have.
    deeds: frozenset[str]


def shortened_words() -> frozenset[str]:
    """Days and months, which are often shortened to three letters."""
    return _table().shortened


def _alike(word: str) -> Sequence[str]:
    numbers = _table().groups.get(word, _NONE) | _table().groups.get(word.removesuffix("s"), _NONE)
    return [other for number in sorted(numbers) for other in _table().members[number]]


@cache
def _table() -> _Table:
    data = read_table("answering")
    members = tuple(tuple(line.split()) for line in data["same"]["groups"].splitlines() if line)
    groups: dict[str, set[int]] = {}
    for number, words in enumerate(members):
        for word in words:
            groups.setdefault(word, set()).add(number)
    return _Table(
        frozenset(data["empty"].split()),
        {"": _read_kind({}), **{name: _read_kind(kind) for name, kind in data["kind"].items()}},
        {word: frozenset(numbers) for word, numbers in groups.items()},
        members,
        frozenset(data["shortened"].split()),
        frozenset(data["deeds"].split()),
    )


def _read_kind(entry: Mapping[str, Any]) -> _Kind:
    asked, form = (compiled(entry.get(name, "")) for name in ("asked", "form"))
    by_form, implied = (frozenset(entry.get(name, "").split()) for name in ("by_form", "implied"))
    line_form = compiled(entry["line_form"]) if "line_form" in entry else form
    return _Kind(asked, form, by_form, implied, line_form, "line_form" in entry)
