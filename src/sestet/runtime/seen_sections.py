"""Model calls as JSON: what each one used, and the sections of what its model was shown."""

from typing import TypeAlias

from sestet.core.event import ModelCalled
from sestet.core.message import AssistantMessage, ToolCall, ToolMessage, UserMessage
from sestet.core.model import CHARACTERS_PER_TOKEN, Usage
from sestet.core.record import Record, to_json
from sestet.runtime.seen_requests import Hidden, SectionName, SeenMessage, SeenRequest

Tokens: TypeAlias = dict[str, int]


class CallFacts(Record):
    """One model call of a turn."""

    #: The number of its event in the turn.
    seq: int
    agent: str
    #: Empty for the root agent.
    delegation: str
    model: str
    usage: Usage
    milliseconds: int
    #: The tools that the reply called, or the agents to which it delegated.
    calls: list[str]
    #: Whether what the model was shown is recorded; an earlier version did not record it.
    seen: bool


class Section(Record):
    """One message of a request, or the instruction, or the tools."""

    name: SectionName
    #: Whose words it has: ``system``, ``user``, ``assistant``, ``tool`` or ``memory``.
    role: str
    text: str
    #: An estimate; only the model's own tokenizer knows the number.
    tokens: int
    #: The calls that this message asks for.
    calls: tuple[ToolCall, ...] = ()
    #: The call that this message answers, and its tool.
    call_id: str = ""
    tool: str = ""
    failed: bool = False


class Unseen(Record):
    name: Hidden
    why: str


class SeenFacts(Record):
    """What a model was shown in one call, word for word and in its order."""

    call: CallFacts
    #: Estimated tokens by name of section, in the order of the request.
    tokens: Tokens
    sections: list[Section]
    not_shown: list[Unseen]


def describe_call(call: ModelCalled) -> CallFacts:
    calls = [str(each.arguments.get("agent_name", each.name)) for each in call.calls]
    facts = (call.seq, call.author, call.delegation_id, call.model, call.usage, round(call.milliseconds))
    return CallFacts(*facts, calls, bool(call.seen.prompt))


def describe_seen(request: SeenRequest) -> SeenFacts:
    sections = [
        Section("instruction", "system", request.prompt.instruction, _tokens(request.prompt.instruction)),
        Section("tools", "system", request.prompt.tools, _tokens(request.prompt.tools)),
        *map(_section, request.messages),
    ]
    tokens: Tokens = {}
    for section in sections:
        tokens[section.name] = tokens.get(section.name, 0) + section.tokens
    hidden = [Unseen(*each) for each in request.not_shown]
    return SeenFacts(describe_call(request.call), tokens, sections, hidden)


def _section(seen: SeenMessage) -> Section:
    name, message = seen
    match message:
        case UserMessage():
            return Section(name, "user", message.dated, _tokens(message.dated))
        case AssistantMessage(text, calls):
            written = "".join(to_json((call.name, call.arguments)).decode() for call in calls)
            return Section(name, "assistant", text, _tokens(text + written), calls)
        case ToolMessage(call_id, tool, text, failed):
            return Section(name, "tool", text, _tokens(text), (), call_id, tool, failed)
        case _:
            return Section(name, "memory", message.text, _tokens(message.text))


def _tokens(text: str) -> int:
    """An estimate, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
