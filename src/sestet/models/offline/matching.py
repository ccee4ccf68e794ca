"""Finds the tool for a request: by an example that it fits, else by words that it shares with examples."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.models.offline.arguments import (
    Taken,
    quoted,
    statement,
    subject_matter,
    take_numbers,
    take_values,
)
from sestet.models.offline.parameters import (
    FILE,
    NUMERIC,
    SLOT,
    Parameter,
    cues_of,
    parameters_of,
    spoken,
)
from sestet.models.offline.words import COMMON, is_question, overlap, stems_of, trim_request, words_of

#: Verbs that change something. A tool without the verb in its examples does not do it.
_DEEDS = frozenset(
    """
    add append book build buy change commit copy create delete deploy draft edit encrypt erase
    execute install kill make move order overwrite pay print push put remove rename replace restart
    run save send set start stop store update upload write zip unzip compress archive clean empty sort merge
    convert share
    """.split()  # noqa: SIM905
)
#: "Write" asks for a text, "write down" for a note.
_NOTE_DOWN = re.compile(r"\b(?:write|put)\s+(?:it\s+)?down\b", re.IGNORECASE)
#: The first word of a question or a look-up, which changes nothing.
_ASKS = re.compile(
    r"(what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|any|search|find|look|show|list"
    r"|tell|give|check|see|read|open|print)\b",
    re.IGNORECASE,
)
#: What a number in its usual place adds to the strength, in letters.
_FORESEEN = 4
#: A longer text is matched only with examples of one slot: two slots would have too many places.
_LONGEST_REQUEST = 1_000
#: How alike a request and an example must be.
_LIKE = 0.75
_LIKELY = 0.45
#: How near another tool must be to the likeliest one, whose arguments were not found.
_NEARLY = 0.7
#: What an argument that was found by its form adds to the likeness.
_FORM = 0.45
#: Parts of a file, which no tool that changes a whole file is meant for.
_PARTS = frozenset(
    """
    line lines row rows word words letter letters part parts half entry entries item items column columns
    paragraph paragraphs sentence sentences section sections heading headings comment comments
    """.split()  # noqa: SIM905
)
#: Words that name no file, whatever is done with it.
_NO_FILES = frozenset(
    ("everything", "yourself", "itself", "him", "her", "us", "anything", "something", "current", "working")
)
#: Introduces a text that the request gives.
_GIVEN = re.compile(r"\b(?:with|containing|contains|saying|says?|as|to|into)\b|:", re.IGNORECASE)
#: How an example introduces a person's sentence.
_INTRODUCED = re.compile(r"(\bthat|[:,])\s\{")
#: The person tells something about themselves, without a wish.
_TELLS = re.compile(
    r"(?:i|my|we|our|i'm|i've)\b(?!\s+(?:need|want|wish|wonder|would|will|could|can|cannot|can't|forgot|think)|'d)",
    re.IGNORECASE,
)

#: Forbids something.
_FORBIDS = re.compile(
    r"(?:^not|\b(?:do not|don'?t|never|(?:should|must|may|need) not|shouldn't|mustn't|needn't|no need to))\s+"
    r"(?:ever\s+|(?:want you|have|need)\s+to\s+)?(?P<deed>\w+)",
    re.IGNORECASE,
)


class ToolMatch(NamedTuple):
    """A tool with its arguments, and how well the request fits it."""

    tool: Tool
    arguments: dict[str, JsonValue]
    strength: float


def find_tool(text: str, tools: Sequence[Tool]) -> ToolMatch | None:
    """The tool for a request, with its arguments: by an example, else guessed."""
    return match_tool(text, tools) or guess_tool(text, tools)


def match_tool(text: str, tools: Iterable[Tool]) -> ToolMatch | None:
    """The tool with the most specific example that the whole request fits, its arguments filled in."""
    request = trim_request(text)
    return max(_matches(request, tools, asked="?" in text), key=lambda match: match.strength, default=None)


def _matches(request: str, tools: Iterable[Tool], *, asked: bool) -> Iterator[ToolMatch]:
    is_long = len(request) > _LONGEST_REQUEST
    stems = stems_of(request)
    for tool in tools:
        # "At most three of them" may occur anywhere in a request; no example has it.
        taken = Taken({}, request) if is_long else take_numbers(request, tool)
        rest = stems_of(taken.rest) if taken.arguments else stems
        for example in tool.examples:
            if is_long and example.count("{") != 1:
                continue
            if (match := _match(request, stems, tool, example)) and not (asked and _is_asked(match, example)):
                yield match
            if taken.arguments and (match := _match(taken.rest, rest, tool, example)):
                yield match._replace(
                    arguments={**taken.arguments, **match.arguments}, strength=match.strength + _FORESEEN
                )


def guess_tool(text: str, tools: Sequence[Tool]) -> ToolMatch | None:
    """The tool whose examples are most like the request, if its arguments can be found in it."""
    request = trim_request(text)
    if len(request) > _LONGEST_REQUEST:
        return None
    asks = "?" in text or _ASKS.match(request) is not None
    tools = [tool for tool in tools if not _is_forbidden(request, tool)]
    weights = _weights(tuple(tools))
    fitting = [tool for tool in tools if _may_be(request, tool, asks=asks)]
    scored = [(_likeness(request, tool, weights), tool) for tool in fitting]
    best = max((score for score, _ in scored), default=0.0)
    for score, tool in sorted(scored, key=lambda pair: -pair[0]):
        if score < max(_LIKELY, _NEARLY * best):
            break
        if score < best and not asks and not _begins_like(request, tool):
            # The likeliest tool lacks its arguments, and this one does something else.
            continue
        arguments = _fill(request, tool)
        if arguments is not None:
            return ToolMatch(tool, arguments, score)
    return _whole(request, tools, asks=asks)


def names_file(match: ToolMatch, text: str) -> bool:
    """Whether the path of a call is one: "show me everything" names no file, "add milk to my tea" neither."""
    if "tab" in match.arguments and not re.search(r"\btabs?\b|\bt\d+\b", text, re.IGNORECASE):
        return False
    path = match.arguments.get("path")
    if not isinstance(path, str):
        return True
    if "text" in match.arguments and match.tool.effect == "local" and path.isalpha():
        return re.search(r"\bfile\b", text, re.IGNORECASE) is not None
    return path.casefold() not in COMMON | _NO_FILES


def _whole(request: str, tools: Sequence[Tool], *, asks: bool) -> ToolMatch | None:
    """The tool that takes whole questions, or statements of the person about themselves."""
    tells = not asks and _TELLS.match(request) is not None
    for tool in tools:
        for parameter in parameters_of(tool).values():
            if (asks and parameter.question) or (tells and parameter.first_person):
                return ToolMatch(tool, {parameter.name: request}, _LIKELY)
    return None


def _match(request: str, stems: frozenset[str], tool: Tool, example: str) -> ToolMatch | None:
    """``stems``: those of the request."""
    words = _words(example)
    if words.may_fit(request) and (found := _pattern(tool, example).fullmatch(request)):
        parameters = parameters_of(tool)
        given = {name: parameters[name].value(value) for name, value in found.groupdict().items()}
        given = given or _whole_request(request, tool)
        is_filled = all(value or value == 0 for value in given.values())
        # Words that fill a slot count less than words of the example.
        swallowed = sum(map(len, found.groupdict().values()))
        return ToolMatch(tool, given, words.letters - 0.001 * swallowed) if is_filled else None
    if not words.has_slots and overlap(stems, words.stems) >= _LIKE:
        return ToolMatch(tool, _whole_request(request, tool), words.letters * 0.5)
    return None


class _Words(NamedTuple):
    """The words of an example outside of its slots."""

    lower: tuple[str, ...]
    letters: int
    has_slots: bool
    stems: frozenset[str]

    def may_fit(self, request: str) -> bool:
        """Whether the pattern of the example is worth a try.

        Compiling the patterns of all examples takes longer than the rest of a first turn. Beyond ASCII, only
        the pattern knows which letters are alike.
        """
        said = request.lower()
        return not request.isascii() or all(word in said for word in self.lower if word.isascii())


@lru_cache(maxsize=2048)
def _words(example: str) -> _Words:
    literal = SLOT.sub(" ", trim_request(example))
    letters = len(SLOT.sub("", trim_request(example)).replace(" ", ""))
    has_slots = SLOT.search(example) is not None
    return _Words(tuple(literal.lower().split()), letters, has_slots, stems_of(example))


def lacks_number(text: str, tools: Iterable[Tool]) -> str:
    """What to say to a request with words in the place of a number that its tool requires; else empty."""
    request = trim_request(text)
    for tool in tools if len(request) <= _LONGEST_REQUEST else ():
        values = parameters_of(tool).values()
        numbers = {one.name for one in values if one.required and one.type in NUMERIC}
        for example in tool.examples:
            wanted = numbers.intersection(SLOT.findall(example))
            pattern = _pattern(tool, example, with_numbers=False) if wanted else None
            if pattern and (found := pattern.fullmatch(request)):
                said = example.format_map({**found.groupdict(), **dict.fromkeys(wanted, "2")})
                return f"“{found[min(wanted)]}” is no number, and that takes one, as in “{said}”."
    return ""


@lru_cache(maxsize=2048)
def _pattern(tool: Tool, example: str, *, with_numbers: bool = True) -> re.Pattern[str]:
    """An example as a pattern: its words in any case and spacing, its slots as groups.

    ``with_numbers``: whether numbers alone fill the slots for numbers.
    """
    parts = SLOT.split(trim_request(example))
    parameters = parameters_of(tool)
    if not with_numbers:
        parameters = {
            name: one._replace(form="") if one.type in NUMERIC else one for name, one in parameters.items()
        }
    text = "".join(
        f"(?P<{part}>{_slot(parameters[part], parts[index - 1], parts[index + 1])})"
        if index % 2
        else re.escape(part).replace(r"\ ", r"\s+")
        for index, part in enumerate(parts)
    )
    return re.compile(text, re.IGNORECASE | re.DOTALL)


def _slot(parameter: Parameter, before: str, after: str) -> str:
    if parameter.listed and " " in (before, after):
        # Beside another slot, only the listed values tell where this one begins or ends.
        return "|".join((*map(spoken, parameter.listed), "[a-z]+_[a-z_]+"))
    return parameter.form or ".+?"


def _is_asked(match: ToolMatch, example: str) -> bool:
    """Whether a tool with an effect would take a question as a fact: "remember when we met?"."""
    if match.tool.effect == "none" or _INTRODUCED.search(example):
        return False
    return any(isinstance(value, str) and is_question(value) for value in match.arguments.values())


def _whole_request(request: str, tool: Tool) -> dict[str, JsonValue]:
    """An example without slots gives the whole request to a tool that requires one text."""
    required = [parameter.name for parameter in parameters_of(tool).values() if parameter.required]
    return {required[0]: request} if len(required) == 1 else {}


@lru_cache(maxsize=64)
def _weights(tools: tuple[Tool, ...]) -> Mapping[str, float]:
    """How much each word tells the tools apart (inverse document frequency)."""
    spread: dict[str, int] = {}
    for tool in tools:
        for stem in cues_of(tool):
            spread[stem] = spread.get(stem, 0) + 1
    return {stem: log(1 + len(tools) / count) for stem, count in spread.items()}


def _likeness(request: str, tool: Tool, weights: Mapping[str, float]) -> float:
    """How much of the best example the request holds, by the weight of its words."""
    stems = stems_of(request)
    best = 0.0
    for example in tool.examples:
        wanted = stems_of(SLOT.sub(" ", example))
        whole = sum(weights[stem] for stem in wanted)
        shared = sum(weights[stem] for stem in wanted & stems)
        if shared:
            best = max(best, shared / whole + 0.1 * shared)
    named = sum(weights[stem] for stem in cues_of(tool) & stems)
    return best + 0.05 * named + _by_form(request, tool)


def deed_of(text: str, tools: Iterable[Tool]) -> str:
    """A verb of the request that changes something and that no tool's example has; empty: none."""
    known = {word for tool in tools for word in _spoken_words(" ".join(tool.examples))}
    first = _spoken_words(trim_request(text))[:1]
    return next((word for word in first if word in _DEEDS - known), "")


def _spoken_words(text: str) -> list[str]:
    return [word.text.casefold() for word in words_of(_NOTE_DOWN.sub("note", text))]


def _by_form(request: str, tool: Tool) -> float:
    """The bonus for a tool whose required arguments were found by their form."""
    needed = [p for p in parameters_of(tool).values() if p.required and p.form and p.type not in NUMERIC]
    return _FORM if needed and all(p.name in take_values(request, tool).arguments for p in needed) else 0.0


def _is_forbidden(request: str, tool: Tool) -> bool:
    """Whether the request forbids what the tool does: "don't save that I am ill"."""
    deeds = _forbidden(request)
    if tool.effect == "none" or not deeds & cues_of(tool):
        return False
    # An example may contain a negation: "do not forget that …" is a request.
    return not any(deeds & _forbidden(example) for example in tool.examples)


def _forbidden(text: str) -> frozenset[str]:
    said = (
        found for spelling in (text, _NOTE_DOWN.sub("note", text)) for found in _FORBIDS.finditer(spelling)
    )
    return frozenset(word.stem for found in said for word in words_of(found["deed"]))


def _may_be(request: str, tool: Tool, *, asks: bool) -> bool:
    """Whether a tool may be guessed: a change needs its verb and no question, a look-up no statement."""
    first = set(_spoken_words(request)[:2])
    known = set(_spoken_words(" ".join(tool.examples)))
    if (first & _DEEDS) - known:
        return False
    if first & known & _DEEDS:
        return True
    if tool.effect == "none":
        return asks or not _TELLS.match(request)
    deeds = {word.stem for example in tool.examples for word in words_of(SLOT.sub(" ", example))[:1]}
    named = any(word.stem in deeds for word in words_of(request)) or _by_form(request, tool) > 0
    return named and not asks


def _begins_like(request: str, tool: Tool) -> bool:
    """Whether the first word of a request begins an example of the tool."""
    first = _spoken_words(request)[:1]
    return any(_spoken_words(trim_request(example))[:1] == first for example in tool.examples)


def _fill(request: str, tool: Tool) -> dict[str, JsonValue] | None:
    """The arguments, by form, then from the remaining words; None when a required one is missing."""
    arguments, rest = take_values(request, tool)
    if "path" not in arguments and tool.effect == "none" and re.search(FILE, rest) and not _takes_text(tool):
        return None
    parameters = parameters_of(tool)
    missing = [p for p in parameters.values() if p.required and p.name not in arguments]
    if tool.effect == "local" and not _is_whole(request, rest, tool, missing):
        return None
    if not missing:
        needed = all(SLOT.search(example) for example in tool.examples)
        return arguments if arguments or not needed else None
    if len(missing) > 1:
        framed = _framed(rest, tool, {parameter.name for parameter in missing})
        return {**arguments, **framed} if framed else None
    (parameter,) = missing
    if parameter.form:
        return None
    cues = cues_of(tool)
    text = statement(rest, cues) if _is_statement(parameter.name, tool) else subject_matter(rest, cues)
    return {**arguments, parameter.name: text} if text else None


def _is_whole(request: str, rest: str, tool: Tool, missing: Sequence[Parameter]) -> bool:
    """Whether a guessed change is all that is asked: "delete the last line of a.txt" is another wish."""
    if missing:
        # What is changed must be said plainly, as in an example.
        is_target = any(parameter.name in tool.targets for parameter in missing)
        return not is_target and bool(quoted(request) or _GIVEN.search(request))
    return not any(word.text.casefold() in _PARTS for word in words_of(rest))


def _takes_text(tool: Tool) -> bool:
    return any(parameter.required and not parameter.form for parameter in parameters_of(tool).values())


def _is_statement(name: str, tool: Tool) -> bool:
    """Whether an argument is a sentence: examples introduce it by "that", a colon or a comma."""
    return any(re.search(rf"(\bthat|[:,])\s\{{{name}\}}", example) for example in tool.examples)


def _framed(request: str, tool: Tool, names: set[str]) -> dict[str, JsonValue] | None:
    """Several texts at once, separated in the request by the same words as in an example."""
    parameters, cues = parameters_of(tool), cues_of(tool)
    for example in sorted(tool.examples, key=len, reverse=True):
        slots = SLOT.findall(example)
        if not names <= set(slots):
            continue
        core = example[example.index("{") : example.rindex("}") + 1]
        found = _pattern(tool, core).fullmatch(request)
        if found:
            texts = {name: statement(value, cues) for name, value in found.groupdict().items()}
            if all(texts.values()):
                return {name: parameters[name].value(value) for name, value in texts.items()}
    return None
