"""Recognises requests with several parts for different owners."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

# Where one part may end and the next begin. Quoted text is never cut.
_JOINT = re.compile(
    r"\s*(?:[.?!;]+\s+(?=\S)|[,;]?\s+(?:and\s+(?:then|also|after\s+that|afterwards)|then|also|after\s+that|afterwards"
    r"|and|but\s+first)\s+(?=\S)|,\s+(?=\S))(?:(?:and|then|also|after\s+that|afterwards|finally)\b[\s,]*)*",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`")
_FAIR = 0.5
_MOST_CHARACTERS = 1_000


class Part(NamedTuple):
    """One part of a request, and who owns it."""

    text: str
    agent: str


def split_request(request: str, scores: Callable[[str], Mapping[str, float]]) -> tuple[Part, ...]:
    """The parts, or nothing when the request is to be left whole; ``scores`` judges a text."""
    if len(request) > _MOST_CHARACTERS:
        return ()
    texts = _cut(request)
    if len(texts) < 2:
        return ()
    parts: list[Part] = []
    for text in texts:
        by_agent = scores(text)
        agent = next(iter(by_agent))
        fair = by_agent[agent] >= _FAIR and len(text.split()) > 1
        if parts and (not fair or parts[-1].agent == agent):
            parts[-1] = Part(f"{parts[-1].text}, {text}", parts[-1].agent)
        elif fair:
            parts.append(Part(text, agent))
        else:
            return ()
    return tuple(parts) if len(parts) > 1 else ()


def _cut(request: str) -> list[str]:
    quoted = [found.span() for found in _QUOTED.finditer(request)]
    texts: list[str] = []
    start = 0
    for joint in _JOINT.finditer(request):
        if not any(begin < joint.start() < end for begin, end in quoted):
            texts.append(request[start : joint.start()])
            start = joint.end()
    texts.append(request[start:])
    return [text.strip() for text in texts if text.strip()]
