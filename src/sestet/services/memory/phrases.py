"""The words of facts: the data file of relations, and who and what a phrase is about."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from sestet.core.words import stem

#: The owner of what belongs to the person.
ME = "me"


class _Relation(NamedTuple):
    name: str
    single: bool
    kinds: frozenset[str]
    patterns: tuple[tuple[re.Pattern[str], bool], ...]
    asked: frozenset[str]


class Words(NamedTuple):
    """The data file, ready to use."""

    relations: tuple[_Relation, ...]
    single: frozenset[str]
    #: The first word of its group for each stem of a word with others alike.
    alike: Mapping[str, str]
    #: The stems of words with which people ask for a word.
    near: Mapping[str, frozenset[str]]
    #: The words of the data file by their stems, for a search by words.
    spelled: Mapping[str, frozenset[str]]
    chosen: frozenset[str]
    persons: frozenset[str]
    light: frozenset[str]
    news: re.Pattern[str]
    adverbs: re.Pattern[str]
    leads: re.Pattern[str]


#: Determiners and the like, in both languages: no part of what a statement is about.
_FUNCTION = frozenset(
    """
    a an and any are as at be been but by for from had has have her his i if in into is it its me my no not
    of on
    or our out she he so than that the their them then there they this those these to too up us very was we
    were
    which who will with you your am im ist sind bin der die das den dem des ein eine einen einem einer mein
    meine
    meinen meinem meiner unser unsere unseren unserem unserer und oder auf aus bei beim für mit nach von
    vom vor zu
    zum zur um es er sie wir ich nicht kein keine keinen seit über unter ab bis pro im ihm ihr ihre seine
    sein new
    neue neuer neues neuen old different another other current s per each every do does did
    """.split()  # noqa: SIM905
)
_SUBJECT = r"(?P<subject>\S.{0,60}?)"
_VALUE = r"(?P<value>\S.*?)"


@cache
def words() -> Words:
    """The data file; read when the first fact is stored or asked for."""
    data: Mapping[str, Any] = tomllib.loads(  # a file may hold any TOML
        Path(__file__).with_name("relations.toml").read_text(encoding="utf-8")
    )
    attributes, said = data["attributes"], data["words"]
    return Words(
        tuple(_relation(name, entry) for name, entry in data["relation"].items()),
        frozenset(map(stem, attributes["single"].split())),
        {stem(word): stem(group.split()[0]) for group in attributes["alike"] for word in group.split()},
        _near(data["questions"]["alike"]),
        _spelled((*attributes["alike"], *data["questions"]["alike"])),
        frozenset(attributes["chosen"].split()),
        frozenset(attributes["persons"].split()),
        frozenset(map(stem, said["light"].split())),
        re.compile(said["news"], re.IGNORECASE),
        re.compile(rf"(?:,\s*|\b){said['adverbs']}\b", re.IGNORECASE),
        re.compile(said["leads"], re.IGNORECASE),
    )


def _near(groups: Sequence[str]) -> Mapping[str, frozenset[str]]:
    near: dict[str, set[str]] = {}
    for group in groups:
        kinds, things = ({stem(word) for word in part.split()} for part in f"{group} > ".split(" > ")[:2])
        for each in kinds:
            near.setdefault(each, set()).update((kinds | things) - {each})
    return {each: frozenset(others) for each, others in near.items()}


def _spelled(groups: Sequence[str]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word in (word for group in groups for word in group.split()):
        found.setdefault(stem(word), set()).add(word)
        # A search for the first word of a group finds all of it.
    for group in groups:
        if ">" not in group:
            found[stem(group.split()[0])].update(group.split())
    return {each: frozenset(spelled) for each, spelled in found.items()}


def _relation(name: str, entry: Mapping[str, Any]) -> _Relation:
    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(
            f"^{pattern}$".replace("{S}", _SUBJECT).replace("{V}", _VALUE), re.IGNORECASE | re.DOTALL
        )

    patterns = [(compiled(each), True) for each in entry.get("news", ())]
    patterns += [(compiled(each), False) for each in entry["told"]]
    return _Relation(
        name,
        bool(entry.get("single")),
        frozenset(str(entry["kinds"]).split()),
        tuple(patterns),
        frozenset(map(stem, str(entry.get("asked", "")).split())),
    )


MINE = frozenset({"my", "our", "mein", "meine", "unser", "unsere", "the", "der", "die", "das"})


def owner_of(phrase: str) -> str:
    """Whose a thing is: a name or a role with an 's, a name itself, or the person."""
    phrase = _NOUN_END.split(phrase.strip(), maxsplit=1)[0]
    if found := re.match(
        r"(?:my |our |the |meine[rs]? |unsere[rs]? )?([\w-]+?)(?:'s|s')(?= )", phrase, re.IGNORECASE
    ):
        owner = found[1]
        is_person = owner[:1].isupper() or canonical(owner) in person_stems()
        return canonical(owner) if is_person else ME
    # "Brigittes Hund"
    found = re.match(r"([A-ZÄÖÜ]\w+?)s? (?:\w+ )?(?=[A-ZÄÖÜ])", phrase)
    if found and not _NO_NAME.match(phrase):
        return canonical(found[1])
    tokens = re.findall(r"[\w'-]+", phrase)
    if not tokens:
        return ME
    first = tokens[0].casefold()
    if first in ("i", "we", "ich", "wir", "me", "call", "us"):
        return ME
    if first in ("she", "he", "they", "it", "er", "sie", "es"):
        return first
    is_determined = first in MINE or first in ("a", "an", "ein", "eine", "meinen", "meiner")
    names = [token for token in tokens[1 if is_determined else 0 :] if token[:1].isupper()]
    names = [token for token in names if token.casefold() not in _TITLES]
    is_german = first in ("mein", "meine", "unser", "unsere", "der", "die", "das", "ein", "eine", "meinen")
    if is_determined and (is_german or not names):
        role = [token for token in tokens[1:] if token.casefold() in words().persons]
        return canonical(role[0]) if role and tokens[-1] == role[0] else ME
    if names and (is_determined or _looks_like_name(tokens)):
        return canonical(names[0])
    return canonical(first) if first in words().persons and len(tokens) == 1 else ME


_NO_NAME = re.compile(r"(?:My|Our|The|Mein|Meine|Unser|Unsere|Der|Die|Das|Ein|Eine|I|We|Ich|Wir|Mrs?|Dr)\b")
#: Where the noun of a phrase ends: "the code | of my bike lock".
_NOUN_END = re.compile(
    r"\s+(?:of|in|at|for|to|from|with|on|von|vom|des|im|am|beim|bei|nach|für|auf|aus|mit)\s+", re.IGNORECASE
)
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "herr", "frau", "uncle", "aunt", "onkel", "tante", "prof"})


def _looks_like_name(tokens: Sequence[str]) -> bool:
    """Whether a phrase without a determiner is a name: "Noor", "Uncle Wim"; "Rehearsals" is none."""
    rest = [token for token in tokens if token.casefold() not in _TITLES]
    if not rest or not rest[0][:1].isupper():
        return False
    return (
        all(token[:1].isupper() for token in rest[:1])
        and not (len(rest) > 1 and rest[1].islower())
        and not re.search(r"(?:ings?|tions?|als|ers|ins)$", rest[0])
    )


@cache
def person_stems() -> frozenset[str]:
    return frozenset(map(canonical, words().persons))


def canonical(name: str) -> str:
    stemmed = stem(name.removesuffix("'s").removesuffix("'"))
    return words().alike.get(stemmed, stemmed)


def head_of(what: str) -> str:
    """The noun that a phrase is about: "code" in "the code of my bike lock" and in "the door code"."""
    noun = _NOUN_END.split(what, maxsplit=1)[0]
    tokens = [token for token in re.findall(r"[\w-]+", noun) if token.casefold() not in _FUNCTION]
    return canonical(tokens[-1]) if tokens else canonical(what)


def stems_in(text: str) -> frozenset[str]:
    """The stems of the words that tell what a phrase is about, with one word for words that are alike."""
    found = (token.removesuffix("'s") for token in re.findall(r"[\w'-]+", text.casefold()))
    telling = [token for token in found if token not in _FUNCTION and token not in words().chosen]
    stems = (stem(token.strip("'")) for token in telling)
    return frozenset(words().alike.get(each, each) for each in stems if each)


def name_of(name: str) -> str:
    """A name as the subject of slots; the person under any name is ``me``."""
    said = name.casefold().strip()
    is_person = said in ("i", "me", "my", "we", "our", "myself", "person", "the person", "user", "the user")
    return (
        ME if is_person else canonical(re.findall(r"[\w'-]+", name)[-1] if re.search(r"\w", name) else name)
    )


def relation_of(relation: str) -> str:
    """A relation that a model named, as rules name it: "phone number" is about a number."""
    known = {entry.name for entry in words().relations}
    said = "_".join(relation.casefold().split())
    if said in known:
        return said
    stems = stems_in(relation.replace("_", " "))
    asked = [entry.name for entry in words().relations if stems and stems <= entry.asked]
    return asked[0] if asked else " ".join(sorted(stems)) or said


def is_single(relation: str) -> bool:
    """Whether a relation has one value at a time."""
    known = {entry.name: entry.single for entry in words().relations}
    return known.get(relation, any(word in words().single for word in relation.split()))


def relations_asked(tokens: frozenset[str]) -> list[str]:
    """The relations that a question with these stems may ask for."""
    return [relation.name for relation in words().relations if relation.asked & tokens]
