"""Records what a model is shown: each part by its place in the journal, else by its words."""

from collections.abc import Iterable, Sequence

from sestet.core.event import DelegationFinished, DelegationStarted, RequestRouted, ToolFinished
from sestet.core.message import (
    AssistantMessage,
    MemoryMessage,
    Message,
    ToolMessage,
    UserMessage,
    whole,
)
from sestet.core.model import ModelRequest
from sestet.core.record import replace
from sestet.core.seen import Seen, SeenPart, SeenRole
from sestet.runtime.tool_call import clip
from sestet.runtime.turn import AgentRun

_MEMORY = SeenPart(memory=True)
_REQUEST = SeenPart(request=True)
_WORDS = SeenPart()
_ROLES: dict[type, SeenRole] = {
    MemoryMessage: "memory",
    UserMessage: "user",
    AssistantMessage: "assistant",
    ToolMessage: "tool",
}


def record_seen(run: AgentRun, request: ModelRequest) -> Seen:
    """What the request shows, after what the agent's last one has shown."""
    _read_log(run)
    so_far, shown = run.seen, request.messages
    # A shortened context is a new list. A value that came into the vault may be hidden in any message.
    altered = bool(run.turn.scanner.watches) and list(shown) != run.messages[: len(shown)]
    if altered or run.messages is not so_far.messages:
        so_far.start(run.messages)
    follows, parts = so_far.told > 0, list[SeenPart]()
    if not follows and run.past:
        parts += _past(run, shown[: run.past])
        so_far.told = run.past
    for place in range(so_far.told, len(shown)):
        part = _part(run, shown[place])
        parts.append(part if shown[place] == run.messages[place] else _literal(shown[place], part))
    so_far.told = len(shown)
    if altered:
        # The next request is told anew too: its words are not those of the journal.
        so_far.start(None)
    return Seen(run.turn.prompts.name(request.instruction, request.tools), follows, tuple(parts))


def _past(run: AgentRun, shown: Sequence[Message]) -> list[SeenPart]:
    """The earlier turns by their numbers, or by their words if those are not the words of the journal."""
    numbers, left = list[int](), run.past
    for turn in reversed(run.turn.past_turns):
        if left <= 0:
            break
        left -= len(turn.messages)
        if turn.messages:
            numbers.append(turn.number)
    ranges = _ranges(reversed(numbers))
    if left or (run.turn.scanner.watches and list(shown) != run.messages[: run.past]):
        return [_literal(message, SeenPart(turns=ranges)) for message in shown]
    return [SeenPart(turns=ranges)]


def _part(run: AgentRun, message: Message) -> SeenPart:
    """The place of a message of this turn in the journal, or the message."""
    so_far = run.seen
    match message:
        case MemoryMessage():
            return _MEMORY
        case UserMessage():
            if so_far.asked or message.said_at != run.turn.said_at:
                return _literal(message)
            so_far.asked = True
            return _REQUEST
        case AssistantMessage():
            so_far.replies += 1
            # Code made a routed call, so no reply has it.
            number = so_far.replies - so_far.routed
            return SeenPart(reply=number) if number else _literal(message)
        case ToolMessage():
            return _answer(run, message)


def _answer(run: AgentRun, message: ToolMessage) -> SeenPart:
    text = run.seen.answers.get(message.call_id)
    text = _replayed(run, message.call_id) if text is None else text
    if text == message.text:
        return SeenPart(id=message.call_id)
    limit = run.turn.limits.tool_output
    if text is not None and clip(text, limit) == message.text:
        return SeenPart(id=message.call_id, clip=limit)
    return _literal(message)


def _read_log(run: AgentRun) -> None:
    """Find the answers that were recorded since the last call."""
    so_far, log = run.seen, run.turn.log
    for place in range(so_far.log_read, len(log)):
        event = log[place]
        if isinstance(event, ToolFinished):
            if event.delegation_id == run.delegation_id:
                so_far.answers[event.call.id] = event.text
        elif run.delegation_id:
            continue
        elif isinstance(event, DelegationStarted):
            so_far.called[event.delegation_id] = event.call_id
        elif isinstance(event, DelegationFinished):
            so_far.answers[so_far.called.get(event.delegation_id, "")] = event.text
        elif isinstance(event, RequestRouted):
            so_far.routed = True
    so_far.log_read = len(log)
    so_far.routed |= not run.delegation_id and run.turn.replay.routed is not None


def _replayed(run: AgentRun, call_id: str) -> str | None:
    """The answer that the turn had recorded before it was resumed."""
    replay = run.turn.replay
    if (answer := replay.answers.get(call_id)) is not None:
        return answer.text
    started = replay.delegations.get(call_id)
    result = replay.results.get(started.delegation_id) if started else None
    return result.text if result else None


def _literal(message: Message, part: SeenPart = _WORDS) -> SeenPart:
    """A message by its words. ``part`` says what it is beside them."""
    role, text = _ROLES[type(message)], whole(message.text)
    match message:
        case MemoryMessage():
            return replace(part, role=role, text=text)
        case UserMessage():
            return replace(part, role=role, text=text, said_at=message.said_at)
        case AssistantMessage():
            return replace(part, role=role, text=text, calls=message.calls)
        case ToolMessage():
            facts = {"id": message.call_id, "name": message.name, "failed": message.failed}
            return replace(part, role=role, text=text, **facts)


def _ranges(numbers: Iterable[int]) -> tuple[int, ...]:
    """The first and the last number of each unbroken run."""
    found: list[int] = []
    for number in numbers:
        if found and found[-1] == number - 1:
            found[-1] = number
        else:
            found += (number, number)
    return tuple(found)
