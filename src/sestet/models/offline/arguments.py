"""Finds the arguments of a call in a request: by their form, by the words beside them, or in the rest."""

import re
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.core.words import stem
from sestet.models.offline.parameters import (
    FILE,
    GLOB,
    NUMBER,
    NUMERIC,
    PATH,
    QUOTED,
    QUOTED_FILE,
    Parameter,
    cues_of,
    parameters_of,
    spoken,
)
from sestet.models.offline.words import COMMON, Clause, Word, clauses_of, words_of

#: How people say a number, by argument. ``#`` stands for the number, ``@`` for a word of the tool.
_NUMBERS = {
    "start": (r"(?:from|at|on|after)\s+line\s+#(?:\s+on(?:wards?)?)?", r"line\s+#\s+on(?:wards?)?"),
    "lines": (r"(?:the\s+)?(?:first\s+|last\s+)?#\s+lines(?:\s+of)?",),
    "max_depth": (
        r"(?:(?:of|in|within)\s+)?(?:at most\s+|up to\s+)?#\s+(?:steps?|hops?|levels?)(?:\s+(?:deep|away))?",
        r"(?:at most|up to)\s+#(?=\s+facts)",
        r"(?:to\s+a\s+)?depth(?:\s+of)?\s+#",
    ),
    "limit": (
        r"(?:at most|up to|no more than|(?:the\s+)?(?:last|first|top|latest|newest))\s+#\b",
        r"\b#(?=\s+(?:(?:newest|latest|last|most recent|best|first)\s+)?(?:@|entr|thing|fact|more\b))",
        r"\b#\s+(?:results|hits|matches)\b",
    ),
}
_PREPOSITION = r"(?:\b(?:in|into|inside|under|below|of|at|from|within)\s+)?(?:\bthe\s+)?"
_NAME = rf"(?P<value>{QUOTED}|[\w./~-]+)"
_FOLDERS = (
    rf"{_PREPOSITION}{_NAME}\s+(?:folder|directory|dir)\b",
    rf"{_PREPOSITION}\b(?:folder|directory|dir)\s+(?:(?:called|named)\s+)?{_NAME}",
)
_FILES = (
    rf"{_PREPOSITION}\bfile\s+{_NAME}",
    rf"{_PREPOSITION}(?P<value>(?<![\w/]){PATH})",
)
#: How people name a place, by its kind.
_PLACES = {
    "file": (rf"{_PREPOSITION}(?:\bfile\s+)?(?P<value>{QUOTED_FILE})", *_FILES),
    "directory": (*_FOLDERS, _FILES[-1]),
    "": (*_FOLDERS, *_FILES),
}


class Taken(NamedTuple):
    """The arguments that were found, and the request without them."""

    arguments: dict[str, JsonValue]
    rest: str


def take_values(request: str, tool: Tool) -> Taken:
    """All arguments with a recognisable form: paths, patterns, ids, numbers, named values, choices."""
    # Globs before paths and "limit" last: a glob looks like a path, a number of lines like a limit.
    ordered = sorted(parameters_of(tool).values(), key=lambda p: (p.name != "glob", p.name == "limit"))
    return _take(request, tool, ordered)


def take_numbers(request: str, tool: Tool) -> Taken:
    """Only the numbers."""
    numbers = [parameter for parameter in parameters_of(tool).values() if parameter.type in NUMERIC]
    return _take(request, tool, sorted(numbers, key=lambda p: p.name == "limit"))


def _take(request: str, tool: Tool, parameters: Sequence[Parameter]) -> Taken:
    rest, cues = request, cues_of(tool)
    arguments: dict[str, JsonValue] = {}
    for parameter in parameters:
        for pattern in _patterns(parameter, cues):
            found = re.search(pattern, rest, re.IGNORECASE)
            if found and (value := _usable(parameter, found["value"], cues)) is not None:
                arguments[parameter.name] = value
                rest = f"{rest[: found.start()]} {rest[found.end() :]}"
                break
    return Taken(arguments, re.sub(r"\s+", " ", rest).strip(" ,;"))


def _patterns(parameter: Parameter, cues: Set[str]) -> Iterator[str]:
    if parameter.type in NUMERIC:
        for pattern in _NUMBERS.get(parameter.name, ()):
            yield pattern.replace("#", f"(?P<value>{NUMBER})").replace("@", "|".join(map(re.escape, cues)))
        name = "|".join(parameter.called)
        yield rf"\b(?:{name})s?\s+(?:(?:of|is|to|by)\s+)?(?P<value>{parameter.form})(?![\w.])"
    elif parameter.choices:
        # Shorter choices, such as "in", are too common.
        if values := "|".join(choice for choice in parameter.choices if len(choice) > 3):
            yield rf"(?:\bas\s+(?:an?\s+)?|\bthis\s+)(?P<value>{values})\b"
    elif parameter.name == "path":
        yield from _PLACES[parameter.leads_to]
    elif parameter.name == "glob":
        yield rf"(?:\b(?:in|all)\s+)?(?:the\s+)?(?P<value>{GLOB})(?:\s+files)?(?:\s+only)?"
    elif parameter.name.endswith("_id"):
        subject = parameter.name.removesuffix("_id")
        yield rf"(?:\b(?:of|from|in|did|for)\s+)?(?:\b{subject}\s+)?(?P<value>\b(?=[\w-]*\d)\w+-[\w-]+\b)"
        yield rf"(?:\b(?:of|from|in|did|for)\s+)?\b{subject}\s+(?P<value>(?=[\w-]*\d)[\w-]+)"
    elif parameter.form:
        # Here an id needs its letter; a bare number is an id only in an example.
        form = parameter.form.replace(r"?\d", r"\d")
        yield rf"(?:\b{parameter.called[0]}s?\s+)?(?P<value>{form})"
    elif not parameter.required:
        yield from _named(parameter)


def _named(parameter: Parameter) -> Iterator[str]:
    """A value beside the argument's name: "with the tag printer", "Acme as subject"."""
    name = "|".join(parameter.called)
    listed = f"{'|'.join(map(spoken, parameter.listed))}|" if parameter.listed else ""
    value = rf"(?P<value>{listed}{QUOTED}|[\w-]+)"
    yield rf"\bthe\s+(?:{name})\s+is\s+(?:that\s+)?(?P<value>[^.;]+)"
    yield rf"(?:\b(?:with|under|by)\s+)?the\s+(?:{name})s?\s+{value}"
    yield rf"(?:\bwith\s+)?\b{value}\s+as\s+(?:the\s+|its\s+)?(?:{name})\b"


def _usable(parameter: Parameter, text: str, cues: Set[str]) -> JsonValue:
    """The value, unless it is a common word or a word of the tool: "list folder" names no folder."""
    value = parameter.value(text)
    if parameter.name != "path" or not isinstance(value, str):
        return value
    if parameter.leads_to == "directory" and re.fullmatch(FILE, value):
        return None
    is_name = "/" in value or "." in value or not (value.casefold() in COMMON or stem(value) in cues)
    return (value.rstrip("/") or value) if is_name else None


_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|on|for|of)\s+(?!it\b|them\b|that\b|this\b)", re.IGNORECASE
)
#: Says what to do with the rest of the sentence: "put it down", "so bear that in mind".
_ABOUT_IT = re.compile(
    r"(?:(?:so|and|please|do|don't)\s+)*(?:\w+\s+(?:of\s+|rid\s+of\s+)?)?(?:it|that|this|them)\b",
    re.IGNORECASE,
)
_INTRODUCTION = frozenset({"that", "to", "as", "it", "this", "with", "by", "so", "from"})
#: A clause in which at least this share of words is about the tool is not part of the text.
_MOSTLY = 0.6


def quoted(request: str) -> str:
    found = re.search(QUOTED, request)
    return found[0].strip("\"'`“”") if found else ""


def statement(request: str, cues: Set[str]) -> str:
    """The statement in a request, word for word: "I like tea" of "I like tea, remember it"."""
    if text := quoted(request):
        return text
    said = _without_asides(request, cues)
    words = words_of(said)
    first = _end_of_introduction(words, cues)
    end = _start_of_addendum(words, cues)
    text = said[words[first].start : words[end - 1].end] if first < end else said
    return text.strip(" ,;:.!?")


def subject_matter(request: str, cues: Set[str]) -> str:
    """The subject of a search: "deposits" of "what is written in the knowledge base about deposits"."""
    if text := quoted(request):
        return text
    said = _without_asides(request, cues)
    about = _ABOUT.search(said)
    # The words after "about" are the subject, if they say anything.
    if about and (text := _core(said[about.end() :], cues)):
        return text
    return _core(said, cues) or _core(request, cues)


def _core(text: str, cues: Set[str]) -> str:
    """From the first to the last word that is neither common nor a cue."""
    telling = [word for word in words_of(text) if not word.is_common and word.stem not in cues]
    return text[telling[0].start : telling[-1].end].removesuffix("'s") if telling else ""


def _without_asides(request: str, cues: Set[str]) -> str:
    """The request without leading and trailing clauses that only say what to do with it."""
    clauses = list(clauses_of(request))
    telling = [clause for clause in clauses if not _is_aside(clause, cues)]
    return request[telling[0].start : telling[-1].end] if telling else request


def _is_aside(clause: Clause, cues: Set[str]) -> bool:
    if _ABOUT_IT.match(clause.text) and any(word.stem in cues for word in words_of(clause.text)):
        return True
    stems = [word.stem for word in words_of(clause.text) if not word.is_common]
    return sum(stem in cues for stem in stems) >= _MOSTLY * len(stems)


def _end_of_introduction(words: list[Word], cues: Set[str]) -> int:
    """The index of the first word after "add to the knowledge base that"; 0 without such a beginning."""
    end = 0
    if words and words[0].stem in cues:
        for index, word in enumerate(words):
            if word.stem in cues or word.text.casefold() in _INTRODUCTION:
                end = index + 1
            elif not word.is_common:
                break
    return end


def _start_of_addendum(words: list[Word], cues: Set[str]) -> int:
    """The index of the first word of "to the knowledge base" at the end."""
    index = start = len(words)
    while index and (words[index - 1].is_common or words[index - 1].stem in cues):
        index -= 1
        if words[index].text.casefold() in ("in", "into", "to", "as", "under"):
            start = index if any(word.stem in cues for word in words[index:]) else start
    return start
