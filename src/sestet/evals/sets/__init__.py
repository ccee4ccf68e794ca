"""The test sets: JSON lines, one case a line. Errors name the file and the line."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast

from sestet.core.agent import DIRECT, AgentSpec
from sestet.core.errors import PersonError
from sestet.core.schema import JsonObject, find_problems, object_schema
from sestet.core.tool import Tool

Eval: TypeAlias = Literal["routing", "tools", "multipart", "newcomer"]

#: The kind of a plaque's example that is tried for a specialist without cases in the shipped set.
EXAMPLE = "example"

_HERE = Path(__file__).parent
_PROBLEMS_SHOWN = 10
_TEXT: JsonObject = {"type": "string"}
_FILES: JsonObject = {"type": "object", "additionalProperties": _TEXT}
_PATTERN_KEYS = ("right", "acceptable", "embarrassing")
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


class NewcomerCase(NamedTuple):
    """A request of a newcomer in its conversation, and patterns that judge the reply."""

    request: str
    conversation: str
    #: The requests before it in the same conversation.
    earlier: tuple[str, ...]
    #: The files of the person's folder: name and content.
    files: tuple[tuple[str, str], ...]
    right: tuple[str, ...]
    acceptable: tuple[str, ...] = ()
    embarrassing: tuple[str, ...] = ()
    #: Whether "I cannot do that" is an acceptable reply.
    honest: bool = False
    kind: str = ""


Case: TypeAlias = RoutingCase | MultipartCase | ToolCase | NewcomerCase


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


def read_newcomer_set(file: Path) -> list[NewcomerCase]:
    """The requests of a file that has a conversation in each line."""
    patterns = {"type": "array", "items": _TEXT}
    turn = {"say": _TEXT, "right": patterns, "acceptable": patterns, "embarrassing": patterns}
    turns = {"type": "array", "items": _open_object(turn | {"honest": {"type": "boolean"}}, ["say", "right"])}
    rows = _read(file, {"id": _TEXT, "turns": turns}, _conversation_problems)
    return [case for row in rows for case in _requests(row)]


def _conversation_problems(row: JsonObject) -> Iterator[str]:
    yield from _problems(object_schema({"files": _FILES}), {"files": row.get("files", {})})
    for name in cast("Mapping[str, str]", row.get("files") or {}):
        if Path(name).is_absolute() or ".." in Path(name).parts or not Path(name).name:
            yield f"files: {name!r} is not a file below the folder of the conversation"
    for number, turn in enumerate(cast("Sequence[JsonObject]", row["turns"]), 1):
        for key in _PATTERN_KEYS:
            for pattern in _texts(turn, key):
                try:
                    re.compile(pattern)
                except re.error as error:
                    yield f"turns.{number}.{key}: {pattern!r} is not a regular expression: {error}"


def _requests(row: JsonObject) -> Iterator[NewcomerCase]:
    files = tuple(cast("Mapping[str, str]", row.get("files", {})).items())
    earlier: tuple[str, ...] = ()
    for turn in cast("Sequence[JsonObject]", row["turns"]):
        request, honest = str(turn["say"]), bool(turn.get("honest", False))
        right, acceptable, embarrassing = (_texts(turn, key) for key in _PATTERN_KEYS)
        kind = _kind(turn) or ("beyond it" if honest else "within it")
        yield NewcomerCase(
            request, str(row["id"]), earlier, files, right, acceptable, embarrassing, honest, kind
        )
        earlier = (*earlier, request)


def _texts(row: JsonObject, key: str) -> tuple[str, ...]:
    return tuple(cast("Sequence[str]", row.get(key, ())))


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
    schema = _open_object(wanted, [*wanted])
    rows: list[JsonObject] = []
    problems: list[str] = []
    for number, line in enumerate(read_lines(file), 1):
        if not line.strip():
            continue
        row = parse_object(line)
        found = [row] if isinstance(row, str) else [*_problems(schema, row)]
        if not isinstance(row, str) and not found:
            rows.append(row)
            found = [*further(row)] if str(row.get("request", "-")).strip() else ["request: is empty"]
        problems += (f"{file}, line {number}: {problem}" for problem in found)
    if len(problems) > _PROBLEMS_SHOWN:
        problems[_PROBLEMS_SHOWN:] = [f"and {len(problems) - _PROBLEMS_SHOWN} more"]
    if not rows and not problems:
        problems = [f"{file}: the set is empty; a case is one line such as {_SAMPLE}"]
    if problems:
        raise PersonError("\n".join(problems))
    return rows


def _open_object(properties: JsonObject, required: Sequence[str]) -> JsonObject:
    """A schema of an object to which the owner of a set may add keys."""
    return {**object_schema(properties, [*required]), "additionalProperties": True}


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
