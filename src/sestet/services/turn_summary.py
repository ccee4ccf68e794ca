"""A turn and a conversation as JSON: state, answer, effects, usage and every event."""

import re
from collections.abc import Iterable, Mapping, Sequence

from sestet.core.event import (
    END_OF_TURN,
    PIECES,
    Event,
    ModelCalled,
    TurnFailed,
    TurnFinished,
    TurnResumed,
)
from sestet.core.model import Usage
from sestet.core.words import stem
from sestet.services.approvals import Question, describe_question
from sestet.services.excerpt import excerpt
from sestet.services.sessions import Exchange, SessionRow, event_values
from sestet.services.turn_text import is_in_doubt

#: Characters of an excerpt.
_SHOWN = 400


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


def describe_session(row: SessionRow) -> dict[str, object]:
    return row._asdict()


def describe_conversation(row: SessionRow, turns: Iterable[Sequence[Event]]) -> dict[str, object]:
    """A whole conversation with every event."""
    return {**describe_session(row), "turns": [describe_turn(turn) for turn in turns]}


def describe_exchange(found: Exchange, query: str, titles: Mapping[str, str]) -> dict[str, object]:
    """A turn that was found, with the parts of its texts around the words."""
    words = stems(query)
    return {
        "session": found.session_id,
        "title": titles.get(found.session_id, ""),
        "turn": found.turn_id,
        "at": found.at,
        "asked": excerpt(found.asked, words, _SHOWN),
        "answered": excerpt(found.answered, words, _SHOWN),
    }


def stems(query: str) -> list[str]:
    """The words of a query without their endings, as the index finds them."""
    return [stem(word) for word in re.findall(r"\w+", query)]
