"""Tells statements, questions and requests apart."""

import re
from functools import cache

from sestet.models.offline.matching import ToolMatch
from sestet.models.offline.parameters import parameters_of
from sestet.models.offline.patterns import patterns_of
from sestet.models.offline.words import is_question, trim_request
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
_LABELLED = re.compile(r"[^:=?!.\n]{2,80}\s*[:=]\s*\S")
_MORE_REQUESTS = frozenset(
    """
    ls undo repeat text mail message phone ring dm tweet invite notify remind wake pause switch dim mute sing
    paint sketch translate proofread shorten simplify brainstorm recommend advise imagine guess predict solve
    prove compose reserve rent hire purchase unsubscribe google download upload view display cat grep erase
    discard scrap reword recite
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
