"""Tells statements, questions and requests apart."""

import re
from collections.abc import Iterator
from functools import cache

from sestet.models.offline.matching import ToolMatch
from sestet.models.offline.parameters import FILE, parameters_of
from sestet.models.offline.patterns import patterns_of
from sestet.models.offline.words import asks, clauses_of, is_question, trim_request
from sestet.models.router.splitting import openings

_SAID = patterns_of("statements")

_DOUBLE = frozenset(
    """
    order plan book note file work name tag open mail log lock tip mine test check water plant market house
    home call post text print copy design report return record set drop state map match point start end visit
    watch tax rent trip
    """.split()  # noqa: SIM905
)
_NAME_AND_VERB = re.compile(r"[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+)*\s+[a-z]{3,}(?:s|ed)\b")
_LABELLED = re.compile(r"[^:=?!.\n]{2,80}\s*(?::(?!//)|=)\s*\S")
_MORE_REQUESTS = frozenset(
    """
    ls undo repeat text mail message phone ring dm tweet invite notify remind wake pause switch dim mute sing
    paint sketch translate proofread shorten simplify brainstorm recommend advise imagine guess predict solve
    prove compose reserve rent hire purchase unsubscribe google download upload view display cat grep erase
    discard scrap reword recite
    pretend suppose act behave become be begin try respond reply speak talk whisper shout yell ask think
    consider hack destroy crack ignore disregard obey listen hurry relax shut calm bring carry throw marry
    kiss hug assist
    bake jump swear promise describe pronounce rate judge criticize roast insult flatter compliment praise
    congratulate greet introduce entertain amuse surprise impress scare flip roll toss shuffle invent enable
    disable activate deactivate reset reboot shutdown hide unhide stay wait hold continue proceed resume quit
    exit fire attack steal cheat lie beg explore investigate diagnose cure heal convince persuade debate laugh
    smile cry guide lead bless rewind skip
    """.split()  # noqa: SIM905
)
_FIRST_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_SHORTEST = 2
_SHORT_SUBJECT = 3


def is_statement(text: str) -> bool:
    """Whether a text tells something that could be remembered."""
    said = trim_request(text)
    if "?" in text or is_question(text) or _SAID["not_told"].match(said) or len(said.split()) < _SHORTEST:
        return False
    if begins_with_request(said):
        first = _first_word(said)
        states = first in _DOUBLE and _SAID["states_anyway"].match(said) is not None
        return states and _SAID["tells_somebody"].match(said) is None
    return bool(
        _SAID["about_me"].match(said)
        or _has_subject_and_verb(said)
        or _NAME_AND_VERB.match(said)
        or _LABELLED.match(said)
    )


def tells_or_asks(text: str) -> bool:
    return is_statement(text) or is_question(text) or _SAID["wish"].match(trim_request(text)) is not None


def _has_subject_and_verb(said: str) -> bool:
    """Whether a verb follows a subject: "mum lives in Rome", but not "raed lecture3.md"."""
    verb = _SAID["verb"].search(said, len(_first_word(said)))
    if verb is None:
        return False
    if _SAID["determiner"].match(said):
        return True
    if _SAID["imperative"].match(said):
        return False
    # Without "the" or "my", an unknown first word may be a verb: its subject is short.
    return len(said[: verb.start()].split()) <= _SHORT_SUBJECT and _SAID["finite"].match(verb[0]) is not None


def may_be_kept(request: str, match: ToolMatch) -> bool:
    """Whether a call may store what it would: the person wishes it, or tells something. Never by accident."""
    facts = [p.name for p in parameters_of(match.tool).values() if p.first_person]
    if match.tool.effect != "store" or not facts or _SAID["wish"].search(request):
        return True
    told = [trim_request(str(match.arguments.get(name, ""))) for name in facts]
    if _SAID["corrects"].match(request):
        return not any(begins_with_request(text) or is_question(text) for text in told)
    return all(map(is_statement, told))


def says_something(fact: str) -> bool:
    """Whether a text that is to be kept says anything: "nothing" and "I'm not" do not."""
    said = fact.strip(" .!?")
    return not (_SAID["says_nothing"].fullmatch(said) or _SAID["has_no_subject"].fullmatch(said))


def asks_at_end(text: str) -> bool:
    """Whether a statement ends in a request for work: "the chair costs 95 now, please update prices.csv"."""
    _, *later = (clause.text for clause in clauses_of(text))
    return any(
        begins_with_request(trim_request(clause))
        and (re.match(r"(?:and |so )?(?:please|pls)\b", clause, re.IGNORECASE) or re.search(FILE, clause))
        for clause in later
    )


def begins_with_request(said: str) -> bool:
    """Whether a text without its courtesies begins with a word that asks for something."""
    return _first_word(said) in _requests() and not _SAID["compound"].match(said)


def is_request(text: str) -> bool:
    """Whether a line of a paste stands alone: a question, a request or a statement."""
    return is_question(text) or begins_with_request(trim_request(text)) or is_statement(text)


@cache
def _requests() -> frozenset[str]:
    return openings() | _MORE_REQUESTS


def _first_word(text: str) -> str:
    found = _FIRST_WORD.match(text)
    return found[0].casefold() if found else ""


#: Begins a request to keep something.
KEEPS = re.compile(r"(?:remember|note|save|store|keep|memori[sz]e|write|record)\b", re.IGNORECASE)
_DO_IT = re.compile(r"\w+\s+(?:it|that|this|them)\b(?!\s+(?:is|i|my|we|the)\b)", re.IGNORECASE)


def points_back(text: str) -> bool:
    """Whether a part says what to do with the part before: "look it up"."""
    request = trim_request(text)
    return _DO_IT.match(request) is not None and not KEEPS.match(request)


def is_remark(text: str) -> bool:
    return is_statement(text) or not is_request(text)


def text_to_keep(text: str) -> str:
    """What stands before "remember that" at the end of a message; empty for another message."""
    kept = _SAID["keeps_it"].fullmatch(text.strip())
    if kept is None:
        return ""
    said = re.sub(r"^its\b", "it's", kept["said"], flags=re.IGNORECASE)
    return said if kept["it"] or "\n" in said or is_statement(said) else ""


#: Where a sentence ends and another begins.
_SENTENCE_END = re.compile(r"(?<=[\w)][.!])(?<!\b[DM]r\.)(?<!\bM[rs]s\.)(?<!\bSt\.)(?<!\bM[sz]\.)\s+(?=\w)")
_AND_MY = re.compile(
    r",?\s+and\s+(?=(?:my|our)\s+\w+(?:\s+\w+){0,3}\s+(?:is|are|was|lives?|works?)\b"
    r"|i(?:'m|\s+(?:am|live|work|have|like|love|hate|prefer|drive|speak|own|was born))\b)",
    re.IGNORECASE,
)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text; also "and my …" begins one."""
    return [part for sentence in _SENTENCE_END.split(text) for part in _AND_MY.split(sentence)]


def facts_to_keep(text: str) -> list[str]:
    """The facts of a list to keep, each on a line or behind a semicolon; none for another message."""
    listed = _SAID["keeps_list"].fullmatch(text.strip())
    parts = re.split(r"[\n;]", listed["facts"]) if listed else []
    facts = [fact for part in parts if (fact := part.strip(" \t-*•."))]
    return facts if listed and (listed["several"] or all(map(is_statement, facts))) else []


def pieces_of(text: str) -> list[str]:
    """The parts of a text between its joints."""
    ends = [(joint.start(), joint.end()) for joint in joints(text)]
    starts = [0, *(end for _, end in ends)]
    pieces = [text[start:end] for start, end in zip(starts, [*(s for s, _ in ends), len(text)], strict=True)]
    return [piece for piece in pieces if piece.strip()]


_KEPT_TOGETHER = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`|:\s.*", re.DOTALL)


def joints(text: str) -> Iterator[re.Match[str]]:
    """The places where a word that begins a request follows the end of a part."""
    kept = [found.span() for found in _KEPT_TOGETHER.finditer(text)]
    for joint in _SAID["joint"].finditer(text):
        inside = any(start < joint.end() <= end for start, end in kept)
        following = trim_request(text[joint.end() :])
        if not inside and joint.start() and (begins_with_request(following) or asks(following)):
            yield joint
