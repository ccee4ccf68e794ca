"""A whole turn as one value, for a caller that does not want its events."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal, TypeAlias

from sestet.core.event import (
    END_OF_TURN,
    DelegationFinished,
    Effects,
    Event,
    ModelCalled,
    ToolFinished,
    TurnFailed,
    TurnFinished,
    TurnPaused,
)
from sestet.core.model import Usage
from sestet.core.record import Record

TurnOutcome: TypeAlias = Literal["finished", "failed", "cancelled", "paused"]
_OUTCOMES: dict[str, TurnOutcome] = {
    "turn_finished": "finished",
    "turn_failed": "failed",
    "turn_cancelled": "cancelled",
    "turn_paused": "paused",
}


class Answer(Record):
    """How a turn ended, and what the person is told."""

    #: Empty if the turn was cancelled or waits for a decision.
    text: str
    outcome: TurnOutcome
    session_id: str
    turn_id: str
    #: The agent whose words the text is.
    agent: str
    #: Of every model call of the turn.
    usage: Usage
    #: What the turn did, from the journal.
    effects: Effects
    #: Tools whose calls were denied, and remote agents that were sent nothing.
    denied: tuple[str, ...] = ()
    #: The questions that have to be decided before the turn goes on.
    waiting_for: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


def denied_name(event: Event) -> str:
    """The tool whose call was denied, or the remote agent to which nothing was sent; else empty."""
    if isinstance(event, ToolFinished) and event.outcome == "denied":
        return event.call.name
    return event.agent if isinstance(event, DelegationFinished) and event.denied else ""


async def read_answer(turn: AsyncGenerator[Event]) -> Answer:
    """Read a turn to its end."""
    usage, denied, end = Usage(), dict[str, None](), None
    async with aclosing(turn) as events:
        async for event in events:
            if isinstance(event, ModelCalled):
                usage += event.usage
            elif name := denied_name(event):
                denied[name] = None
            elif isinstance(event, END_OF_TURN):
                end = event
    assert end is not None  # every turn ends in exactly one of these
    return Answer(
        text=end.text if isinstance(end, TurnFinished | TurnFailed) else "",
        outcome=_OUTCOMES[end.kind],
        session_id=end.stamp.session_id,
        turn_id=end.stamp.turn_id,
        agent=end.author,
        usage=usage,
        effects=end.effects or Effects(),
        denied=tuple(denied),
        waiting_for=end.waiting_for if isinstance(end, TurnPaused) else (),
    )
