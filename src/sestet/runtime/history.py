"""The conversation as the root agent is shown it: the person's words, results, replies."""

from sestet.core.agent import TRANSFER
from sestet.core.event import (
    DelegationFinished,
    DelegationStarted,
    Event,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from sestet.core.message import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from sestet.storage.journal import Journal

_SHOWN = (TurnStarted, DelegationStarted, DelegationFinished, TurnFinished, TurnFailed, TurnCancelled)
_MOST_TURNS = 50
_CHARACTERS_PER_TOKEN = 4
_STOPPED = "[The person stopped this turn before it was answered.]"


def load_history(journal: Journal, session_id: str, tokens: int) -> list[Message]:
    """The latest whole turns that fit the budget, oldest first."""
    kinds = tuple(event.kind for event in _SHOWN)
    turns: dict[str, list[Event]] = {}
    for event in journal.session_events(session_id, kinds, _MOST_TURNS):
        turns.setdefault(event.stamp.turn_id, []).append(event)
    shown: list[list[Message]] = []
    left = tokens * _CHARACTERS_PER_TOKEN
    for events in reversed(turns.values()):
        messages = messages_of(events)
        left -= sum(len(message.text) for message in messages)
        if left < 0:
            break
        shown.append(messages)
    return [message for messages in reversed(shown) for message in messages]


def messages_of(events: list[Event]) -> list[Message]:
    """One ended turn as messages; nothing for a turn that has not ended."""
    end = events[-1]
    if not isinstance(end, TurnFinished | TurnFailed | TurnCancelled):
        return []
    messages: list[Message] = []
    requests: dict[str, DelegationStarted] = {}
    for event in events:
        if isinstance(event, TurnStarted):
            messages.append(UserMessage(event.text))
        elif isinstance(event, DelegationStarted):
            requests[event.delegation_id] = event
        # A reply in the specialist's own words follows anyway; it is not shown twice.
        elif isinstance(event, DelegationFinished) and end.author != event.agent:
            messages += _delegation(requests[event.delegation_id], event)
    messages.append(AssistantMessage(_STOPPED if isinstance(end, TurnCancelled) else end.text))
    return messages


def _delegation(started: DelegationStarted, finished: DelegationFinished) -> list[Message]:
    call_id = f"{finished.stamp.turn_id}-{finished.delegation_id}"
    arguments = {"agent_name": started.agent, "request": started.request}
    text = finished.text or f"{finished.outcome}: {finished.cause}"
    return [
        AssistantMessage("", (ToolCall(TRANSFER, arguments, call_id),)),
        ToolMessage(call_id, TRANSFER, text, failed=finished.outcome != "ok"),
    ]
