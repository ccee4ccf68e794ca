"""Reads test sets: JSON lines, one case a line; what is wrong is said with its file and its line."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

from sestet.core.agent import AgentSpec
from sestet.core.errors import PersonError
from sestet.core.schema import JsonObject, find_problems, object_schema
from sestet.core.tool import Tool
from sestet.evals.result import Eval
from sestet.models.router import DIRECT

#: The kind of the examples that stand in for cases of a specialist that the shipped set does not know.
EXAMPLE = "example"

_HERE = Path(__file__).parent
_PROBLEMS_SHOWN = 10
_TEXT: JsonObject = {"type": "string"}
#: Any value; of an object, ``contains`` lists texts.
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
    """A request to a specialist, and the call that is right: what its arguments must hold."""

    request: str
    agent: str
    tool: str
    arguments: JsonObject
    kind: str = ""


Case: TypeAlias = RoutingCase | MultipartCase | ToolCase


def shipped_set(name: Eval) -> Path:
    """The file of a set that ships with the package."""
    return _HERE / f"{name}.jsonl"


def read_routing_set(file: Path, agents: Sequence[str]) -> list[RoutingCase]:
    """The cases of a file; ``agents`` are the specialists that there are."""
    owner = {**_TEXT, "enum": [*agents, DIRECT]}
    rows = _read(file, {"request": _TEXT, "agent": owner})
    return [RoutingCase(str(row["request"]), str(row["agent"]), _kind(row)) for row in rows]


def read_multipart_set(file: Path, agents: Sequence[str]) -> list[MultipartCase]:
    """The cases of a file; ``agents`` are the specialists that there are."""
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
    """The cases of a file; ``tools`` are those of each specialist."""

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
    """The examples of the specialists for whom there is no case."""
    known = {case.agent for case in cases}
    return [
        RoutingCase(example, spec.name, EXAMPLE)
        for spec in specs
        if spec.name not in known
        for example in spec.examples
    ]


def digest(value: object) -> str:
    """The same for the same cases or prompts, and for no others."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _nothing_more(row: JsonObject) -> Iterable[str]:
    return ()


def _read(
    file: Path, wanted: JsonObject, further: Callable[[JsonObject], Iterable[str]] = _nothing_more
) -> list[JsonObject]:
    """Every line as an object with what is wanted; all that is wrong is one error."""
    # Further keys are the owner's own.
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
    """The lines of a file in UTF-8; none that is not there or is something else."""
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
    """The object on a line, or what is wrong with the line."""
    try:
        value: object = json.loads(line)
    except json.JSONDecodeError as error:
        return f"is not JSON: {error.msg} at column {error.colno}"
    except (ValueError, RecursionError):
        # A number of thousands of digits, or brackets as deep.
        return "is JSON that nobody can read"
    if not isinstance(value, dict):
        return f"expected an object such as {_SAMPLE}"
    return cast("JsonObject", value)


def _problems(schema: JsonObject, row: JsonObject, path: tuple[str, ...] = ()) -> Iterator[str]:
    return (f"{problem.where}: {problem.message}" for problem in find_problems(schema, row, path))


def _kind(row: JsonObject) -> str:
    kind = row.get("kind")
    return kind if isinstance(kind, str) else ""
