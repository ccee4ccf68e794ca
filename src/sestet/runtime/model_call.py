"""One model call: its text is streamed as it comes, its whole reply is recorded."""

import logging
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import cast

from sestet.core.errors import ModelError, StorageError, told
from sestet.core.event import ModelCalled, ModelRetried, TextStreamed
from sestet.core.message import ToolCall, plain_object, whole
from sestet.core.model import Model, ModelReply, ModelRequest, Setback, TextDelta, Usage
from sestet.core.tool import Tool
from sestet.runtime.compaction import shortened
from sestet.runtime.reading import RejectFilter
from sestet.runtime.turn import AgentRun, Turn, is_stopped_by

_log = logging.getLogger("sestet.runtime")


async def ask_model(turn: Turn, run: AgentRun, model: Model, tools: tuple[Tool, ...]) -> ModelReply:
    """Ask the model of one agent; a rejection is never streamed."""
    if (recorded := turn.replay.next_reply(run.delegation_id)) is not None:
        turn.count_past_call()
        run.calls += len(recorded.calls)
        return _spent(turn, run, ModelReply(recorded.text, recorded.calls, recorded.usage))
    turn.spend_model_call()
    await turn.settle()
    started = time.monotonic()
    try:
        reply = await _ask(turn, run, model, tools)
    except ModelError as error:
        _make_room(turn, run, model, error)
        reply = await _ask(turn, run, model, tools)
    milliseconds = (time.monotonic() - started) * 1000
    stamp = turn.stamp(run.agent.name, run.delegation_id)
    turn.record(ModelCalled(stamp, reply.model, reply.text, reply.calls, reply.usage, milliseconds))
    return _spent(turn, run, reply)


async def _ask(turn: Turn, run: AgentRun, model: Model, tools: tuple[Tool, ...]) -> ModelReply:
    """One reply as it is recorded, its text shown as it comes."""
    request = ModelRequest(run.agent.name, run.agent.instruction, tuple(run.messages), tools)
    visible = RejectFilter()
    reply: ModelReply | None = None
    try:
        async with aclosing(model.stream(request)) as stream:
            async for item in stream:
                match item:
                    case TextDelta():
                        _show(turn, run, visible.feed(item.text))
                    case Setback():
                        turn.record(ModelRetried(turn.stamp(run.agent.name, run.delegation_id), *item))
                    case ModelReply():
                        reply = item
        if reply is None:
            raise ModelError(f"'{model.name}' ended without a reply")
        if not _is_sound(reply):
            raise ModelError(
                f"'{model.name}' gave a reply with something else than a text, calls and a usage"
            )
        _show(turn, run, visible.rest())
        calls = tuple(_with_id(run, call) for call in reply.calls)
        return ModelReply(whole(reply.text), calls, reply.usage, reply.model or model.name)
    except (ModelError, StorageError):
        raise
    # A library may give up with anything, even with what would end this process.
    except BaseException as error:
        if is_stopped_by(error):
            raise
        _log.exception("the model '%s' raised", model.name)
        raise ModelError(whole(f"'{model.name}': {told(error)}")) from error


def _is_sound(reply: ModelReply) -> bool:
    """Whether it holds what it has to: whoever writes a model need not have a type checker."""
    text, calls, usage, _ = cast("tuple[object, Sequence[object], object, object]", reply)
    are_calls = all(isinstance(call, ToolCall) for call in calls)
    return isinstance(text, str) and isinstance(usage, Usage) and are_calls


def _with_id(run: AgentRun, call: ToolCall) -> ToolCall:
    """A call under an id of our own, with arguments that JSON can hold."""
    try:
        arguments, malformed = plain_object(call.arguments), whole(call.malformed)
    except (TypeError, ValueError, RecursionError) as error:
        arguments, malformed = {}, str(error)
    return ToolCall(whole(call.name), arguments, run.new_call_id(), malformed)


def _make_room(turn: Turn, run: AgentRun, model: Model, error: ModelError) -> None:
    """After a context that was too long: a shorter one, or the error again when there is none."""
    shorter = shortened(run.messages, run.past) if error.kind == "context_too_long" else None
    if shorter is None:
        raise error
    left_out = len(run.messages) - len(shorter)
    what = f"the oldest {left_out} messages" if left_out else "older results of tools"
    run.messages, run.past = shorter, max(0, run.past - left_out)
    stamp = turn.stamp(run.agent.name, run.delegation_id)
    text = f"{error} It is asked again without {what}."
    turn.record(ModelRetried(stamp, model.name, error.kind, text, 0.0, model.name))


def _spent(turn: Turn, run: AgentRun, reply: ModelReply) -> ModelReply:
    run.usage += reply.usage
    turn.usage += reply.usage
    return reply


def _show(turn: Turn, run: AgentRun, text: str) -> None:
    if text:
        turn.record(TextStreamed(turn.stamp(run.agent.name, run.delegation_id), whole(text)))
