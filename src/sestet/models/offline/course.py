"""Requests of several parts: one delegation after the other, each with what the earlier ones have found."""

import re
from collections.abc import Sequence

from sestet.core.message import ToolMessage
from sestet.core.schema import JsonValue
from sestet.models.offline.conversation import Conversation
from sestet.models.offline.words import clauses_of, stems_of, trim_request, words_of
from sestet.models.router import DIRECT, Part

#: Something is to be kept that the request only names: "remember the wifi code", "save it".
_KEEP = re.compile(
    r"(?P<deed>(?:remember|memorize|note|save|store|keep|add|record|write down)\b)(?:\s+down)?\s+"
    r"(?P<what>(?:the|its|their|it|them|that|this|what)\b.*)",
    re.IGNORECASE,
)
#: A sentence or a value says what is to be kept; a name alone does not.
_SAYS_IT = re.compile(r"[:\"“]|\d|\b(?:is|are|was|were|has|have|that \w+)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(r"(?:it|them|that|this)\b|what\b.*\bsays?\b", re.IGNORECASE)
_DO_IT = re.compile(r"\w+\s+(?:it|that|this|them)\b(?!\s+(?:is|i|my|we|the)\b)", re.IGNORECASE)
_MEANT_BEFORE = re.compile(
    r"(?:(?:do|try|read|open|show|list|search|send|delete|forget|explain|repeat)\s+(?:me\s+)?(?:it|that|this|them)"
    r"|what does it|(?:do\s+)?the same|(?:what|how) about)\b(?!\s+(?:is|i|my|we|the)\b)",
    re.IGNORECASE,
)
_WHERE_TO = re.compile(r"\s+(?P<where>(?:in|into|to|as|under)\s+.*)$", re.IGNORECASE)
_MOST_CHARACTERS = 1_000

Transfer = dict[str, JsonValue]


def needs_past(text: str) -> bool:
    """Whether one sentence means something that only an earlier message can name."""
    clauses = list(clauses_of(trim_request(text)))
    return len(clauses) == 1 and _MEANT_BEFORE.match(clauses[0].text) is not None


def points_back(text: str) -> bool:
    """Whether a part only says what to do with another: "look it up". To keep it is a part of its own."""
    request = trim_request(text)
    return _DO_IT.match(request) is not None and _KEEP.fullmatch(request) is None


def next_step(
    parts: Sequence[Part],
    results: Sequence[ToolMessage],
    conversation: Conversation,
    *,
    may_delegate: bool = True,
) -> Transfer | str:
    """The next delegation, or what to say when there is none left."""
    answers: list[str] = []
    left = list(results)
    for index, part in enumerate(parts):
        if part.agent == DIRECT:
            answers.append(conversation.answer(part.text))
        elif not conversation.abilities.has(part.agent):
            answers.append(conversation.nobody_for(part.agent))
        elif (request := _with_findings(part.text, answers)) is None:
            answers.append(f"I found nothing to go on with for “{part.text}”, so I left it.")
        elif not left and not may_delegate:
            answers.append(f"There was no round left for “{part.text}”.")
        elif not left:
            return {"agent_name": part.agent, "request": request, "reply": len(parts) == 1}
        else:
            result = left.pop(0)
            answers.append(result.text)
            if result.failed:
                rest = ", ".join(f"“{later.text}”" for later in parts[index + 1 :])
                return "\n\n".join((*answers, f"So I did not go on with {rest}.") if rest else answers)
    return "\n\n".join(answers)


def _with_findings(text: str, found: Sequence[str]) -> str | None:
    """The request with what it points at put in its place; None when that was not found."""
    wanted = _KEEP.fullmatch(trim_request(text))
    if not found or wanted is None or _SAYS_IT.search(wanted["what"]):
        return text
    what, where = wanted["what"], ""
    if place := _WHERE_TO.search(what):
        what, where = what[: place.start()], f" {place['where']}"
    value = found[-1][:_MOST_CHARACTERS] if _POINTS_BACK.match(what) else _line_about(what, found)
    return f"{wanted['deed']}{where} that {value}" if value else None


def _line_about(what: str, found: Sequence[str]) -> str:
    """The line of what was found that holds all words of a name, the latest first."""
    names = stems_of(what)
    for text in reversed(found):
        for line in text.splitlines():
            if names and names <= {word.stem for word in words_of(line)}:
                return line.strip(" -*\t")
    return ""
