"""JSON Schema from type hints, and checking values against it.

Tools and settings share this one mechanism: what is published as a schema is exactly what is checked.
"""

import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, isfinite, log2
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from sestet.core.record import Record, fields

if TYPE_CHECKING:
    JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
else:
    # msgspec reads the hints of a record when it decodes one, and it has no recursive types.
    JsonValue = Any
JsonObject: TypeAlias = Mapping[str, JsonValue]

_BITS_OF_A_FRACTION = 53
_SCALARS: dict[object, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list, tuple),
    "object": (dict, Mapping),
    "null": (type(None),),
}


class Problem(Record):
    """One thing that is wrong with a value, and where."""

    path: tuple[str, ...]
    message: str
    #: The object has no member of this name.
    is_unknown_name: bool = False
    #: The value is of another type than the schema wants.
    is_wrong_type: bool = False

    @property
    def where(self) -> str:
        return ".".join(self.path)


def schema_of(hint: object) -> dict[str, JsonValue]:
    """The JSON Schema of a type hint. In ``Annotated``, a text describes and a mapping is merged."""
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if origin is Annotated:
        return schema_of(arguments[0]) | _annotations(arguments[1:])
    if origin is Literal and (kind := _SCALARS.get(_only(map(type, arguments)))):
        return {"type": kind, "enum": list(arguments)}
    if arguments and (origin in (list, Sequence) or (origin is tuple and arguments[1:] == (...,))):
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin in (dict, Mapping) and arguments[:1] == (str,):
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if origin in (Union, types.UnionType):
        return _union_schema(arguments)
    if isinstance(hint, type) and has_fields(hint):
        return _record_schema(hint)
    raise TypeError(_no_schema(cast("object", hint)))


def _only(items: Iterable[object]) -> object:
    """The item, if all items are the same; else None."""
    found = set(items)
    return found.pop() if len(found) == 1 else None


def _no_schema(hint: object) -> str:
    if isinstance(hint, str):
        return f"no JSON Schema for {hint!r}: write it without quotes inside another type"
    return (
        f"no JSON Schema for {hint!r}: use str, int, float, bool, Literal of one of these, list[…], "
        "tuple[…, ...], dict[str, …], a dataclass, or one of these '| None'"
    )


def _annotations(metadata: tuple[object, ...]) -> dict[str, JsonValue]:
    merged: dict[str, JsonValue] = {}
    for item in metadata:
        if isinstance(item, str):
            merged["description"] = item
        elif isinstance(item, Mapping):
            merged |= cast("Mapping[str, JsonValue]", item)
    return merged


def _union_schema(members: tuple[object, ...]) -> dict[str, JsonValue]:
    concrete = [member for member in members if member is not type(None)]
    if len(concrete) != 1 or len(members) != 2:
        shown = " | ".join(getattr(member, "__name__", repr(member)) for member in members)
        raise TypeError(f"no JSON Schema for a union other than 'X | None': {shown}")
    return {"anyOf": [schema_of(concrete[0]), {"type": "null"}]}


def has_fields(thing: object) -> bool:
    """Whether it is a record or a dataclass, or an instance of one."""
    return hasattr(thing, "__struct_fields__") or hasattr(thing, "__dataclass_fields__")


class _Field(Record):
    #: As JSON spells it.
    name: str
    hint: object
    is_required: bool
    default: object


def _fields(record: type) -> Iterator[_Field]:
    if hasattr(record, "__struct_fields__"):
        for field in fields(cast("type[Record]", record)):
            yield _Field(field.encode_name, field.type, field.required, field.default)
        return
    # Only tools that other people write have dataclasses as arguments.
    import dataclasses

    hints = get_type_hints(record, include_extras=True)
    for field in dataclasses.fields(record):
        if field.init:
            is_required = field.default is field.default_factory is dataclasses.MISSING
            yield _Field(field.name, hints[field.name], is_required, field.default)


def _record_schema(record: type) -> dict[str, JsonValue]:
    properties: dict[str, JsonValue] = {}
    required: list[str] = []
    for field in _fields(record):
        schema = schema_of(field.hint)
        if field.is_required:
            required.append(field.name)
        elif isinstance(field.default, (str, int, float, bool)):
            schema["default"] = field.default
        properties[field.name] = schema
    return object_schema(properties, required)


def object_schema(properties: Mapping[str, JsonValue], required: Sequence[str] = ()) -> dict[str, JsonValue]:
    """The schema of an object with these properties and no others."""
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
    }
    if required:
        schema["required"] = list(required)
    return schema


def is_converted(hint: object) -> bool:
    """Whether ``convert`` makes something else of a JSON value for this hint: a record or a tuple."""
    if isinstance(hint, type):
        return has_fields(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Annotated, Literal):
        return origin is Annotated and is_converted(arguments[0])
    return origin is tuple or any(map(is_converted, arguments))


def find_problems(schema: JsonObject, value: object, path: tuple[str, ...] = ()) -> list[Problem]:
    """Everything that is wrong with ``value``, in reading order."""
    found: list[Problem] = []
    options = cast("Sequence[JsonObject]", schema.get("anyOf", ()))
    if options:
        attempts = [find_problems(option, value, path) for option in options]
        if all(attempts):
            return attempts[0]
    kind = cast("str | Sequence[str] | None", schema.get("type"))
    if kind and not is_of_type(value, kind):
        expected = kind if isinstance(kind, str) else " or ".join(kind)
        # The value may be a secret in the wrong form, so only its type is shown.
        shown = type(value).__name__ if _holds_secret(schema) else _show(value)
        return [Problem(path, f"expected {expected}, got {shown}", is_wrong_type=True)]
    choices = cast("Sequence[JsonValue]", schema.get("enum", ()))
    if choices and not _is_among(value, choices):
        shown, near = ", ".join(map(str, choices)), suggest(str(value), map(str, choices))
        found.append(Problem(path, f"expected one of {shown}, got {_show(value)}{near}"))
    if isinstance(value, str):
        # Most values are texts, which have no members to check.
        return found
    if isinstance(value, (dict, Mapping)):
        found += _object_problems(schema, cast("Mapping[str, object]", value), path)
    elif isinstance(value, (list, tuple)):
        if "items" in schema:
            for index, item in enumerate(cast("Sequence[object]", value)):
                found += find_problems(cast("JsonObject", schema["items"]), item, (*path, str(index)))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        found += _range_problems(schema, value, path)
    return found


def _is_among(value: object, choices: Sequence[JsonValue]) -> bool:
    """Whether the value is one of the choices. Python takes True for 1; JSON does not."""
    return any(value == choice and isinstance(value, bool) is isinstance(choice, bool) for choice in choices)


def _object_problems(schema: JsonObject, value: Mapping[str, object], path: tuple[str, ...]) -> list[Problem]:
    properties = cast("Mapping[str, JsonObject]", schema.get("properties", {}))
    extra = schema.get("additionalProperties", True)
    required = cast("Sequence[str]", schema.get("required", ()))
    found = [Problem((*path, name), "is required") for name in required if name not in value]
    for name, item in value.items():
        if name in properties:
            found += find_problems(properties[name], item, (*path, name))
        elif isinstance(extra, Mapping):
            found += find_problems(cast("JsonObject", extra), item, (*path, name))
        elif extra is False:
            message = f"is not known{suggest(str(name), properties)}"
            found.append(Problem((*path, str(name)), message, is_unknown_name=True))
    return found


def _holds_secret(schema: JsonObject) -> bool:
    """Whether this is the schema of a secret, or of an object that contains one."""
    members = [*cast("Mapping[str, JsonValue]", schema.get("properties", {})).values()]
    members.append(schema.get("additionalProperties"))
    inside = (cast("JsonObject", member) for member in members if isinstance(member, Mapping))
    return schema.get("writeOnly") is True or any(map(_holds_secret, inside))


def _range_problems(schema: JsonObject, value: float, path: tuple[str, ...]) -> list[Problem]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(low, (int, float)) and value < low:
        return [Problem(path, f"must be at least {low}, got {value}")]
    if isinstance(high, (int, float)) and value > high:
        return [Problem(path, f"must be at most {high}, got {value}")]
    return []


def is_of_type(value: object, name: str | Sequence[str]) -> bool:
    """Whether a Python value is of a JSON type, or of one of several; a bool is never a number."""
    if not isinstance(name, str):
        return any(is_of_type(value, each) for each in name)
    if isinstance(value, bool):
        return name == "boolean"
    # JSON has neither NaN nor infinity.
    return isinstance(value, _PYTHON_TYPES.get(name, ())) and (type(value) is not float or isfinite(value))


def suggest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """``; did you mean 'x'?`` when something known is near, else nothing."""
    from difflib import get_close_matches

    candidates = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), list(candidates), n=1, cutoff=cutoff)
    return f"; did you mean {candidates[near[0]]!r}?" if near else ""


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def bits_of(schema: JsonObject) -> float:
    """How much the values of this schema can say, in bits; infinite where a value can hold any text."""
    if options := cast("Sequence[JsonObject]", schema.get("anyOf", ())):
        return max(map(bits_of, options)) + log2(len(options))
    if choices := cast("Sequence[JsonValue]", schema.get("enum", ())):
        return log2(len(choices))
    match schema.get("type"):
        case "null":
            return 0
        case "boolean":
            return 1
        case "integer" | "number" if "minimum" in schema and "maximum" in schema:
            lowest, highest = (cast("float", schema[bound]) for bound in ("minimum", "maximum"))
            if not highest - lowest < inf:
                return inf
            # Between any two bounds there are about as many fractions as a double has digits.
            fraction = 0 if schema["type"] == "integer" else _BITS_OF_A_FRACTION
            return max(log2(max(1, highest - lowest + 1)), fraction)
        case "object" if schema.get("additionalProperties") is False:
            members = cast("Mapping[str, JsonObject]", schema.get("properties", {}))
            return sum(map(bits_of, members.values())) + len(members)
        case _:
            return inf
