"""Reads a plaque (AGENT.md) into a spec."""

from pathlib import Path
from typing import cast

from sestet.core.agent import AgentSpec
from sestet.core.errors import DefinitionError
from sestet.core.front_matter import FrontMatterError, FrontMatterValue, split
from sestet.core.schema import suggest

_KINDS: dict[str, type] = {
    "name": str,
    "description": str,
    "capabilities": dict,
    "keywords": list,
    "accepts": str,
    "returns": str,
    "cannot": list,
    "examples": list,
    "not_for": dict,
    "always_include": bool,
    "exclusive": bool,
}


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
    return AgentSpec(
        name=str(values["name"]),
        description=str(values["description"]),
        capabilities=_map(values.get("capabilities")),
        keywords=_list(values.get("keywords")),
        accepts=str(values.get("accepts", "")),
        returns=str(values.get("returns", "")),
        cannot=_list(values.get("cannot")),
        examples=_list(values.get("examples")),
        not_for=_map(values.get("not_for")),
        always_include=bool(values.get("always_include", False)),
        exclusive=bool(values.get("exclusive", False)),
        instruction=body,
    )


def _require_kind(key: str, value: FrontMatterValue) -> None:
    if key not in _KINDS:
        raise DefinitionError(f"the field '{key}' is not known{suggest(key, _KINDS)}")
    if not isinstance(value, _KINDS[key]):
        raise DefinitionError(f"the field '{key}' must be a {_KINDS[key].__name__}")


def _list(value: FrontMatterValue | None) -> tuple[str, ...]:
    return tuple(cast("list[str]", value or ()))


def _map(value: FrontMatterValue | None) -> dict[str, str]:
    return cast("dict[str, str]", value or {})
