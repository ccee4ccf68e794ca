"""What a message forbids or takes back, and the request that is left of it."""

import re

from sestet.models.offline.parameters import FILE
from sestet.models.offline.patterns import patterns_of
from sestet.models.offline.statements import begins_with_request, is_request, is_statement
from sestet.models.offline.words import asks, trim_request

_SAID = patterns_of("retractions")
_SHORTEST_QUESTION = 2
_PRONOUN = re.compile(r"\b(?:it|that|this|them)\b", re.IGNORECASE)


def forbids(text: str) -> bool:
    """Whether a message forbids something, and asks for nothing: "don't delete a.txt"."""
    return _SAID["forbids"].fullmatch(text.strip(" .!")) is not None


def asked_instead(text: str) -> str:
    """The request after something that is forbidden; empty for another message.

    "Don't delete a.txt, delete b.txt" asks for "delete b.txt". "It" in the request is the file that must not
    be touched otherwise: "don't delete a.txt, rename it to b.txt".
    """
    found = _SAID["forbids_then"].fullmatch(text.strip(" .!"))
    if found is None or not _asks_for_more(trim_request(found["rest"])):
        return ""
    if not _PRONOUN.search(found["rest"]):
        return found["rest"]
    files = re.findall(FILE, found["forbidden"])
    return _PRONOUN.sub(lambda _: files[0], found["rest"], count=1) if len(files) == 1 else ""


def _asks_for_more(rest: str) -> bool:
    """Whether a request or a whole question is left; "will you" is none."""
    return begins_with_request(rest) or (asks(rest) and len(rest.split()) > _SHORTEST_QUESTION)


def restated(text: str) -> str:
    """The end of a message that takes back or announces it: "and by zero? I mean 5/0"; else empty."""
    if announced := _SAID["announced"].fullmatch(text.strip()):
        return announced["rest"]
    found = _SAID["restated"].fullmatch(text.strip())
    is_one = found is not None and (is_request(found["rest"]) or any(map(str.isdigit, found["rest"])))
    return found["rest"] if found is not None and is_one and not is_statement(found["rest"]) else ""
