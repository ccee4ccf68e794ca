"""Repairs arguments that nearly fit a tool's schema: spelling and types. It never adds a value."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from sestet.core.agent import normalise_name
from sestet.core.schema import JsonObject, JsonValue, find_problems
from sestet.models.small.loose_json import parse_loosely

#: Names that models give to the object around the arguments.
WRAPPERS = ("arguments", "parameters", "args", "params", "input", "properties", "kwargs", "action_input")

_Schemas: TypeAlias = Mapping[str, JsonObject]
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_NOTHING = ("null", "none", "")
#: Names that models give to what belongs into a map.
_VALUES = ("value", "values")


def repair_arguments(schema: JsonObject, arguments: object) -> JsonObject | None:
    """The arguments in the form that the schema wants, as far as that is certain; None: no arguments."""
    if isinstance(arguments, str):
        arguments = _parsed(schema, arguments)
    if not isinstance(arguments, Mapping):
        return _only_argument(schema, cast("JsonValue", arguments))
    given = {str(name): value for name, value in cast("JsonObject", arguments).items()}
    if not find_problems(schema, given):
        return given
    return _repair_object(schema, _with_maps(schema, _unwrapped(schema, given)))


def _with_maps(schema: JsonObject, given: JsonObject) -> JsonObject:
    """A map of texts that was written apart: ``fields="Name", value="Ada"``, or ``fields="Name: Ada"``.

    Several names and values belong together in their order, if there are as many of each.
    """
    maps = [name for name, member in _properties(schema).items() if _is_map(member)]
    written = given.get(maps[0]) if len(maps) == 1 else None
    if not isinstance(written, str) or parse_loosely(written) is not None:
        return given
    rest = {name: value for name, value in given.items() if name != maps[0]}
    apart = next((name for name in _VALUES if name in given and name not in _properties(schema)), "")
    if apart:
        value = rest.pop(apart)
        pairs = _pairs(written, value)
        return given if pairs is None else {**rest, maps[0]: pairs}
    name, colon, value = written.partition(":")
    return {**rest, maps[0]: {name.strip(): value.strip()}} if colon and value.strip() else given


def _pairs(written: str, value: JsonValue) -> JsonObject | None:
    """Names and values that were written as two lists; None: it is not certain which belong together."""
    names = _parts(written)
    if len(names) == 1:
        return {written: value}
    values: Sequence[JsonValue] = _parts(value) if isinstance(value, str) else ()
    if isinstance(value, list):
        values = value
    is_certain = len(values) == len(names) == len(set(names))
    return dict(zip(names, values, strict=True)) if is_certain else None


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _is_map(schema: JsonObject) -> bool:
    return schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), Mapping)


def _parsed(schema: JsonObject, text: str) -> object:
    parsed = parse_loosely(text)
    return parsed if isinstance(parsed, Mapping) else text


def _only_argument(schema: JsonObject, value: JsonValue) -> JsonObject | None:
    """A value without a name, for a tool with one required argument."""
    required = cast("Sequence[str]", schema.get("required", ()))
    if value is None or value == "" or len(required) != 1:
        return {} if not value and not required else None
    return {required[0]: _repair_value(_properties(schema)[required[0]], value)}


def _properties(schema: JsonObject) -> _Schemas:
    return cast("_Schemas", schema.get("properties", {}))


def _unwrapped(schema: JsonObject, given: JsonObject) -> JsonObject:
    """The arguments without an extra wrapper object."""
    if len(given) == 1:
        ((name, inner),) = given.items()
        if name.lower() in WRAPPERS and name not in _properties(schema) and isinstance(inner, Mapping):
            return inner
    return given


def _repair_object(schema: JsonObject, given: JsonObject) -> JsonObject:
    properties = _properties(schema)
    by_form = {normalise_name(name): name for name in properties}
    required = cast("Sequence[str]", schema.get("required", ()))
    repaired: dict[str, JsonValue] = {}
    for written, value in given.items():
        name = written
        if written not in properties:
            # Correct the spelling, unless the right name is given as well.
            meant = by_form.get(normalise_name(written), written)
            name = written if meant in given else meant
        member = properties.get(name)
        if member is None:
            extra = schema.get("additionalProperties")
            repaired[name] = _repair_value(extra, value) if isinstance(extra, Mapping) else value
        elif name in required or not _is_nothing(member, value):
            repaired[name] = _repair_value(member, value)
    return repaired


def _is_nothing(schema: JsonObject, value: JsonValue) -> bool:
    """Whether an optional argument is null although the schema allows no null."""
    return value is None and bool(find_problems(schema, None))


def _repair_value(schema: JsonObject, value: JsonValue) -> JsonValue:
    if not find_problems(schema, value):
        return value
    if options := cast("Sequence[JsonObject]", schema.get("anyOf", ())):
        attempts = [_repair_value(option, value) for option in options]
        fitting = (each for each in attempts if not find_problems(schema, each))
        return next(fitting, value)
    if choices := cast("Sequence[JsonValue]", schema.get("enum", ())):
        return _choice(choices, value)
    kind = schema.get("type")
    repair = _REPAIRS.get(kind) if isinstance(kind, str) else None
    return repair(schema, value) if repair else value


def _choice(choices: Sequence[JsonValue], value: JsonValue) -> JsonValue:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    form = normalise_name(str(value))
    alike = [choice for choice in choices if normalise_name(str(choice)) == form]
    return alike[0] if len(alike) == 1 else value


def _integer(schema: JsonObject, value: JsonValue) -> JsonValue:
    number = _number(schema, value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _number(schema: JsonObject, value: JsonValue) -> JsonValue:
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,15}(\.\d{1,15})?\s*", value):
        return float(value) if "." in value else int(value)
    return value


def _boolean(schema: JsonObject, value: JsonValue) -> JsonValue:
    word = str(value).strip().lower()
    if isinstance(value, (str, int)) and word in (*_TRUE, *_FALSE):
        return word in _TRUE
    return value


def _string(schema: JsonObject, value: JsonValue) -> JsonValue:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or value is None:
        return value
    return json.dumps(value) if isinstance(value, (int, float)) else value


def _array(schema: JsonObject, value: JsonValue) -> JsonValue:
    items = cast("JsonObject", schema.get("items", {}))
    if isinstance(value, str):
        parsed = parse_loosely(value)
        value = parsed if isinstance(parsed, list) else value
    if isinstance(value, (list, tuple)):
        return [_repair_value(items, item) for item in cast("Sequence[JsonValue]", value)]
    single = _repair_value(items, value)
    return value if find_problems(items, single) else [single]


def _object(schema: JsonObject, value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        parsed = parse_loosely(value)
        value = parsed if isinstance(parsed, dict) else value
    return _repair_object(schema, cast("JsonObject", value)) if isinstance(value, dict) else value


def _null(schema: JsonObject, value: JsonValue) -> JsonValue:
    return None if isinstance(value, str) and value.strip().lower() in _NOTHING else value


_REPAIRS = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "string": _string,
    "array": _array,
    "object": _object,
    "null": _null,
}
