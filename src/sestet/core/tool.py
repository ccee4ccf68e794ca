"""A tool as a value, and the decorator that makes one from a typed, documented async function."""

import inspect
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import (
    Any,
    Literal,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    get_args,
    get_type_hints,
    overload,
)

from sestet.core.errors import DefinitionError
from sestet.core.label import CLEAN, Findings, Label, Labelled, Origin
from sestet.core.outside import Outside
from sestet.core.preview import Changes
from sestet.core.record import Record, as_dict, convert, field, replace
from sestet.core.schema import (
    JsonObject,
    JsonValue,
    bits_of,
    find_problems,
    has_fields,
    is_converted,
    is_of_type,
    object_schema,
    schema_of,
)

Risk: TypeAlias = Literal["safe", "guarded", "dangerous"]
Reads: TypeAlias = Literal["untrusted", "private"]
#: ``store``: it only writes rows of Sestet's own database, and they keep the label of their text.
Effect: TypeAlias = Literal["none", "store", "local", "external", "money"]
Recovery: TypeAlias = Literal["pure", "keyed", "probe", "unsafe"]

_Result = TypeVar("_Result")
#: A fixed result may carry as much as one 64-bit number.
_MOST_BITS = 64
#: A place for an argument in a text, such as ``{path}``.
SLOT = re.compile(r"\{(\w+)\}")
_RISKS, _READS, _EFFECTS, _RECOVERIES = map(get_args, (Risk, Reads, Effect, Recovery))

ToolFunction: TypeAlias = Callable[..., Awaitable["JsonValue | Labelled | Findings"]]
PreviewFunction: TypeAlias = Callable[..., Awaitable["Preview"]]


class Preview(Record):
    """What one call would do: its own risk and caution in place of the tool's, and what it would change."""

    risk: Risk
    caution: str = ""
    changes: Changes = Changes()
    #: The owner's settings allow this call, such as a standing budget for its payee.
    owner_allows: bool = False


class Tool(Record):
    """A function that a model may call. A declaration that is left out counts as the worst case."""

    name: str
    description: str = ""
    parameters: JsonObject = field(default_factory=lambda: object_schema({}))
    function: ToolFunction | None = None
    #: Types of the services that the app puts before the model's arguments.
    needs: tuple[type, ...] = ()
    #: Requests with slots, as a person would say them: ``read the file {path}``.
    examples: tuple[str, ...] = ()
    risk: Risk = "dangerous"
    #: What is at stake in a call, as a clause: ``deleting a memory cannot be undone``.
    caution: str = ""
    #: What a standing answer would let an agent do, as a verb with slots: ``send ANY text to {to}``.
    standing: str = ""
    reads: tuple[Reads, ...] = ("untrusted", "private")
    effect: Effect = "money"
    #: The arguments that choose who receives something, or which file or thing is changed.
    targets: tuple[str, ...] = ()
    #: Those of the targets that a call leaves as they are, such as the file that is copied.
    sources: tuple[str, ...] = ()
    #: Arguments that change what a call with the same targets does: a standing answer holds for their values.
    binds: tuple[str, ...] = ()
    recovery: Recovery = "unsafe"
    timeout: float = 60.0
    calls_per_turn: int | None = None
    #: Called after a crash with the arguments of the call, to find its result; None: the call did nothing.
    probe: ToolFunction | None = None
    #: Called with the arguments before the gate decides. It changes nothing, and tells the risk of this call.
    preview: PreviewFunction | None = None
    #: The schema of a result that cannot carry text: a flag, a bounded number, a choice from a list.
    fixed_result: JsonObject | None = None
    #: Declares one call by its arguments, where calls differ: ``ls`` and ``rm -r`` are both commands.
    rules: "Callable[..., CallRules] | None" = None
    #: Why nobody can approve this call; empty: the person can.
    blocked: str = ""
    #: The owner's settings allow this call with these targets, whatever was read before.
    owner_allows: bool = False
    #: The argument that names a value which the person types unseen when they approve.
    typed: str = ""
    #: The agent that the owner gave it to; None: the agent that owns the prefix of its name.
    owner: str | None = None
    #: The server outside of Sestet that wrote its description, with the owner's words about that server.
    outside: Outside | None = None

    def __post_init__(self) -> None:
        if problem := _problem_of(self):
            raise DefinitionError(f"tool '{self.name}': {problem}")

    def belongs_to(self, agent: str, *, by_name: bool) -> bool:
        """Whether the owner gave it to this agent; without such a declaration, ``by_name`` decides."""
        return by_name if self.owner is None else self.owner == agent

    def label(self, agent: str) -> Label:
        """The label that a result adds to the context that reads it. A ``Labelled`` result has its own."""
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
            preview=_bound(self.preview, given, wants_info),
            rules=partial(self.rules, *given) if self.rules and given else self.rules,
            needs=(CallInfo,) if wants_info else (),
        )

    def for_call(self, arguments: JsonObject) -> "Tool":
        """The tool as one call declares it; for arguments that do not fit, its own declarations hold."""
        if self.rules is None or find_problems(self.parameters, dict(arguments)):
            return self
        try:
            return replace(self, **as_dict(self.rules(**arguments)))
        except Exception as error:
            # Rules that fail must not make a call harmless.
            caution = f"the rules of the tool failed: {type(error).__name__}"
            return replace(self, risk="dangerous", caution=caution, preview=None)


class CallRules(Record):
    """The declarations of one call, in the place of its tool's."""

    risk: Risk
    effect: Effect
    recovery: Recovery
    caution: str = ""
    blocked: str = ""
    owner_allows: bool = False


def _problem_of(tool: Tool) -> str:
    """What is wrong with the declarations, or an empty text. An unknown word must not count as harmless."""
    for word, known in ((tool.risk, _RISKS), (tool.effect, _EFFECTS), (tool.recovery, _RECOVERIES)):
        if word not in known:
            return f"{word!r} is none of {', '.join(known)}"
    if isinstance(tool.reads, str) or any(word not in _READS for word in tool.reads):
        return f"reads must be a tuple of {', '.join(_READS)}, got {tool.reads!r}"
    arguments = cast("JsonObject", tool.parameters.get("properties", {}))
    if isinstance(tool.targets, str) or not arguments.keys() >= set(tool.targets):
        return f"targets must be a tuple of names of its arguments, got {tool.targets!r}"
    if isinstance(tool.sources, str) or (tool.sources and not set(tool.sources) < set(tool.targets)):
        return f"sources must be a tuple of some of its targets, but not of all, got {tool.sources!r}"
    if isinstance(tool.binds, str) or not arguments.keys() >= set(tool.binds):
        return f"binds must be a tuple of names of its arguments, got {tool.binds!r}"
    # A slot for an argument that a standing answer leaves open would promise a limit that there is not.
    if not set(tool.targets or arguments) >= set(SLOT.findall(tool.standing)):
        return f"the slots of standing must be among its targets, got {tool.standing!r}"
    if tool.typed and tool.typed not in tool.targets:
        return f"typed must be one of its targets, got {tool.typed!r}"
    if isinstance(tool.examples, str):
        return f"examples must be a tuple of texts, got {tool.examples!r}"
    if not is_of_type(tool.timeout, "number") or tool.timeout <= 0:
        return f"timeout must be seconds above 0, got {tool.timeout!r}"
    if tool.recovery == "probe" and tool.probe is None:
        return "recovery 'probe' needs a probe"
    if tool.fixed_result is not None and bits_of(tool.fixed_result) > _MOST_BITS:
        return (
            "values that fit its fixed_result could carry text; declare a boolean, a number with minimum and "
            "maximum, an enum, or a closed object of a few of these"
        )
    return ""


class CallInfo(Record):
    """The call that a tool runs for, if it asks for one: ``async def f(call: CallInfo, /)``."""

    session_id: str
    turn_id: str
    agent: str
    call_id: str
    #: The label of the context that makes the call.
    label: Label
    #: The person's message of this turn; empty if they did not write it.
    words: str = ""
    #: The mark that the preview of this call found; empty without a preview.
    basis: str = ""
    #: Shows a piece of the result to the person while the tool is still running.
    report: Callable[[str], None] = lambda _: None
    #: Whether the person's message names this web address in full.
    names_address: Callable[[str], bool] = lambda _: False

    @property
    def key(self) -> str:
        """An idempotency key: the call has it before and after a crash, and no other call has it."""
        return f"{self.turn_id}/{self.call_id}"

    @property
    def origin(self) -> Origin:
        """The origin to store with each row that this call writes."""
        return Origin(self.session_id, self.turn_id, self.label)


def _bound(
    function: Callable[..., _Result] | None, given: tuple[object, ...], wants_info: bool
) -> Callable[..., _Result] | None:
    if function is None or not given:
        return function
    return partial(_with_call_info, function, given) if wants_info else partial(function, *given)


def _with_call_info(
    function: Callable[..., _Result], given: tuple[object, ...], call: CallInfo, /, **arguments: JsonValue
) -> _Result:
    return function(call, *given, **arguments)


class Declared(TypedDict, total=False):
    """The declarations that the decorator takes; ``Tool`` explains each under the same name."""

    examples: tuple[str, ...]
    risk: Risk
    caution: str
    standing: str
    reads: tuple[Reads, ...]
    effect: Effect
    targets: tuple[str, ...]
    sources: tuple[str, ...]
    binds: tuple[str, ...]
    recovery: Recovery
    timeout: float
    calls_per_turn: int | None
    probe: ToolFunction | None
    preview: PreviewFunction | None
    fixed_result: JsonObject | None
    rules: "Callable[..., CallRules] | None"
    typed: str


@overload
def tool(function: ToolFunction, /) -> Tool: ...
@overload
def tool(**declared: Unpack[Declared]) -> Callable[[ToolFunction], Tool]: ...
def tool(
    function: ToolFunction | None = None, /, **declared: Unpack[Declared]
) -> Tool | Callable[[ToolFunction], Tool]:
    """Make a tool from ``async def name(service: Service, /, argument: str) -> str``.

    The app fills the parameters before the ``/`` by their types; the model fills the others.
    The docstring is what the model reads; ``Annotated[str, "…"]`` describes an argument.
    """

    def make(function: ToolFunction) -> Tool:
        return _describe(function, declared)

    return make if function is None else make(function)


def _describe(function: ToolFunction, declared: Declared) -> Tool:
    name = getattr(function, "__name__", "")
    if not name or not inspect.iscoroutinefunction(function):
        raise DefinitionError(f"tool '{name or type(function).__name__}' must be an 'async def' function")
    description = inspect.cleandoc(function.__doc__ or "")
    if not description:
        stripped = ", and 'python -OO' takes it away" if sys.flags.optimize > 1 else ""
        raise DefinitionError(f"tool '{name}' needs a docstring: it is what the model reads{stripped}")
    hints = _hints(name, function)
    needs: list[type] = []
    properties: dict[str, JsonObject] = {}
    required: list[str] = []
    for argument, is_injected, default in _parameters(name, function):
        if argument not in hints:
            raise DefinitionError(f"tool '{name}': the argument '{argument}' needs a type{_method(argument)}")
        if is_injected:
            needs.append(hints[argument])
            continue
        properties[argument] = _argument_schema(name, argument, hints[argument], default)
        if default is inspect.Parameter.empty:
            required.append(argument)
    if CallInfo in needs[1:]:
        raise DefinitionError(f"tool '{name}': CallInfo must be its first parameter")
    parameters = object_schema(properties, required)
    made = Tool(name, description, parameters, function, tuple(needs), **declared)
    for what, other in (("probe", made.probe), ("preview", made.preview)):
        if other is not None:
            _require_same_parameters(name, function, what, other)
    # Most arguments are scalars. This runs at every start, so only the others are looked at closely.
    composed = (
        name for name, schema in properties.items() if schema.get("type") in (None, "array", "object")
    )
    if any(is_converted(hints[name]) for name in composed):
        made = replace(
            made,
            function=_converting(function, hints),
            probe=_converting(made.probe, hints),
            preview=_converting(made.preview, hints),
        )
    return made


def _argument_schema(name: str, argument: str, hint: object, default: object) -> dict[str, JsonValue]:
    try:
        schema = schema_of(hint)
    except (TypeError, NameError) as error:
        raise DefinitionError(f"tool '{name}', argument '{argument}': {error}") from error
    except RecursionError:
        raise DefinitionError(f"tool '{name}', argument '{argument}': its type contains itself") from None
    if default is not inspect.Parameter.empty and default is not None and not has_fields(default):
        for problem in find_problems(schema, default):
            raise DefinitionError(f"tool '{name}', the default of '{argument}': {problem.message}")
        schema["default"] = cast("JsonValue", default)
    return schema


def _method(argument: str) -> str:
    if argument not in ("self", "cls"):
        return ""
    return "; to use a method, make the tool from an object: tool(thing.method)"


def _require_same_parameters(
    name: str, function: ToolFunction, what: str, other: Callable[..., object]
) -> None:
    """The other function has the parameters of the tool; ``**arguments`` may stand for the model's."""
    if not inspect.iscoroutinefunction(other):
        raise DefinitionError(f"tool '{name}': its {what} must be an 'async def' function")
    kinds = [found.kind for found in inspect.signature(other).parameters.values()]
    if kinds[-1:] == [inspect.Parameter.VAR_KEYWORD]:
        injected = [True for _, is_injected, _ in _parameters(name, function) if is_injected]
        same = [kind is inspect.Parameter.POSITIONAL_ONLY for kind in kinds[:-1]] == injected
    else:
        asked, given = (
            [(is_injected or argument, is_injected) for argument, is_injected, _ in _parameters(name, each)]
            for each in (other, function)
        )
        same = asked == given
    if not same:
        raise DefinitionError(f"tool '{name}': its {what} must have the parameters of the tool")


def _converting(
    function: Callable[..., Awaitable[_Result]] | None, hints: Mapping[str, object]
) -> Callable[..., Awaitable[_Result]] | None:
    return partial(_call_converted, function, hints) if function else None


async def _call_converted(
    function: Callable[..., Awaitable[_Result]],
    hints: Mapping[str, object],
    /,
    *services: object,
    **arguments: JsonValue,
) -> _Result:
    """Call the function with what its hints name, such as dataclasses, in place of JSON values."""
    converted = {name: convert(value, hints[name]) for name, value in arguments.items()}
    return await function(*services, **converted)


def _parameters(name: str, function: Callable[..., object]) -> Iterator[tuple[str, bool, object]]:
    """The name of each parameter, whether it stands before the ``/``, and its default."""
    for found in inspect.signature(function).parameters.values():
        if found.kind in (found.VAR_POSITIONAL, found.VAR_KEYWORD):
            raise DefinitionError(
                f"tool '{name}': the model has to know each argument; name them instead of '{found}'"
            )
        yield found.name, found.kind is found.POSITIONAL_ONLY, found.default


def _hints(name: str, function: ToolFunction) -> Mapping[str, Any]:  # Any: a type may be any object
    """The types of the arguments; a type that is written as a text is resolved."""
    try:
        written: Mapping[str, Any] = getattr(function, "__annotations__", {})
        if any(isinstance(hint, str) for hint in written.values()):
            return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise DefinitionError(
            f"tool '{name}': {error}, but its annotations use it; import it outside of 'if TYPE_CHECKING'"
        ) from error
    return written
