"""A turn as a transcript of (author, event)."""

from collections.abc import Iterable

from sestet.core.event import (
    AgentNudged,
    ApprovalDecided,
    ApprovalRequested,
    DelegationFinished,
    DelegationStarted,
    Event,
    MemoryRecalled,
    ModelCalled,
    ModelRetried,
    OutputStreamed,
    PriceUnknown,
    RequestRouted,
    TextStreamed,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
    TurnStarted,
    TurnSteered,
)
from sestet.core.message import ToolCall


def transfer(agent_name: str, request: str = "do it", *, reply: bool = False) -> ToolCall:
    return ToolCall("transfer_to_agent", {"agent_name": agent_name, "request": request, "reply": reply})


def transcript(events: Iterable[Event]) -> list[tuple[str, str]]:
    """(author, text) of every event except streamed pieces."""
    return [(event.author, _what(event)) for event in events if not isinstance(event, TextStreamed)]


def streamed(events: Iterable[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextStreamed))


def _what(event: Event) -> str:
    match event:
        case TurnStarted():
            return f"says {event.text}"
        case TurnSteered():
            return f"adds {event.text}"
        case MemoryRecalled():
            return f"recalls {', '.join(event.ids)}"
        case ModelCalled():
            calls = ", ".join(call.name for call in event.calls)
            return f"thinks → {calls or event.text}"
        case OutputStreamed():
            return f"prints {event.text}"
        case PriceUnknown():
            return f"does not know the price of {event.model}"
        case ModelRetried():
            return f"asks {event.next_model} after {event.failure}"
        case RequestRouted():
            return f"is sure of {event.agent}"
        case AgentNudged():
            return f"is nudged: {event.reason}"
        case DelegationStarted():
            return f"delegates to {event.agent}: {event.request}"
        case DelegationFinished():
            return f"returns {event.outcome}: {event.text or event.cause}"
        case ToolCalled():
            return f"calls {event.call.name}"
        case ToolFinished():
            return f"{event.call.name} is {event.outcome}"
        case TurnFinished():
            return f"answers {event.text}"
        case TurnFailed():
            return f"fails: {event.cause}"
        case ApprovalRequested():
            return f"asks: may {event.call.name} run? {event.reason}"
        case ApprovalDecided():
            return f"decides: {event.decision} {event.scope}"
        case TurnPaused():
            return "waits"
        case TurnResumed():
            return "resumes"
        case TurnCancelled():
            return "stops"
        case TextStreamed():
            return event.text
