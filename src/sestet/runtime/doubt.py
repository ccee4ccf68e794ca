"""Records calls that were given up half-way as in doubt, before their delegation or turn ends."""

import asyncio
import time
from itertools import count

from sestet.core.effects import can_be_in_doubt, effects_of, open_calls, tool_name
from sestet.core.event import Stamp, ToolCalled, ToolFinished, TurnCancelled
from sestet.core.label import CLEAN
from sestet.core.message import ToolCall
from sestet.runtime.prompts import say, tell
from sestet.runtime.turn import AgentRun, Turn
from sestet.storage.journal import TurnRow
from sestet.storage.turn_log import TurnLog


def give_up(turn: Turn, cause: str, delegation_id: str | None = None) -> str:
    """Record that the open calls of a delegation, or of the turn, are in doubt. Returns it for the model."""
    told: list[str] = []
    for call_id, intent in list(turn.open.items()):
        if delegation_id not in (None, intent.delegation_id):
            continue
        del turn.open[call_id]
        if can_be_in_doubt(intent):
            doubt = _in_doubt(intent, turn.stamp(intent.author, intent.delegation_id), cause)
            turn.record(doubt)
            told.append(doubt.text)
    return " ".join(told)


async def settle_intent(run: AgentRun, call: ToolCall) -> None:
    """Wait until the intent of a call is written: a call that is stopped before that has not begun."""
    turn = run.turn
    try:
        await turn.settle()
    except asyncio.CancelledError:
        intent = turn.open.pop(call.id, None)
        if intent is not None and turn.error is None:
            words = {"tool": tool_name(intent)}
            text, for_person = say("not_begun", **words), tell("not_begun", **words)
            turn.record(ToolFinished(run.stamp(), call, "refused", text, 0.0, CLEAN, for_person))
        raise


async def abandon(log: TurnLog, row: TurnRow) -> tuple[ToolFinished, ...]:
    """End a turn that no process runs. Returns its calls in doubt."""
    seqs = count(await log.last_seq(row.id) + 1)

    def stamp(author: str, delegation_id: str = "") -> Stamp:
        return Stamp(row.session_id, row.id, next(seqs), author, delegation_id, time.time())

    events = await log.past_of(row.id)
    doubts = tuple(
        _in_doubt(intent, stamp(intent.author, intent.delegation_id), "the turn was given up")
        for intent in open_calls(events).values()
        if can_be_in_doubt(intent)
    )
    end = TurnCancelled(stamp("user"), effects_of((*events, *doubts)))
    await log.append(*doubts, end, patient=True)
    return doubts


def _in_doubt(intent: ToolCalled, stamp: Stamp, cause: str) -> ToolFinished:
    """The result of a call that nobody waits for any more."""
    words = {"tool": tool_name(intent), "cause": cause.rstrip(".")}
    text, for_person = say("given_up", **words), tell("given_up", **words)
    return ToolFinished(stamp, intent.call, "in_doubt", text, 0.0, CLEAN, for_person)
