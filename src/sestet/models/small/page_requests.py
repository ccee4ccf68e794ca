"""Reads requests for work on a page whose steps are certain, such as a download or a sign-in."""

import re
from typing import NamedTuple, TypeAlias

from sestet.models.offline.parameters import ADDRESS, unquoted
from sestet.models.offline.words import trim_request
from sestet.models.small.form_requests import About, Fill, read_about, read_fill

#: Verbs that open a page, and verbs that ask for nothing but words about what was read.
_OPENS = r"(?:open|go to|visit|browse to|navigate to|look at|on|at|from)"
_TELLS = (
    r"(?:summari[sz]e|sum|tell|say|show|give|explain|describe|list|read|what|which|who|when|where|how"
    r"|find out|translate|quote|check|see|look)"
)
_SAVES = (
    r"(?:download|(?:save|fetch|get|grab)(?: me)?(?= (?:the |a |its |this )?(?:file|document|pdf|csv)\b))"
    r"(?: me| us)?"
)
_SIGNS_IN = r"(?:(?:sign|log)(?: me)?[ -]?(?:in|on)(?:to)?|login)"
_AND = r"(?:(?:and|then|please|also)\s+)*"
#: Where a new order begins: not in "terms and conditions", and not in "price list".
_BORDER = re.compile(rf"(?:\s*[,;]\s+{_AND}|\s+(?:and|then)\s+{_AND})(?={_TELLS}\b)", re.IGNORECASE)
_PLACE = rf"(?:(?:from|on|at|of|in|into|to)\s+)?(?:(?:the|its)\s+)?(?:page|site|website)?\s*{ADDRESS}"
_OPENING = re.compile(
    rf"{_OPENS}\s+(?:the\s+)?(?:page|site|website)?\s*{ADDRESS}[\s,;]+{_AND}", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
#: Objects that name no link: the document itself.
_ITSELF = frozenset(("", "it", "this", "that", "file", "document", "page"))
_LEADING = re.compile(r"(?:the|an?|its|their|this|file|document|link|called|named|behind)\s+", re.IGNORECASE)
#: A target with such a word holds a second order: "the report and mail it to Bob".
_POINTS_BACK = re.compile(r"\b(?:it|them|that|me)\b", re.IGNORECASE)
_SECRET = re.compile(
    r"\bvault:(?P<ref>[\w.-]*\w)|\bsecret(?: (?:called|named))?\s+(?P<name>[\w.-]*\w)"
    r"|\bpassword\s+(?:called\s+|named\s+)?(?P<kept>[\w.-]*\w)\s+(?:of|from|in) the vault\b",
    re.IGNORECASE,
)
_USER = re.compile(
    r"\b(?:as|user ?name|user|e-?mail(?: address)?|account)\s+(?:(?:is|called|named|the user|user)\s+)?"
    r"(?!with\b|and\b|the\b|my\b)(?P<user>[^\s,;]+)",
    re.IGNORECASE,
)
#: Everything else that a request for a sign-in may say.
_FILLER = frozenset(
    ("with", "the", "a", "my", "password", "user", "name", "using", "and", "use", "in", "to", "at", "on",
     "of", "from", "there", "please", "vault")
)  # fmt: skip
_PLAIN_PASSWORD = re.compile(r"\bpassword\s+(?!is\b|of\b)\S+", re.IGNORECASE)


class Download(NamedTuple):
    """Save a file from a page."""

    url: str
    #: The words of its link; empty: the document at the address.
    target: str
    #: What to tell about the file; empty: nothing.
    then: str = ""


class SignIn(NamedTuple):
    """Sign in on a page with a password of the vault."""

    url: str
    user: str = ""
    #: The name of the secret; empty: the request names none.
    secret: str = ""
    #: What to tell about the page behind the sign-in; empty: nothing.
    then: str = ""


PageRequest: TypeAlias = Download | SignIn | Fill | About


def read_page_request(text: str) -> PageRequest | None:
    """The page work of a request; None: it is other work, or its steps are not certain."""
    text = _SENTENCE_END.sub(" ;", trim_request(text)).strip(" ;")
    address = re.search(rf"(?<![@\w.]){ADDRESS}", text)
    if address is None:
        return None
    opening = _OPENING.match(text)
    whole = text[opening.end() :] if opening else text
    if found := read_about(address[0], whole) or (read_fill(address[0], whole) if opening else None):
        return found
    order, *others = _BORDER.split(whole)
    then = " and ".join(each.strip(" ,;") for each in others)
    if found := re.match(rf"{_SAVES}\b", order, re.IGNORECASE):
        target = _target(order[found.end() :])
        return None if _POINTS_BACK.search(target) else Download(address[0], target, then)
    if found := re.match(rf"{_SIGNS_IN}\b", order, re.IGNORECASE):
        return _sign_in(address[0], order[found.end() :].replace(address[0], " "), then)
    return None


def _target(words: str) -> str:
    words = re.sub(_PLACE, " ", words, flags=re.IGNORECASE).strip(" ,;:")
    while found := _LEADING.match(words):
        words = words[found.end() :]
    words = unquoted(words)
    return "" if words.casefold() in _ITSELF else words


def _sign_in(url: str, words: str, then: str) -> SignIn | None:
    secret = _SECRET.search(words)
    rest = _SECRET.sub(" ", words) if secret else _PLAIN_PASSWORD.sub(" ", words)
    user = _USER.search(rest)
    rest = _USER.sub(" ", rest)
    if set(re.findall(r"\w+", rest.casefold())) - _FILLER:
        return None
    name = next((each for each in secret.groups() if each), "") if secret else ""
    return SignIn(url, unquoted(user["user"]) if user else "", name, then)
