"""Reads a plaque (AGENT.md) into a spec."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

from sestet.core.agent import AgentSpec
from sestet.core.errors import DefinitionError
from sestet.core.front_matter import FrontMatterError, split
from sestet.core.schema import suggest

_KINDS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "description": str,
    "capabilities": dict,
    "keywords": list,
    "accepts": (str, list),
    "returns": (str, list),
    "cannot": list,
    "examples": list,
    "not_for": dict,
    "always_include": bool,
    "exclusive": bool,
}
#: At the end of an entry: it applies only with, or only without, a tool of this name or beginning.
_MARK = re.compile(r"(?P<text>.*\S) \[(?P<word>needs|lacks) (?P<tool>[A-Za-z]\w*)\]")


def read_plaque(path: Path) -> AgentSpec:
    """The spec on a plaque; an error names the file and the field."""
    try:
        return parse_plaque(path.read_bytes())
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from error


def parse_plaque(content: bytes) -> AgentSpec:
    """The spec in the bytes of a plaque; an error names the field or the line."""
    try:
        values, body = split(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DefinitionError("is not text in UTF-8") from error
    except FrontMatterError as error:
        raise DefinitionError(str(error)) from error
    for key, value in values.items():
        _require_kind(key, value)
    if "name" not in values or "description" not in values:
        raise DefinitionError("'name' and 'description' are required")
    marks = _Marks(tuple(_map(values.get("capabilities"))))
    return AgentSpec(
        name=str(values["name"]),
        description=str(values["description"]),
        capabilities=_map(values.get("capabilities")),
        keywords=marks.strip(_list(values.get("keywords"))),
        accepts=marks.strip(_list(values.get("accepts"))),
        returns=marks.strip(_list(values.get("returns"))),
        cannot=marks.strip(_list(values.get("cannot"))),
        examples=marks.strip(_list(values.get("examples"))),
        not_for=_map(values.get("not_for")),
        always_include=bool(values.get("always_include", False)),
        exclusive=bool(values.get("exclusive", False)),
        instruction="\n".join((*marks.strip(body.splitlines()), "")),
        needs=marks.needs,
        lacks=marks.lacks,
    )


class _Marks:
    """Takes ``[needs TOOL]`` and ``[lacks TOOL]`` off the ends of entries, and keeps which entry had one."""

    def __init__(self, prefixes: Sequence[str]) -> None:
        self._prefixes = prefixes
        self._seen: dict[str, str] = {}
        self.needs: dict[str, str] = {}
        self.lacks: dict[str, str] = {}

    def strip(self, entries: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._strip(entry) for entry in entries)

    def _strip(self, entry: str) -> str:
        found = _MARK.fullmatch(entry)
        text = found["text"] if found else entry
        if self._seen.setdefault(text, entry) != entry:
            raise DefinitionError(f"'{text}' stands twice with different marks; use other words in one place")
        if found:
            self._require_own(found["tool"], entry)
            (self.needs if found["word"] == "needs" else self.lacks)[text] = found["tool"]
        return text

    def _require_own(self, tool: str, entry: str) -> None:
        if not any(tool.startswith(prefix) or prefix.startswith(tool) for prefix in self._prefixes):
            raise DefinitionError(f"'{entry}': the agent owns no prefix that fits '{tool}'")


def _require_kind(key: str, value: object) -> None:
    if key not in _KINDS:
        raise DefinitionError(f"the field '{key}' is not known{suggest(key, _KINDS)}")
    if not isinstance(value, _KINDS[key]):
        kind = _KINDS[key]
        names = (each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
        raise DefinitionError(f"the field '{key}' must be a {' or a '.join(names)}")


def _list(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(cast("list[str]", value or ()))


def _map(value: object) -> dict[str, str]:
    return cast("dict[str, str]", value or {})
