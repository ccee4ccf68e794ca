"""One model call: its text is streamed as it comes, its whole reply is recorded."""

import logging
import time
from contextlib import aclosing

from sestet.core.errors import ModelError, SestetError
from sestet.core.event import ModelCalled, TextStreamed
from sestet.core.message import ToolCall
from sestet.core.model import Model, ModelReply, ModelRequest, TextDelta
from sestet.core.tool import Tool
from sestet.runtime.reading import RejectFilter
from sestet.runtime.turn import AgentRun, Turn

_log = logging.getLogger("sestet.runtime")


async def ask_model(turn: Turn, run: AgentRun, model: Model, tools: tuple[Tool, ...]) -> ModelReply:
    """Ask the model of one agent; a rejection is never streamed."""
    if (recorded := turn.replay.next_reply(run.delegation_id)) is not None:
        turn.count_past_call()
        run.calls += len(recorded.calls)
        return _spent(turn, run, ModelReply(recorded.text, recorded.calls, recorded.usage))
    turn.spend_model_call()
    await turn.settle()
    request = ModelRequest(run.agent.name, run.agent.instruction, tuple(run.messages), tools)
    started = time.monotonic()
    visible = RejectFilter()
    reply: ModelReply | None = None
    try:
        async with aclosing(model.stream(request)) as stream:
            async for item in stream:
                if isinstance(item, TextDelta):
                    _show(turn, run, visible.feed(item.text))
                else:
                    reply = item
    except SestetError:
        raise
    except Exception as error:
        _log.exception("the model '%s' raised", model.name)
        raise ModelError(f"'{model.name}': {type(error).__name__}: {error}") from error
    if reply is None:
        raise ModelError(f"'{model.name}' ended without a reply")
    _show(turn, run, visible.rest())
    calls = tuple(ToolCall(c.name, c.arguments, run.new_call_id(), c.malformed) for c in reply.calls)
    reply = ModelReply(reply.text, calls, reply.usage)
    milliseconds = (time.monotonic() - started) * 1000
    stamp = turn.stamp(run.agent.name, run.delegation_id)
    turn.record(ModelCalled(stamp, model.name, reply.text, reply.calls, reply.usage, milliseconds))
    return _spent(turn, run, reply)


def _spent(turn: Turn, run: AgentRun, reply: ModelReply) -> ModelReply:
    run.usage += reply.usage
    turn.usage += reply.usage
    return reply


def _show(turn: Turn, run: AgentRun, text: str) -> None:
    if text:
        turn.record(TextStreamed(turn.stamp(run.agent.name, run.delegation_id), text))
