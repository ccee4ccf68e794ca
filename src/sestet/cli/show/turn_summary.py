"""A turn in short: how it ended, its last words, and the whole of it as JSON."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias, assert_never

from sestet.cli.show.progress import is_in_doubt
from sestet.core.event import (
    END_OF_TURN,
    PIECES,
    Event,
    ModelCalled,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
)
from sestet.core.model import Usage
from sestet.services.approvals import Question, describe_question
from sestet.services.sessions import event_values

#: The events with which a turn ends, for good or until a decision.
End: TypeAlias = TurnFinished | TurnFailed | TurnCancelled | TurnPaused


def last_words(end: End) -> str:
    """The text that the person reads at the end of a turn."""
    match end:
        case TurnFinished() | TurnFailed():
            return end.text
        case TurnCancelled():
            return "Stopped."
        case TurnPaused():
            return "This turn waits for your decision."
        case _:
            assert_never(end)


def describe_turn(events: Sequence[Event], open_questions: Iterable[Question] = ()) -> dict[str, object]:
    """A turn as JSON, without the pieces of streamed text: the whole text is there."""
    first, last = events[0].stamp, events[-1]
    usage = sum((event.usage for event in events if isinstance(event, ModelCalled)), Usage())
    end = event_values(last) if isinstance(last, END_OF_TURN) else {}
    elapsed = last.milliseconds if isinstance(last, TurnFinished) else (last.stamp.at - first.at) * 1000
    return {
        "session": first.session_id,
        "turn": first.turn_id,
        "state": turn_state(events),
        "agent": last.author,
        "text": last.text if isinstance(last, TurnFinished | TurnFailed) else "",
        "approvals": [describe_question(question) for question in open_questions],
        "in_doubt": [describe_event(event) for event in events if is_in_doubt(event)],
        "effects": end.get("effects"),
        "unsupported": end.get("unsupported", []),
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        "milliseconds": round(elapsed),
        "events": [describe_event(event) for event in events if not isinstance(event, PIECES)],
    }


def describe_event(event: Event) -> dict[str, object]:
    """An event as JSON, with the field names of the journal."""
    return {
        "seq": event.seq,
        "kind": event.kind,
        "author": event.author,
        "delegation": event.delegation_id,
        "at": event.stamp.at,
        **event_values(event),
    }


def turn_state(events: Sequence[Event]) -> str:
    """The state of a turn after these events: how it ended, ``paused``, or ``running``."""
    for event in reversed(events):
        if isinstance(event, END_OF_TURN):
            return event.kind.removeprefix("turn_")
        if isinstance(event, TurnResumed):
            break
    return "running"
