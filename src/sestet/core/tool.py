"""A tool as a value, and the decorator that makes one from a typed, documented async function."""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from types import FunctionType
from typing import (
    Any,
    Literal,
    TypeAlias,
    TypedDict,
    TypeGuard,
    Unpack,
    cast,
    get_type_hints,
    overload,
)

from sestet.core.errors import DefinitionError
from sestet.core.label import CLEAN, Label, Labelled, Origin
from sestet.core.record import Values, record
from sestet.core.schema import JsonObject, JsonValue, object_schema, schema_of

Risk: TypeAlias = Literal["safe", "guarded", "dangerous"]
Reads: TypeAlias = Literal["untrusted", "private"]
Effect: TypeAlias = Literal["none", "local", "external", "money"]
Recovery: TypeAlias = Literal["pure", "keyed", "probe", "unsafe"]

ToolFunction: TypeAlias = Callable[..., Awaitable["JsonValue | Labelled"]]


@record
class Tool(Values):
    """A function that a model may call. What is not declared counts as the worst."""

    name: str
    description: str = ""
    parameters: JsonObject = field(default_factory=lambda: object_schema({}))
    function: ToolFunction | None = None
    #: Types of the services that the app puts before the model's arguments.
    needs: tuple[type, ...] = ()
    #: Requests with slots, as a person would say them: ``read the file {path}``.
    examples: tuple[str, ...] = ()
    risk: Risk = "dangerous"
    reads: tuple[Reads, ...] = ("untrusted", "private")
    effect: Effect = "money"
    #: The arguments that choose who receives something.
    targets: tuple[str, ...] = ()
    recovery: Recovery = "unsafe"
    timeout: float = 60.0
    calls_per_turn: int | None = None
    #: Asked after a crash, with the call's arguments: what became of it? None: nothing happened.
    probe: ToolFunction | None = None
    #: The schema of a result that cannot carry text: a flag, a bounded number, a choice from a list.
    fixed_result: JsonObject | None = None

    def label(self, agent: str) -> Label:
        """What a result adds to the context that reads it, unless it says so itself."""
        if not self.reads:
            return CLEAN
        return Label("untrusted" in self.reads, "private" in self.reads, (f"{self.name} of {agent}",))

    def bind(self, services: Mapping[type, object]) -> "Tool | None":
        """The tool with its services in place, or None when one of them is switched off."""
        if any(need is not CallInfo and need not in services for need in self.needs):
            return None
        given = tuple(services[need] for need in self.needs if need is not CallInfo)
        wants_info = CallInfo in self.needs
        return replace(
            self,
            function=_bound(self.function, given, wants_info),
            probe=_bound(self.probe, given, wants_info),
            needs=(CallInfo,) if wants_info else (),
        )


@record
class CallInfo(Values):
    """Who is calling; a tool asks for it as its first service: ``async def f(call: CallInfo, /)``."""

    session_id: str
    turn_id: str
    agent: str
    call_id: str
    #: Of the context that makes the call.
    label: Label
    #: The person's message of this turn.
    words: str = ""

    @property
    def key(self) -> str:
        """The same for the same call before and after a crash, and for no other: an idempotency key."""
        return f"{self.turn_id}/{self.call_id}"

    @property
    def origin(self) -> Origin:
        """What a row that the call stores has to keep."""
        return Origin(self.session_id, self.turn_id, self.label)


def _bound(function: ToolFunction | None, given: tuple[object, ...], wants_info: bool) -> ToolFunction | None:
    if function is None or not given:
        return function
    return partial(_with_call_info, function, given) if wants_info else partial(function, *given)


def _with_call_info(
    function: ToolFunction, given: tuple[object, ...], call: CallInfo, /, **arguments: JsonValue
) -> Awaitable["JsonValue | Labelled"]:
    return function(call, *given, **arguments)


class Declared(TypedDict, total=False):
    """What the decorator may declare about a tool; the fields of the same names say what each means."""

    examples: tuple[str, ...]
    risk: Risk
    reads: tuple[Reads, ...]
    effect: Effect
    targets: tuple[str, ...]
    recovery: Recovery
    timeout: float
    calls_per_turn: int | None
    probe: ToolFunction | None
    fixed_result: JsonObject | None


@overload
def tool(function: ToolFunction, /) -> Tool: ...
@overload
def tool(**declared: Unpack[Declared]) -> Callable[[ToolFunction], Tool]: ...
def tool(
    function: ToolFunction | None = None, /, **declared: Unpack[Declared]
) -> Tool | Callable[[ToolFunction], Tool]:
    """Make a tool from ``async def name(service: Service, /, argument: str) -> str``.

    What stands before the ``/`` is given by the app, by type; the rest is filled in by the model.
    The docstring is what the model reads; ``Annotated[str, "…"]`` describes an argument.
    """

    def make(function: ToolFunction) -> Tool:
        return _describe(function, declared)

    return make if function is None else make(function)


def _describe(function: ToolFunction, declared: Declared) -> Tool:
    name = getattr(function, "__name__", repr(function))
    if not inspect.iscoroutinefunction(function):
        raise DefinitionError(f"tool '{name}' must be an 'async def' function")
    description = inspect.cleandoc(function.__doc__ or "")
    if not description:
        raise DefinitionError(f"tool '{name}' needs a docstring: it is what the model reads")
    fixed = declared.get("fixed_result")
    if fixed is not None and not _carries_no_text(fixed):
        raise DefinitionError(
            f"tool '{name}': what fits its fixed_result could carry text; declare a boolean, a number with "
            "minimum and maximum, an enum, or a closed object of these"
        )
    hints = _hints(function)
    needs: list[type] = []
    properties: dict[str, JsonValue] = {}
    required: list[str] = []
    for argument, is_injected, default in _parameters(function):
        if argument not in hints:
            raise DefinitionError(f"tool '{name}': the argument '{argument}' needs a type")
        if is_injected:
            needs.append(hints[argument])
            continue
        try:
            schema = schema_of(hints[argument])
        except TypeError as error:
            raise DefinitionError(f"tool '{name}', argument '{argument}': {error}") from error
        if default is inspect.Parameter.empty:
            required.append(argument)
        elif default is not None:
            schema["default"] = cast("JsonValue", default)
        properties[argument] = schema
    if CallInfo in needs[1:]:
        raise DefinitionError(f"tool '{name}': CallInfo must be its first parameter")
    return Tool(name, description, object_schema(properties, required), function, tuple(needs), **declared)


def _carries_no_text(schema: JsonObject) -> bool:
    """Whether the tool's author has chosen all that a value of this schema can say."""
    if options := cast("Sequence[JsonObject]", schema.get("anyOf", ())):
        return all(map(_carries_no_text, options))
    if schema.get("enum") or schema.get("type") in ("boolean", "null"):
        return True
    if schema.get("type") in ("integer", "number"):
        return "minimum" in schema and "maximum" in schema
    members = cast("Mapping[str, JsonObject]", schema.get("properties", {}))
    closed = schema.get("type") == "object" and schema.get("additionalProperties") is False
    return closed and all(map(_carries_no_text, members.values()))


def _parameters(function: ToolFunction) -> Iterator[tuple[str, bool, object]]:
    """The name of each parameter, whether it stands before the ``/``, and its default.

    Read off the code where that is all there is to it: ``inspect`` takes several times as long.
    """
    if not _is_plain(function):
        for found in inspect.signature(function).parameters.values():
            yield found.name, found.kind is found.POSITIONAL_ONLY, found.default
        return
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = function.__defaults__ or ()
    first = code.co_argcount - len(given)
    defaults = dict(zip(names[first:], given, strict=False)) | (function.__kwdefaults__ or {})
    for index, name in enumerate(names):
        yield name, index < code.co_posonlyargcount, defaults.get(name, inspect.Parameter.empty)


def _is_plain(function: ToolFunction) -> TypeGuard[FunctionType]:
    """Neither a method nor a wrapper, and with no ``*`` or ``**`` for whatever else may come."""
    if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
        return False
    return not function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)


def _hints(function: ToolFunction) -> Mapping[str, Any]:  # Any: a type may be any object
    """The types of the arguments; those that are written as texts are looked up."""
    written: Mapping[str, Any] = getattr(function, "__annotations__", {})
    if any(isinstance(hint, str) for hint in written.values()):
        return get_type_hints(function, include_extras=True)
    return written
