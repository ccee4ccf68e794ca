"""Whether the arguments of a call are those that a case wants."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sestet.core.schema import JsonObject, JsonValue, find_problems
from sestet.core.tool import Tool


def argument_problems(tool: Tool, wanted: JsonObject, given: JsonObject) -> Iterator[str]:
    """Everything that is wrong with the arguments of a call of the right tool."""
    properties = cast("Mapping[str, JsonObject]", tool.parameters.get("properties", {}))
    for problem in find_problems(tool.parameters, dict(given)):
        yield f"{problem.where}: {problem.message}"
    for name, value in wanted.items():
        # What is left out has its default.
        found = given.get(name, properties.get(name, {}).get("default"))
        if not _fits(value, found):
            yield f"{name}: wanted {_show(value)}, got {_show(found)}"
    for name in given.keys() - wanted.keys():
        if name in properties and not _fits(properties[name].get("default"), given[name]):
            yield f"{name}: not wanted, got {_show(given[name])}"


def _fits(wanted: JsonValue, given: JsonValue) -> bool:
    if isinstance(wanted, Mapping) and "contains" in wanted:
        parts = cast("Sequence[str]", wanted["contains"])
        return isinstance(given, str) and all(part.casefold() in given.casefold() for part in parts)
    if isinstance(wanted, str) and isinstance(given, str):
        return _bare(wanted) == _bare(given)
    # True is not the number 1.
    return wanted == given and isinstance(wanted, bool) == isinstance(given, bool)


def _bare(text: str) -> str:
    """A text without what nobody minds: upper case, outer white space, a final / or full stop."""
    bare = text.strip().casefold()
    # "." is a directory, and not the end of a sentence.
    return bare[:-1] if len(bare) > 1 and bare[-1] in "/." else bare


def _show(value: JsonValue) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
