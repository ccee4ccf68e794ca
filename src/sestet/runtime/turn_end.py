"""Builds the last event of a turn: its end and its effects. Open calls are recorded as in doubt first."""

from collections.abc import Iterator

from sestet.core.effects import effects_of
from sestet.core.event import (
    Effects,
    Event,
    MemoryRecalled,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
)
from sestet.core.label import Label
from sestet.core.words import ended
from sestet.runtime.claims import unsupported_claims
from sestet.runtime.doubt import give_up
from sestet.runtime.turn import Outcome, Turn


def end_of(turn: Turn, root: str, outcome: Outcome, label: Label) -> Event:
    """The last event of a turn whose root agent came to this outcome."""
    if outcome.kind == "ok":
        give_up(turn, "the turn has ended")
        stamp, effects = turn.stamp(outcome.author), _effects(turn)
        claims = unsupported_claims(outcome.text, turn.text, effects, _texts_read(turn)) if effects else ()
        facts = (outcome.text, turn.usage, turn.milliseconds, label)
        return TurnFinished(stamp, *facts, outcome.cause, effects, claims)
    if outcome.kind == "paused":
        return TurnPaused(turn.stamp(root), tuple(turn.waiting_for), _effects(turn))
    return failed(turn, root, outcome.kind, outcome.cause or outcome.kind, label)


def failed(turn: Turn, root: str, kind: str, detail: str, label: Label) -> TurnFailed:
    """The end of a turn without a reply, with a sentence for the person and the bare reason."""
    detail = detail.rstrip(".")
    give_up(turn, detail)
    text = f"I could not answer: {ended(detail)}"
    used = (turn.usage, turn.milliseconds)
    return TurnFailed(turn.stamp(root), kind, text, label, detail, *used, _effects(turn))


def cancelled(turn: Turn) -> TurnCancelled:
    give_up(turn, "the turn was stopped")
    return TurnCancelled(turn.stamp("user"), _effects(turn), turn.usage, turn.milliseconds)


def may_have_stored(turn: Turn) -> bool:
    """Whether a call of the turn may have changed something, such as texts that the background work reads."""
    calls = (event for event in turn.log if isinstance(event, ToolCalled))
    return turn.resumed or any(call.effect != "none" for call in calls)


def _effects(turn: Turn) -> Effects | None:
    return effects_of((*turn.replay.acts, *turn.log))


def _texts_read(turn: Turn) -> Iterator[str]:
    """The texts that tools and memory gave to the agents of the turn."""
    for event in (*turn.replay.acts, *turn.log):
        if isinstance(event, ToolFinished | MemoryRecalled):
            yield event.text
