"""The tools that a server lists, as data: what is hashed, and what a model may read of it.

The hash covers everything that the server says about a tool. A model reads a bounded part of it: one line of
description, and a schema of the few keywords that Sestet checks.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import cast

from sestet.core.clean import clean
from sestet.core.errors import ToolError
from sestet.core.record import Record
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.visible import is_visible

#: No server that people use lists more.
MOST_TOOLS = 200
_DESCRIPTION, _ARGUMENT = 1_000, 300
_MOST_SCHEMA, _MOST_PARTS, _MOST_DEPTH, _MOST_CHOICES = 20_000, 2_000, 8, 100
_PROPERTY = re.compile(r"[A-Za-z_$][\w.$-]{0,63}", re.ASCII)
_TYPES = frozenset(("boolean", "integer", "number", "string", "array", "object", "null"))
_LAYOUT = re.compile(r"(?<!\S)#+\s*|`")


class ListedTool(Record):
    """One tool of a server."""

    #: The server's own name for it.
    name: str
    description: str
    parameters: JsonObject
    #: The hash of everything that the server says about it.
    digest: str


class Difference(Record):
    """What changed between two lists, by the names of the tools."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def is_none(self) -> bool:
        return not (self.added or self.removed or self.changed)

    def __str__(self) -> str:
        parts = (("new", self.added), ("gone", self.removed), ("changed", self.changed))
        return "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)


def listed_tool(said: Mapping[str, JsonValue]) -> ListedTool:
    """A tool as a server describes it in ``tools/list``."""
    # Not the '_meta' of a tool: servers may put times and counters there.
    hashed = {name: value for name, value in said.items() if name != "_meta"}
    try:
        written = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    except (RecursionError, ValueError) as error:
        raise ToolError("a tool is described by something that is not JSON") from error
    schema = said.get("inputSchema")
    # A schema that is too large is left open; the server checks the arguments itself.
    fits = isinstance(schema, Mapping) and len(json.dumps(schema)) <= _MOST_SCHEMA
    return ListedTool(
        name=str(said.get("name", "")),
        description=plain_line(str(said.get("description") or said.get("title") or ""), _DESCRIPTION),
        parameters=_top_schema(cast("JsonObject", schema)) if fits else {"type": "object"},
        digest=sha256(written.encode()).hexdigest(),
    )


def digest_of(tools: Iterable[ListedTool]) -> str:
    """The hash of a whole list; the order of the tools does not count."""
    lines = sorted(f"{tool.name}\0{tool.digest}" for tool in tools)
    return sha256("\n".join(lines).encode()).hexdigest()


def difference(before: Sequence[ListedTool], after: Sequence[ListedTool]) -> Difference:
    old, new = ({tool.name: tool.digest for tool in tools} for tools in (before, after))
    return Difference(
        tuple(plain_line(name, 64) for name in new if name not in old),
        tuple(plain_line(name, 64) for name in old if name not in new),
        tuple(plain_line(name, 64) for name in new if name in old and old[name] != new[name]),
    )


def plain_line(text: str, limit: int) -> str:
    """The visible words of a stranger's text in one line that cannot pass for the layout of a prompt."""
    # Bounded before the work: a description may have megabytes.
    kept = "".join(c for c in clean(text[: 4 * limit]) if c.isspace() or is_visible(c))
    line = " ".join(_LAYOUT.sub("", kept).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _top_schema(schema: JsonObject) -> JsonObject:
    found = _SchemaReader(_definitions(schema)).read(schema)
    properties = cast("JsonObject", found.get("properties", {}))
    known = {name: value for name, value in properties.items() if _PROPERTY.fullmatch(name)}
    required = cast("Sequence[str]", found.get("required", ()))
    top: dict[str, JsonValue] = {"type": "object", "properties": known}
    if named := [name for name in required if name in known]:
        top["required"] = named
    # An argument that the list does not show could choose a receiver unseen.
    if known or found.get("additionalProperties", False) is False:
        top["additionalProperties"] = False
    return top


def _definitions(schema: JsonObject) -> JsonObject:
    found: dict[str, JsonValue] = {}
    for place in ("definitions", "$defs"):
        members = schema.get(place)
        if isinstance(members, Mapping):
            found |= {f"#/{place}/{name}": value for name, value in cast("JsonObject", members).items()}
    return found


class _SchemaReader:
    """Reads the part of a schema that Sestet checks and a model reads; what is left out is left open."""

    def __init__(self, definitions: JsonObject) -> None:
        self._definitions = definitions
        #: Definitions that refer to each other can make a huge schema of a few lines.
        self._left = _MOST_PARTS

    def read(self, said: JsonValue, depth: int = 0) -> dict[str, JsonValue]:
        self._left -= 1
        if not isinstance(said, Mapping) or depth > _MOST_DEPTH or self._left < 0:
            return {}
        said = cast("JsonObject", said)
        if isinstance(reference := said.get("$ref"), str):
            return self.read(self._definitions.get(reference), depth + 1)
        found: dict[str, JsonValue] = {}
        if (kind := _type(said.get("type"))) is not None:
            found["type"] = kind
        if isinstance(text := said.get("description") or said.get("title"), str):
            found["description"] = plain_line(text, _ARGUMENT)
        for name in ("minimum", "maximum"):
            if isinstance(value := said.get(name), (int, float)) and not isinstance(value, bool):
                found[name] = value
        if choices := _choices(said):
            found["enum"] = choices
        if isinstance(kind := said.get("format"), str) and _PROPERTY.fullmatch(kind):
            found["format"] = kind
        options = said.get("anyOf") or said.get("oneOf")
        if isinstance(options, Sequence) and not isinstance(options, str):
            found["anyOf"] = [self.read(each, depth + 1) for each in options[:_MOST_CHOICES]]
        return found | self._members(said, depth)

    def _members(self, said: JsonObject, depth: int) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        if isinstance(members := said.get("properties"), Mapping):
            members = cast("JsonObject", members)
            found["properties"] = {name: self.read(each, depth + 1) for name, each in members.items()}
        required = said.get("required")
        if isinstance(required, Sequence) and not isinstance(required, str):
            found["required"] = [name for name in required if isinstance(name, str)]
        if isinstance(items := said.get("items"), Mapping):
            found["items"] = self.read(items, depth + 1)
        extra = said.get("additionalProperties")
        if isinstance(extra, bool):
            found["additionalProperties"] = extra
        elif isinstance(extra, Mapping):
            found["additionalProperties"] = self.read(extra, depth + 1)
        return found


def _type(said: JsonValue) -> JsonValue:
    if isinstance(said, str):
        return said if said in _TYPES else None
    if isinstance(said, Sequence):
        return [name for name in said if isinstance(name, str) and name in _TYPES] or None
    return None


def _choices(said: JsonObject) -> list[JsonValue]:
    choices = [said["const"]] if "const" in said else said.get("enum")
    if not isinstance(choices, Sequence) or isinstance(choices, str):
        return []
    # A choice is passed on as it is, so one that a person could not read is not offered.
    return [one for one in choices[:_MOST_CHOICES] if _is_readable(one)]


def _is_readable(choice: JsonValue) -> bool:
    if isinstance(choice, str):
        return is_visible(choice) and len(choice) <= _ARGUMENT
    return not isinstance(choice, (Mapping, Sequence))
