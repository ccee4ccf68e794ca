"""Rebuilds what a model was shown in a stored call, byte for byte, from the journal."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from sestet.core.agent import TRANSFER
from sestet.core.errors import PersonError
from sestet.core.event import (
    DelegationFinished,
    DelegationStarted,
    Event,
    MemoryRecalled,
    ModelCalled,
    ToolFinished,
    TurnStarted,
)
from sestet.core.message import AssistantMessage, MemoryMessage, Message, ToolMessage, UserMessage
from sestet.core.record import Record
from sestet.core.seen import SeenPart
from sestet.runtime.history import SHOWN_KINDS, numbered_turns, turns_of
from sestet.runtime.tool_call import clip
from sestet.storage.database import damaged
from sestet.storage.journal import Journal, TurnRow
from sestet.storage.prompts import Prompt

SectionName: TypeAlias = Literal[
    "instruction", "tools", "conversation", "memory", "request", "replies", "results", "notes"
]
Hidden: TypeAlias = Literal["conversation", "memory", "message", "specialists", "results"]


class SeenMessage(NamedTuple):
    section: SectionName
    message: Message


class NotShown(NamedTuple):
    """A part of the conversation that the model did not get."""

    name: Hidden
    why: str


class SeenRequest(Record):
    """One stored call with everything its model was shown."""

    call: ModelCalled
    prompt: Prompt
    messages: tuple[SeenMessage, ...]
    not_shown: tuple[NotShown, ...]


def stored_calls(journal: Journal, turn_id: str) -> tuple[ModelCalled, ...]:
    """The model calls of a turn, in order."""
    _require_turn(journal, turn_id)
    return tuple(event for event in journal.events_of(turn_id) if isinstance(event, ModelCalled))


def seen_request(journal: Journal, turn_id: str, seq: int) -> SeenRequest:
    """What the model was shown in the call whose event has this number."""
    turn = _require_turn(journal, turn_id)
    events = tuple(journal.events_of(turn_id))
    call = next((each for each in events if isinstance(each, ModelCalled) and each.seq == seq), None)
    if call is None:
        raise PersonError(f"the turn '{turn_id}' has no model call {seq}")
    if not call.seen.prompt:
        raise PersonError(
            f"the model call {seq} is from an earlier Sestet, which did not record what it was shown"
        )
    prompt = journal.prompts.find(call.seen.prompt)
    if prompt is None:
        raise damaged(f"the prompt of the model call {seq} of the turn {turn_id} is missing")
    past = _Past(journal, turn, events, call)
    parts = past.parts()
    messages = tuple(message for part in parts for message in past.messages(part))
    return SeenRequest(call, prompt, messages, tuple(_not_shown(turn, past, parts)))


def find_turn(journal: Journal, wanted: str) -> str:
    """The id of a turn that a person names: whole, or 'last' for the latest turn of all."""
    if wanted != "last":
        return _require_turn(journal, wanted).id
    if (turn_id := journal.latest_turn()) is None:
        raise PersonError("there is no turn yet; 'sestet chat' begins one")
    return turn_id


def _require_turn(journal: Journal, turn_id: str) -> TurnRow:
    if (row := journal.turn(turn_id)) is None:
        raise PersonError(f"there is no turn '{turn_id}'")
    return row


class _Past:
    """The events of a turn up to one call, by what they hold of its request."""

    def __init__(self, journal: Journal, turn: TurnRow, events: Sequence[Event], call: ModelCalled) -> None:
        self._journal = journal
        self._turn = turn
        self.call = call
        self.events = [event for event in events if event.seq < call.seq]
        own = call.delegation_id
        self._replies = [
            event for event in self.events if isinstance(event, ModelCalled) and event.delegation_id == own
        ]
        self.started = next(event for event in self.events if isinstance(event, TurnStarted))
        self.recalled = next((event for event in self.events if isinstance(event, MemoryRecalled)), None)
        self.delegations = [event for event in self.events if isinstance(event, DelegationStarted)]
        self._answers = dict(self._find_answers(own))

    def _find_answers(self, own: str) -> Iterator[tuple[str, ToolMessage]]:
        called = {event.delegation_id: event.call_id for event in self.delegations}
        for event in self.events:
            if isinstance(event, ToolFinished) and event.delegation_id == own:
                call_id, failed = event.call.id, event.outcome != "ok"
                yield call_id, ToolMessage(call_id, event.call.name, event.text, failed)
            elif isinstance(event, DelegationFinished) and not own:
                call_id, failed = called[event.delegation_id], event.outcome != "ok"
                yield call_id, ToolMessage(call_id, TRANSFER, event.text, failed)

    def parts(self) -> list[SeenPart]:
        """All parts of the request: those of the agent's earlier calls come before its own."""
        parts: list[SeenPart] = []
        for call in (*self._replies, self.call):
            parts = [*(parts if call.seen.follows else ()), *call.seen.parts]
        return parts

    @property
    def request(self) -> str:
        own = self.call.delegation_id
        requests = (each.request for each in self.delegations if each.delegation_id == own)
        return next(requests, self.started.text) if own else self.started.text

    def messages(self, part: SeenPart) -> Iterator[SeenMessage]:
        if part.role:
            yield SeenMessage(_section(part), _own_words(part))
        elif part.turns:
            for turn in self._turns(part.turns):
                yield from (SeenMessage("conversation", message) for message in turn)
        elif part.memory and self.recalled is not None:
            yield SeenMessage("memory", MemoryMessage(self.recalled.text))
        elif part.request:
            yield SeenMessage("request", UserMessage(self.request, self.started.said_at))
        elif part.reply:
            reply = self._replies[part.reply - 1]
            yield SeenMessage("replies", AssistantMessage(reply.text, reply.calls))
        elif part.id:
            answer = self._answers[part.id]
            text = clip(answer.text, part.clip) if part.clip else answer.text
            yield SeenMessage("results", answer._replace(text=text))

    def _turns(self, ranges: tuple[int, ...]) -> Iterator[tuple[Message, ...]]:
        number = self._turn.number
        last_turns = number - ranges[0]
        events = self._journal.session_events(self._turn.session_id, SHOWN_KINDS, last_turns, number)
        wanted = set(shown_numbers(ranges))
        for turn in numbered_turns(turns_of(events), number):
            if turn.number in wanted:
                yield turn.messages


def shown_numbers(ranges: tuple[int, ...]) -> Iterator[int]:
    for first, last in zip(ranges[::2], ranges[1::2], strict=True):
        yield from range(first, last + 1)


def _section(part: SeenPart) -> SectionName:
    """The section of a part that has its own words."""
    if part.turns:
        return "conversation"
    if part.request:
        return "request"
    return _SECTIONS[part.role]


#: A note is a text that code wrote, such as a reminder to answer.
_SECTIONS: dict[str, SectionName] = {
    "memory": "memory",
    "user": "notes",
    "assistant": "replies",
    "tool": "results",
}


def _own_words(part: SeenPart) -> Message:
    match part.role:
        case "memory":
            return MemoryMessage(part.text)
        case "assistant":
            return AssistantMessage(part.text, part.calls)
        case "tool":
            return ToolMessage(part.id, part.name, part.text, part.failed)
        case _:
            return UserMessage(part.text, part.said_at)


def _not_shown(turn: TurnRow, past: _Past, parts: Sequence[SeenPart]) -> Iterator[NotShown]:
    own = past.call.delegation_id
    shown = {number for part in parts for number in shown_numbers(part.turns)}
    earlier = [number for number in range(1, turn.number) if number not in shown]
    if own:
        if turn.number > 1:
            yield NotShown("conversation", "a specialist works on its request alone")
        if past.recalled is not None:
            yield NotShown("memory", "only the orchestrator gets what is remembered")
        if past.request != past.started.text:
            yield NotShown("message", "the orchestrator wrote the request")
    elif earlier:
        which = "turn" if len(earlier) == 1 else "turns"
        yield NotShown("conversation", f"{which} {_listed(earlier)}: too long ago, or not ended at that time")
    others = sorted({each.agent for each in past.delegations if each.delegation_id != own})
    if others:
        why = "it gets their results alone" if not own else "it does not get the work of others"
        yield NotShown("specialists", f"the steps of {', '.join(others)}: {why}")
    if clipped := [part.id for part in parts if part.clip]:
        yield NotShown("results", f"the middle of long results: {', '.join(clipped)}")


def _listed(numbers: list[int]) -> str:
    """Numbers as text, with "1 to 3" for those in a row."""
    rows: list[list[int]] = []
    for number in numbers:
        if rows and rows[-1][1] == number - 1:
            rows[-1][1] = number
        else:
            rows.append([number, number])
    return ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in rows)
