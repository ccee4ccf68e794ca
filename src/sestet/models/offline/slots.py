"""Arguments that a request holds, found by their form or by the words beside them."""

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
    PATH,
    QUOTED,
    Parameter,
    cues_of,
    parameters_of,
    spoken,
)
from sestet.models.offline.words import COMMON

#: How people give a number, by the argument it is for. ``#`` is the number, ``@`` a word of the tool.
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
    rf"{_PREPOSITION}\b(?:folder|directory|dir)\s+{_NAME}",
)
_FILES = (
    rf"{_PREPOSITION}\bfile\s+{_NAME}",
    rf"{_PREPOSITION}(?P<value>(?<![\w/]){PATH})",
)
#: How people name a place, by what it is.
_PLACES = {"file": _FILES, "directory": (*_FOLDERS, _FILES[1]), "": (*_FOLDERS, *_FILES)}


class Taken(NamedTuple):
    """Arguments that were found, and the request without them."""

    arguments: dict[str, JsonValue]
    rest: str


def take_values(request: str, tool: Tool) -> Taken:
    """Everything that can be told by its form: paths, patterns, ids, numbers, named values, choices."""
    # A glob would pass for a path, and a number of lines for a number of results.
    ordered = sorted(parameters_of(tool).values(), key=lambda p: (p.name != "glob", p.name == "limit"))
    return _take(request, tool, ordered)


def take_numbers(request: str, tool: Tool) -> Taken:
    """The numbers alone."""
    numbers = [parameter for parameter in parameters_of(tool).values() if parameter.type == "integer"]
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
    if parameter.type == "integer":
        for pattern in _NUMBERS.get(parameter.name, ()):
            yield pattern.replace("#", f"(?P<value>{NUMBER})").replace("@", "|".join(map(re.escape, cues)))
    elif parameter.choices:
        # Shorter ones, such as "in", stand everywhere.
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
        # A number alone is an id only where an example says so.
        form = parameter.form.replace(r"?\d", r"\d")
        yield rf"(?:\b{parameter.called[0]}s?\s+)?(?P<value>{form})"
    elif not parameter.required:
        yield from _named(parameter)


def _named(parameter: Parameter) -> Iterator[str]:
    """A value beside the argument's own name: "with the tag printer", "Acme as subject"."""
    name = "|".join(parameter.called)
    listed = f"{'|'.join(map(spoken, parameter.listed))}|" if parameter.listed else ""
    value = rf"(?P<value>{listed}{QUOTED}|[\w-]+)"
    yield rf"\bthe\s+(?:{name})\s+is\s+(?:that\s+)?(?P<value>[^.;]+)"
    yield rf"(?:\b(?:with|under|by)\s+)?the\s+(?:{name})s?\s+{value}"
    yield rf"(?:\bwith\s+)?\b{value}\s+as\s+(?:the\s+|its\s+)?(?:{name})\b"


def _usable(parameter: Parameter, text: str, cues: Set[str]) -> JsonValue:
    """The value, unless what stands there is one of the request's own words: "list folder" names none."""
    value = parameter.value(text)
    if parameter.name != "path" or not isinstance(value, str):
        return value
    if parameter.leads_to == "directory" and re.fullmatch(FILE, value):
        return None
    is_name = "/" in value or "." in value or not (value.casefold() in COMMON or stem(value) in cues)
    return (value.rstrip("/") or value) if is_name else None
