"""Matching a request with examples, by its words alone: the evidence of the built-in model."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from sestet.core.agent import AgentSpec
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.tool import Tool

_POLITENESS = re.compile(
    r"^\s*((hey|hi|hello|ok|okay|so|and|now|then|please|kindly|sestet|can you|could you|would you|will you"
    r"|you should|i want you to|i would like you to|i'd like you to)\b[\s,:!]*)+",
    re.IGNORECASE,
)
_ENDING = re.compile(r"([\s.!?]+|[\s,]+(please|for me|thanks|thank you))+$", re.IGNORECASE)
_SLOT = re.compile(r"\{(\w+)\}")
_WORD = re.compile(r"[\w'./~-]*\w")
#: Slots that hold one word, or a quoted text: "show me the weather" names no file.
_ONE_WORD = frozenset({"path", "url"})
_COMMON = frozenset(
    "a an and are at by can do does for from i in is it me my of on or our the there this to us we".split()  # noqa: SIM905 - words
)


class ToolMatch(NamedTuple):
    """A tool with its arguments, and how many letters of its example the request repeats."""

    tool: Tool
    arguments: dict[str, JsonValue]
    strength: float


class RouteScore(NamedTuple):
    agent: str
    score: float


def trim_request(text: str) -> str:
    """The request without its greetings, courtesies and final punctuation."""
    trimmed = _ENDING.sub("", _POLITENESS.sub("", text.strip()))
    return trimmed or text.strip()


def match_tool(text: str, tools: Iterable[Tool]) -> ToolMatch | None:
    """The tool with the most specific example that the whole request fits, its arguments filled in."""
    request = trim_request(text)
    matches = (
        match for tool in tools for example in tool.examples if (match := _match(request, tool, example))
    )
    return max(matches, key=lambda match: match.strength, default=None)


def route(
    text: str, specs: Sequence[AgentSpec], tools: Mapping[str, Sequence[Tool]], threshold: float = 0.5
) -> RouteScore | None:
    """The agent that the words speak for, or None when they do not speak clearly."""
    request = trim_request(text)
    by_tool = [
        (match.strength, spec.name) for spec in specs if (match := match_tool(text, tools.get(spec.name, ())))
    ]
    if by_tool:
        return RouteScore(max(by_tool)[1], 1.0)
    scores = sorted(
        (RouteScore(spec.name, _plaque_score(request, spec)) for spec in specs), key=lambda s: -s.score
    )
    if not scores or scores[0].score < threshold:
        return None
    # Two plaques that fit equally well are no evidence for either.
    return scores[0] if len(scores) == 1 or scores[0].score > scores[1].score else None


def _plaque_score(request: str, spec: AgentSpec) -> float:
    words = _words(request)
    lowered = f" {request.casefold()} "
    keyword = max(
        (0.5 + 0.1 * len(k.split()) for k in spec.keywords if f" {k.casefold()} " in lowered), default=0.0
    )
    example = max((_overlap(words, _words(trim_request(text))) for text in spec.examples), default=0.0)
    return max(keyword, example)


def _match(request: str, tool: Tool, example: str) -> ToolMatch | None:
    literal = len(_SLOT.sub("", trim_request(example)).replace(" ", ""))
    if found := _pattern(example).fullmatch(request):
        if not (given := {name: value.strip(" \"'`“”") for name, value in found.groupdict().items()}):
            given = _whole_request(request, tool)
        if any(name in _ONE_WORD and _is_loose(value) for name, value in found.groupdict().items()):
            return None
        arguments = {name: _typed(tool, name, value) for name, value in given.items()}
        # A slot that swallows much says less than words that were foreseen.
        return (
            ToolMatch(tool, arguments, literal - 0.001 * sum(map(len, given.values())))
            if all(given.values())
            else None
        )
    if not _SLOT.search(example) and _overlap(_words(request), _words(trim_request(example))) >= 0.75:
        return ToolMatch(tool, dict(_whole_request(request, tool)), literal * 0.5)
    return None


def _is_loose(value: str) -> bool:
    return " " in value.strip() and value.strip()[0] not in "\"'`“"


@lru_cache(maxsize=1024)
def _pattern(example: str) -> re.Pattern[str]:
    """An example as a pattern: its words in any case and spacing, its slots as whatever stands there."""
    parts = _SLOT.split(trim_request(example))
    text = "".join(rf"(?P<{part}>.+?)" if index % 2 else re.escape(part) for index, part in enumerate(parts))
    return re.compile(text.replace(r"\ ", r"\s+"), re.IGNORECASE | re.DOTALL)


def _whole_request(request: str, tool: Tool) -> dict[str, str]:
    """An example without slots passes the whole request to a tool that requires one text."""
    required = cast("Sequence[str]", tool.parameters.get("required", ()))
    return {required[0]: request} if len(required) == 1 else {}


def _typed(tool: Tool, name: str, value: str) -> JsonValue:
    properties = cast("Mapping[str, JsonObject]", tool.parameters.get("properties", {}))
    return int(value) if properties.get(name, {}).get("type") == "integer" and value.isdecimal() else value


def _words(text: str) -> frozenset[str]:
    found = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word.removesuffix("s") for word in found if word not in _COMMON)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
