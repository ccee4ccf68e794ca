"""The test sets: JSON lines, one case a line. Errors name the file and the line."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast

from sestet.core.agent import DIRECT, AgentSpec
from sestet.core.errors import PersonError
from sestet.core.schema import JsonObject, find_problems, object_schema
from sestet.core.tool import Tool

Eval: TypeAlias = Literal["routing", "tools", "multipart"]

#: The kind of a plaque's example that is tried for a specialist without cases in the shipped set.
EXAMPLE = "example"

_HERE = Path(__file__).parent
_PROBLEMS_SHOWN = 10
_TEXT: JsonObject = {"type": "string"}
#: Any value; in an object, ``contains`` is a list of texts.
_PARTS: JsonObject = {"properties": {"contains": {"type": "array", "items": _TEXT}}}


class RoutingCase(NamedTuple):
    """A request and its owner."""

    request: str
    agent: str
    kind: str = ""


class MultipartCase(NamedTuple):
    """A request and the owners of its parts, in the order of the work."""

    request: str
    agents: tuple[str, ...]
    kind: str = ""


class ToolCase(NamedTuple):
    """A request to a specialist, and the right call: its tool and what the arguments must hold."""

    request: str
    agent: str
    tool: str
    arguments: JsonObject
    kind: str = ""


Case: TypeAlias = RoutingCase | MultipartCase | ToolCase


def shipped_set(name: Eval) -> Path:
    """The file of a shipped set."""
    return _HERE / f"{name}.jsonl"


def read_routing_set(file: Path, agents: Sequence[str]) -> list[RoutingCase]:
    """The cases of a file; ``agents`` are the names of all specialists."""
    owner = {**_TEXT, "enum": [*agents, DIRECT]}
    rows = _read(file, {"request": _TEXT, "agent": owner})
    return [RoutingCase(str(row["request"]), str(row["agent"]), _kind(row)) for row in rows]


def read_multipart_set(file: Path, agents: Sequence[str]) -> list[MultipartCase]:
    """The cases of a file; ``agents`` are the names of all specialists."""
    owners = {"type": "array", "items": {**_TEXT, "enum": [*agents, DIRECT]}}

    def problems_of(row: JsonObject) -> Iterator[str]:
        if not row["agents"]:
            yield "agents: the list is empty"

    rows = _read(file, {"request": _TEXT, "agents": owners}, problems_of)
    return [
        MultipartCase(str(row["request"]), tuple(cast("Sequence[str]", row["agents"])), _kind(row))
        for row in rows
    ]


def read_tool_set(file: Path, tools: Mapping[str, Sequence[Tool]]) -> list[ToolCase]:
    """The cases of a file; ``tools`` are the tools of each specialist."""

    def problems_of(row: JsonObject) -> Iterator[str]:
        offered = {tool.name: tool for tool in tools[str(row["agent"])]}
        schema = object_schema({"tool": {**_TEXT, "enum": [*offered]}})
        yield from _problems(schema, {"tool": row["tool"]})
        if tool := offered.get(str(row["tool"])):
            known = cast("Mapping[str, object]", tool.parameters["properties"])
            arguments = object_schema(dict.fromkeys(known, _PARTS))
            yield from _problems(arguments, cast("JsonObject", row["arguments"]), ("arguments",))

    wanted = {"request": _TEXT, "agent": {**_TEXT, "enum": [*tools]}, "tool": _TEXT}
    rows = _read(file, {**wanted, "arguments": {"type": "object"}}, problems_of)
    return [
        ToolCase(
            str(row["request"]),
            str(row["agent"]),
            str(row["tool"]),
            cast("JsonObject", row["arguments"]),
            _kind(row),
        )
        for row in rows
    ]


def cases_of_examples(specs: Iterable[AgentSpec], cases: Iterable[RoutingCase]) -> list[RoutingCase]:
    """The examples of specialists without any case."""
    known = {case.agent for case in cases}
    return [
        RoutingCase(example, spec.name, EXAMPLE)
        for spec in specs
        if spec.name not in known
        for example in spec.examples
    ]


def digest(value: object) -> str:
    """A short hash that identifies cases or prompts."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _nothing_more(row: JsonObject) -> Iterable[str]:
    return ()


def _read(
    file: Path, wanted: JsonObject, further: Callable[[JsonObject], Iterable[str]] = _nothing_more
) -> list[JsonObject]:
    """Every line as an object with the wanted keys; all problems are raised as one error."""
    # The owner of a set may add keys.
    schema = {**object_schema(wanted, [*wanted]), "additionalProperties": True}
    rows: list[JsonObject] = []
    problems: list[str] = []
    for number, line in enumerate(read_lines(file), 1):
        if not line.strip():
            continue
        row = parse_object(line)
        found = [row] if isinstance(row, str) else [*_problems(schema, row)]
        if not isinstance(row, str) and not found:
            rows.append(row)
            found = [*further(row)] if str(row["request"]).strip() else ["request: is empty"]
        problems += (f"{file}, line {number}: {problem}" for problem in found)
    if len(problems) > _PROBLEMS_SHOWN:
        problems[_PROBLEMS_SHOWN:] = [f"and {len(problems) - _PROBLEMS_SHOWN} more"]
    if not rows and not problems:
        problems = [f"{file}: the set is empty; a case is one line such as {_SAMPLE}"]
    if problems:
        raise PersonError("\n".join(problems))
    return rows


_SAMPLE = '{"request": "list the files here", "agent": "operator"}'


def read_lines(file: Path) -> list[str]:
    """The lines of a UTF-8 file; raises when it is missing or not UTF-8."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise PersonError(f"{file}: cannot be read: {error.strerror}") from error
    lines: list[str] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError as error:
            raise PersonError(f"{file}, line {number}: is not text in UTF-8") from error
    return lines


def parse_object(line: str) -> JsonObject | str:
    """The object on a line, or the problem with the line."""
    try:
        value: object = json.loads(line)
    except json.JSONDecodeError as error:
        return f"is not JSON: {error.msg} at column {error.colno}"
    except (ValueError, RecursionError):
        # A number with thousands of digits, or brackets nested as deep.
        return "is JSON that is nested too deeply or has too long a number"
    if not isinstance(value, dict):
        return f"expected an object such as {_SAMPLE}"
    return cast("JsonObject", value)


def _problems(schema: JsonObject, row: JsonObject, path: tuple[str, ...] = ()) -> Iterator[str]:
    return (f"{problem.where}: {problem.message}" for problem in find_problems(schema, row, path))


def _kind(row: JsonObject) -> str:
    kind = row.get("kind")
    return kind if isinstance(kind, str) else ""
