"""Splits a request that has several parts for different owners."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sestet.core.agent import DIRECT
from sestet.models.router.features import strip_courtesy

_WORDS_BETWEEN = r"(?:and|then|also|next|finally|after\s+that|afterwards|plus|but)\b"
# Where one part may end and the next begin: the end of a sentence, or a joining word or comma.
_JOINT = re.compile(
    rf"(?P<sentence>\s*(?:[.?!;]+\s+|\n+)(?:{_WORDS_BETWEEN}[\s,]*)*)"
    rf"|\s*,\s+(?:{_WORDS_BETWEEN}[\s,]*)*|\s+(?:{_WORDS_BETWEEN}[\s,]*)+",
    re.IGNORECASE,
)
# A quotation, or text after a colon, is the content of a request and not a request.
_CONTENT = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`|:\s.*", re.DOTALL)
_ASKING = re.compile(
    r"(?:(?:please|just|first|could you|can you|would you|will you)\b[\s,]*)+", re.IGNORECASE
)
# "When do we close? Look it up in the handbook": the sentence after the question names the owner.
_WHERE_TO_LOOK = re.compile(
    r"\?\s+((?:please\s+|just\s+)?(?:look|search|check|find|google)\s(?:[^.?!;]*\s)?(?:it|that|this|them)\b[^?;]*)$",
    re.IGNORECASE,
)
_CONDITION = frozenset({"if", "when", "once", "unless", "while", "because", "since", "as", "after", "before"})
_FIRST_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
#: How probable the owner of a part must be. A fragment often looks like a direct answer, so that needs more.
_FAIR, _FAIR_DIRECT = 0.6, 0.95
# A longer text is usually one request of many sentences.
_MOST_CHARACTERS = 600


class Part(NamedTuple):
    """One part of a request, and who owns it."""

    text: str
    agent: str


class Piece(NamedTuple):
    """A stretch of a request that may be a part, with its likeliest owner."""

    start: int
    end: int
    agent: str
    chance: float


class _Span(NamedTuple):
    start: int
    end: int
    #: Whether it begins a new sentence.
    is_sentence: bool


def where_to_look(request: str) -> str:
    """The sentence after a question that says where to look it up; empty without one."""
    found = _WHERE_TO_LOOK.search(request) if len(request) <= _MOST_CHARACTERS else None
    return found[1] if found else ""


def judge_pieces(request: str, scores: Callable[[str], Mapping[str, float]]) -> list[Piece]:
    """The pieces of a request that begin like a request, each with its owner; empty for a single piece.

    ``scores`` returns the likeliest owner first.
    """
    if len(request) > _MOST_CHARACTERS:
        return []
    spans = _join_rests(request, _cut(request))
    if len(spans) < 2:
        return []
    owners = (next(iter(scores(request[span.start : span.end]).items())) for span in spans)
    return [Piece(span.start, span.end, *owner) for span, owner in zip(spans, owners, strict=True)]


def join_pieces(request: str, pieces: Sequence[Piece]) -> tuple[Part, ...]:
    """The parts for different owners; empty when the request should stay whole."""
    found: list[Piece] = []
    for piece in pieces:
        is_fair = piece.chance >= (_FAIR_DIRECT if piece.agent == DIRECT else _FAIR)
        if found and (not is_fair or found[-1].agent == piece.agent):
            found[-1] = found[-1]._replace(end=piece.end)
        elif is_fair:
            found.append(piece)
        else:
            return ()
    parts = tuple(Part(request[piece.start : piece.end].strip(), piece.agent) for piece in found)
    return parts if len(parts) > 1 else ()


def _cut(request: str) -> list[_Span]:
    content = [found.span() for found in _CONTENT.finditer(request)]
    spans: list[_Span] = []
    start, is_sentence = 0, True
    for joint in _JOINT.finditer(request):
        if joint.end() < len(request) and not any(begin < joint.end() <= end for begin, end in content):
            spans.append(_Span(start, joint.start(), is_sentence))
            start, is_sentence = joint.end(), joint["sentence"] is not None
    spans.append(_Span(start, len(request), is_sentence))
    return [span for span in spans if request[span.start : span.end].strip()]


def _join_rests(request: str, spans: list[_Span]) -> list[_Span]:
    """Join a span to the one before if it begins no request, or follows a condition or a lone word."""
    known = openings() | _CONDITION
    hint = where_to_look(request)
    joined: list[_Span] = []
    is_open = False
    for span in spans:
        text = request[span.start : span.end]
        first = _first_word(text)
        is_rest = not (span.is_sentence or first in known) or text == hint
        if joined and (is_open or is_rest):
            joined[-1] = joined[-1]._replace(end=span.end)
            is_open = False
        else:
            joined.append(span)
            is_open = first in _CONDITION or len(text.split()) == 1
    return joined


@cache
def openings() -> frozenset[str]:
    lines = Path(__file__).with_name("openings.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _first_word(text: str) -> str:
    text = strip_courtesy(text)
    if asking := _ASKING.match(text):
        text = text[asking.end() :]
    found = _FIRST_WORD.match(text)
    return found[0].casefold() if found else ""
