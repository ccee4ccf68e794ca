"""A turn in words for a person: its calls, its end, its effects."""

import json
from collections.abc import Sequence
from typing import TypeAlias, TypeGuard, assert_never

from sestet.core.clean import one_line, reveal
from sestet.core.event import (
    DelegationFinished,
    Event,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
)
from sestet.core.message import ToolCall

_ARGUMENT_WIDTH = 60
_TEXT_WIDTH = 200
#: How many items of each kind are named, and how many characters of each.
_MOST_NAMED, _WIDTH = 4, 60
#: The words before the items, by the field of ``Effects``.
_WORDS = {
    "changed": "changed",
    "sent": "sent",
    "paid": "paid",
    "failed": "tried, failed",
    "in_doubt": "in doubt",
}

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


def count_turns(number: int) -> str:
    return f"{number} turn{'' if number == 1 else 's'}"


def is_in_doubt(event: Event) -> TypeGuard[ToolFinished]:
    return isinstance(event, ToolFinished) and event.outcome == "in_doubt"


def is_finding(event: Event) -> TypeGuard[DelegationFinished]:
    """Whether a specialist has answered."""
    return isinstance(event, DelegationFinished) and event.outcome == "ok" and bool(event.text.strip())


def past_findings(events: Sequence[Event]) -> list[DelegationFinished]:
    """The findings of a turn that are not in its answer."""
    answer = next((event.text for event in events if isinstance(event, TurnFinished)), "")
    return [event for event in events if is_finding(event) and event.text.strip() not in answer]


def call_text(call: ToolCall) -> str:
    """``fs_read path=README.md``"""
    arguments = (f"{one_line(reveal(name), 30)}={_argument(value)}" for name, value in call.arguments.items())
    return " ".join((one_line(reveal(call.name), 64), *arguments))


def _argument(value: object) -> str:
    plain = isinstance(value, str) and value and not any(c.isspace() or c in "\"'=" for c in value)
    text = value if plain and isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(reveal(text), _ARGUMENT_WIDTH)


def refusal_text(event: ToolFinished) -> str:
    """Why a call was not made. ``text`` is never shown: it instructs the model."""
    return one_line(event.for_person, _TEXT_WIDTH) or "not done"


def in_doubt_text(event: ToolFinished) -> str:
    """The alarm about a call that was cut off: it may or may not have taken effect."""
    return (
        f"!! IN DOUBT: {event.author} · {call_text(event.call)} was cut off. "
        "It may have taken effect, and was not repeated: check it yourself."
    )


def effects_text(end: End) -> str:
    """``changed: notes.txt · sent: bob@example.org``; empty if an earlier version recorded the turn."""
    if end.effects is None:
        return ""
    told = [
        f"{word}: {_named(items)}" for field, word in _WORDS.items() if (items := getattr(end.effects, field))
    ]
    line = " · ".join(told) or "changed: nothing"
    return f"so far {line}" if isinstance(end, TurnPaused) else line


def _named(items: tuple[str, ...]) -> str:
    shown = ", ".join(one_line(reveal(item), _WIDTH) for item in items[:_MOST_NAMED])
    more = len(items) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def claim_warning(end: End) -> str:
    """The warning about an answer that claims an effect which the journal does not have; else empty."""
    if not isinstance(end, TurnFinished) or not end.unsupported:
        return ""
    kinds = " and ".join(end.unsupported)
    return f"⚠ The answer says that something was {kinds}. In this turn nothing was."
