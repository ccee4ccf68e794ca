"""Writes the prompt for a small model: first the constant part with examples, then the messages as text."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import assert_never, cast

from sestet.core.agent import REJECT_TASK, TRANSFER, AgentSpec
from sestet.core.message import AssistantMessage, MemoryMessage, Message, ToolCall, ToolMessage, UserMessage
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.tool import Tool
from sestet.models.small.reply import NO_SOURCE

_HERE = Path(__file__).parent
_SLOT = re.compile(r"\{(\w+)\}")
#: Marks that end a message in some model. In a text, they must not.
_MARK = re.compile(r"<(?=\|[\w/]{1,40}\|>|/?s>|(start|end)_of_turn>)|\[(?=/?INST\])", re.IGNORECASE)
#: How many characters of an earlier message are shown.
_BRIEF = 300
#: How many examples of each specialist the orchestrator is shown.
_ROUTES = 4
_MOST_SOURCES = 12
#: Follows each result. Without it, a small model often calls the same tool again.
_AFTER_RESULT = "Answer the request with this, or use another tool if something is missing."
_DIRECT: tuple[tuple[str, str], ...] = (
    ("hello", "Hello! What can I do for you?"),
    ("how much is 12 times 12", "12 times 12 is 144."),
    ("thank you", "You are welcome."),
    ("who wrote hamlet", "William Shakespeare wrote Hamlet."),
    ("say something funny", "I would tell you a joke about time travel, but you did not like it."),
)


class SmallPrompt:
    """Renders instructions; ``specs`` give the orchestrator its examples."""

    def __init__(self, specs: Sequence[AgentSpec]) -> None:
        self._examples = {spec.name: spec.examples for spec in specs}

    def instruction(self, instruction: str, tools: Sequence[Tool]) -> str:
        """The constant part: the same for every request of an agent, so the model reads it only once."""
        values = {
            "instruction": instruction.strip(),
            "tools": "\n".join(_describe(tool) for tool in tools),
            "examples": "\n\n".join(self._shots(tools)),
        }
        template = (_HERE / "prompts" / "tools.md").read_text(encoding="utf-8")
        return re.sub(r"\{\{(\w+)\}\}", lambda slot: values[slot[1]], template)

    def _shots(self, tools: Sequence[Tool]) -> Iterator[str]:
        for tool in tools:
            if tool.name == TRANSFER:
                yield from self._routes(tool)
            elif tool.name == REJECT_TASK:
                reason = {"reason": "This is none of my duties."}
                yield _shot("do something that none of your tools can do", ToolCall(tool.name, reason))
            elif (example := _whole_example(tool)) is not None:
                arguments = {slot: _sample(slot) for slot in _SLOT.findall(example)}
                yield _shot(_SLOT.sub(lambda slot: _sample(slot[1]), example), ToolCall(tool.name, arguments))

    def _routes(self, transfer: Tool) -> Iterator[str]:
        properties = cast("Mapping[str, JsonObject]", transfer.parameters["properties"])
        names = cast("Sequence[str]", properties["agent_name"]["enum"])
        for request, answer in _DIRECT:
            yield f"Request: {request}\n{answer_line(answer)}"
        for name in names:
            for request in self._examples.get(name, ())[:_ROUTES]:
                arguments = {"agent_name": name, "request": request, "reply": True}
                yield _shot(request, ToolCall(TRANSFER, arguments))


def to_plain(messages: Sequence[Message], past_in_brief: bool = False) -> tuple[Message, ...]:
    """Messages of two roles that alternate, with calls and results as text.

    ``past_in_brief`` shortens earlier turns: a small model repeats what it seems to have done before, and
    takes a specialist's earlier answer for its own knowledge.
    """
    start = max((i for i, message in enumerate(messages) if isinstance(message, UserMessage)), default=0)
    # A memory message comes before the user message that it belongs to.
    while start and isinstance(messages[start - 1], MemoryMessage):
        start -= 1
    brief = _in_brief(messages[:start]) if past_in_brief else ""
    plain: list[UserMessage | AssistantMessage] = [UserMessage(brief)] if brief else []
    for message in messages[start:] if past_in_brief else messages:
        made = _plain(message)
        last = plain[-1] if plain else None
        if isinstance(made, UserMessage) and isinstance(last, UserMessage):
            plain[-1] = UserMessage(f"{last.text}\n\n{made.text}")
        elif isinstance(made, AssistantMessage) and isinstance(last, AssistantMessage):
            plain[-1] = AssistantMessage(f"{last.text}\n{made.text}")
        else:
            plain.append(made)
    return tuple(plain)


def _in_brief(messages: Sequence[Message]) -> str:
    lines = [
        f"{'You' if isinstance(message, AssistantMessage) else 'The person'}: "
        + defuse(" ".join(message.text.split()))[:_BRIEF]
        for message in messages
        if isinstance(message, (UserMessage, AssistantMessage)) and message.text
    ]
    return "\n".join(("Said before:", *lines)) if lines else ""


def _plain(message: Message) -> UserMessage | AssistantMessage:
    match message:
        case UserMessage(text, said_at):
            # On a line of its own: the examples before it begin with "Request:" too.
            time = f"Time: {said_at}\n" if said_at else ""
            return UserMessage(f"{time}Request: {defuse(text)}")
        case MemoryMessage(text):
            return UserMessage(defuse(text))
        case ToolMessage(_, name, text, failed):
            head = "failed" if failed else "gave this result"
            return UserMessage(f"{name} {head}:\n{defuse(text)}\n\n{_AFTER_RESULT}")
        case AssistantMessage(text, calls, _):
            return AssistantMessage("\n".join(map(call_line, calls)) or answer_line(defuse(text)))
        case _:
            assert_never(message)


def sources_of(messages: Sequence[Message]) -> tuple[str, ...]:
    """The sources of the results since the last request, and ``none``; empty when no result has a source.

    A small model that may only choose from a list cites correctly; else it makes sources up.
    """
    found: dict[str, None] = {}
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            break
        if isinstance(message, ToolMessage) and not message.failed:
            found |= dict.fromkeys(message.citations)
    return (*list(found)[:_MOST_SOURCES], NO_SOURCE) if found else ()


def repeats_itself(messages: Sequence[Message]) -> bool:
    """Whether the model made the same call twice for the present request; then it gets no more tools."""
    lines: list[str] = []
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            break
        if isinstance(message, AssistantMessage):
            lines += map(call_line, message.calls)
    return len(set(lines)) < len(lines)


def call_line(call: ToolCall) -> str:
    return json.dumps({"tool": call.name, "arguments": call.arguments}, ensure_ascii=False)


def answer_line(answer: str) -> str:
    return json.dumps({"answer": answer}, ensure_ascii=False)


def defuse(text: str) -> str:
    """The text with its message marks broken, so that it cannot end a message."""
    return _MARK.sub(lambda mark: f"{mark[0]} ", text)


def reply_schema(
    tools: Sequence[Tool], sources: Sequence[str] = (), *, may_answer: bool = True
) -> JsonObject:
    """The schema of a reply: a call of one of the tools, or an answer if allowed."""
    calls = [
        _closed({"tool": {"const": tool.name}, "arguments": dict(_bare_schema(tool.parameters))})
        for tool in tools
    ]
    answer: dict[str, JsonValue] = {"source": {"enum": [*sources]}} if sources else {}
    answers = [_closed({**answer, "answer": {"type": "string", "minLength": 1}})] if may_answer else []
    return {"anyOf": [*calls, *answers]}


def _closed(properties: Mapping[str, JsonValue]) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _bare_schema(schema: JsonObject) -> JsonObject:
    """A schema without descriptions, defaults and examples, which some servers refuse."""
    return {
        name: _bare_schema(value) if isinstance(value, Mapping) else value
        for name, value in schema.items()
        if not (name in ("description", "default", "examples") and not isinstance(value, Mapping))
    }


def _describe(tool: Tool) -> str:
    """A tool in few words: the first sentence of its description, and its required arguments."""
    properties = cast("Mapping[str, JsonObject]", tool.parameters.get("properties", {}))
    required = _required(tool)
    lines = [f"\n  {name}: {_kind(properties[name])}" for name in required]
    if others := [name for name in properties if name not in required]:
        lines.append(f"\n  optional: {', '.join(others)}")
    first = re.split(r"(?<=[.!?])\s", " ".join(tool.description.split()), maxsplit=1)[0]
    return f"- {tool.name}: {first}{''.join(lines)}"


def _kind(schema: JsonObject) -> str:
    choices = cast("Sequence[JsonValue]", schema.get("enum", ()))
    return ", ".join(map(str, choices)) or str(schema.get("description") or schema.get("type", "text"))


def _required(tool: Tool) -> Sequence[str]:
    return cast("Sequence[str]", tool.parameters.get("required", ()))


def _whole_example(tool: Tool) -> str | None:
    """An example with a slot for every required argument."""
    fitting = (each for each in tool.examples if set(_required(tool)) <= set(_SLOT.findall(each)))
    return next(fitting, None)


def _shot(request: str, call: ToolCall) -> str:
    return f"Request: {request}\n{call_line(call)}"


def _sample(slot: str) -> str:
    return _samples().get(slot) or slot.replace("_", " ")


@lru_cache(maxsize=1)
def _samples() -> Mapping[str, str]:
    return json.loads((_HERE / "samples.json").read_text(encoding="utf-8"))
