"""The values of a call that choose who receives something, or what is changed; each with its kind."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, cast

from sestet.core.record import Record
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.tool import Tool

#: What a target is; people name each kind of thing in its own way.
Kind: TypeAlias = Literal[
    "email",
    "url",
    "host",
    "site",
    "path",
    "phone",
    "account",
    "amount",
    "channel",
    "name",
    "id",
    "command",
    "query",
    "text",
    "thing",
]
_Names: TypeAlias = Sequence[str]

#: A call with more values or characters than this is not judged value by value.
_MOST_VALUES = 64
_MOST_CHARACTERS = 3_000
#: A longer value is never named, which takes no time to see.
LONGEST_VALUE = 2_000
#: A JSON Schema ``format`` and the kind of thing that it declares.
_FORMATS: dict[str, Kind] = {
    "email": "email",
    "idn-email": "email",
    "uri": "url",
    "url": "url",
    "iri": "url",
    "hostname": "host",
    "host": "host",
    "ipv4": "host",
    "site": "site",
    "path": "path",
    "phone": "phone",
    "iban": "account",
    "account": "account",
    "amount": "amount",
    "channel": "channel",
    "name": "name",
    "id": "id",
    "uuid": "id",
    "command": "command",
    "query": "query",
    "text": "text",
}
#: The last word of an argument's name, and the kind that it suggests.
_NAMES: dict[str, Kind] = {
    "to": "name",
    "cc": "name",
    "bcc": "name",
    "recipient": "name",
    "receiver": "name",
    "payee": "name",
    "participant": "name",
    "attendee": "name",
    "user": "name",
    "username": "name",
    "person": "name",
    "contact": "name",
    "name": "name",
    "email": "email",
    "mail": "email",
    "url": "url",
    "uri": "url",
    "link": "url",
    "endpoint": "url",
    "host": "host",
    "hostname": "host",
    "domain": "host",
    "server": "host",
    "site": "site",
    "path": "path",
    "file": "path",
    "filename": "path",
    "directory": "path",
    "folder": "path",
    "cwd": "path",
    "phone": "phone",
    "iban": "account",
    "account": "account",
    "wallet": "account",
    "amount": "amount",
    "price": "amount",
    "channel": "channel",
    "id": "id",
    "command": "command",
    "query": "query",
}


class Target(Record):
    value: str
    kind: Kind


class Targets(Record):
    """The targets of one call."""

    known: tuple[Target, ...] = ()
    #: Arguments without a value that could be compared: empty, missing, or a flag.
    unknown: tuple[str, ...] = ()
    #: The call has more targets than are looked at.
    too_many: bool = False

    @property
    def are_unclear(self) -> bool:
        """Whether some target could not be compared, or the call has none at all."""
        return bool(self.unknown) or self.too_many or not self.known


def find_targets(tool: Tool, arguments: JsonObject) -> Targets:
    """The targets of a call; without declared targets, every argument counts as one."""
    known: list[Target] = []
    unknown: list[str] = []
    left_out: list[str] = []
    characters = 0
    for name in tool.targets or {**_defaults(tool.parameters), **arguments}:
        schema = _member(tool.parameters, name)
        default = schema.get("default")
        value = arguments.get(name, default)
        if _is_empty(value):
            # An optional target that is left out adds nobody, as long as another one says who it is.
            is_optional = bool(schema) and name not in cast("_Names", tool.parameters.get("required", ()))
            (left_out if is_optional and _is_empty(default) else unknown).append(name)
            continue
        for target in _leaves(name, value, schema):
            if target is not None and len(target.value) <= LONGEST_VALUE:
                characters += len(target.value)
            if len(known) + len(unknown) == _MOST_VALUES or characters > _MOST_CHARACTERS:
                return Targets(tuple(known), tuple(unknown), too_many=True)
            if target is None:
                unknown.append(name)
            else:
                known.append(target)
    if not known and not unknown:
        unknown = left_out
    return Targets(tuple(known), tuple(unknown))


def _leaves(name: str, value: JsonValue, schema: JsonObject) -> Iterator[Target | None]:
    """Every text and number inside a value; None for a flag, and for nothing."""
    waiting = [(name, value, schema)]
    while waiting:
        name, value, schema = waiting.pop()
        if isinstance(value, bool) or _is_empty(value):
            yield None
        elif isinstance(value, Mapping):
            for member, inner in {**_defaults(schema), **value}.items():
                if not (declared := _member(schema, member)):
                    # The model chose this name.
                    yield Target(member, "thing")
                waiting.append((member, inner, declared))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            items = _plain(cast("JsonObject", schema.get("items", {})))
            declared = items if "format" in items or "properties" in items else schema
            # Each item yields something, so these are enough to see that there are too many.
            waiting += ((name, item, declared) for item in reversed(value[: _MOST_VALUES + 1]))
        else:
            yield Target(str(value), _kind(name, schema))


def _member(schema: JsonObject, name: str) -> JsonObject:
    members = cast("Mapping[str, JsonObject]", schema.get("properties", {}))
    return _plain(members.get(name, {}))


def _plain(schema: JsonObject) -> JsonObject:
    """The schema of an optional value without its "or nothing"."""
    options = cast("Sequence[JsonObject]", schema.get("anyOf", ()))
    given = [option for option in options if option.get("type") != "null"]
    return {**given[0], **schema} if len(given) == 1 else schema


def _defaults(schema: JsonObject) -> JsonObject:
    """What stands for the members that a call leaves out."""
    members = cast("Mapping[str, JsonObject]", schema.get("properties", {}))
    return {
        name: member["default"] for name, member in members.items() if not _is_empty(member.get("default"))
    }


def _is_empty(value: JsonValue) -> bool:
    if isinstance(value, str):
        return not value or value.isspace()
    return value is None or (isinstance(value, (Mapping, Sequence)) and not value)


def _kind(name: str, schema: JsonObject) -> Kind:
    """The declared ``format``, else what the argument's name suggests. Any other argument is a thing."""
    if (kind := _FORMATS.get(str(schema.get("format")))) is not None:
        return kind
    last = name.lower().rpartition("_")[2]
    return _NAMES.get(last) or _NAMES.get(last.removesuffix("s")) or "thing"
