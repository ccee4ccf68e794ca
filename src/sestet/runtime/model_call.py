"""One model call: its text is streamed as it arrives, and its whole reply is recorded."""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import cast

from sestet.core.errors import LimitError, ModelError, StorageError, told
from sestet.core.event import ModelCalled, ModelRetried, PriceUnknown, TextStreamed
from sestet.core.message import ToolCall, plain_object, whole
from sestet.core.model import (
    CHARACTERS_PER_TOKEN,
    Model,
    ModelReply,
    ModelRequest,
    Setback,
    StreamGuard,
    TextDelta,
    Usage,
    require_length,
)
from sestet.core.record import convert
from sestet.core.scanner import HeldBackText
from sestet.core.tool import Tool
from sestet.runtime.history import shortened
from sestet.runtime.reply_text import RejectFilter
from sestet.runtime.scan import clean_reply, clean_request
from sestet.runtime.sight import record_seen
from sestet.runtime.steering import has_unread_words, read_words
from sestet.runtime.stopping import is_stopped_by
from sestet.runtime.turn import AgentRun

_log = logging.getLogger("sestet.runtime")
#: More than any reply uses; every reader of JSON can hold it exactly.
_MOST_USED = 2**53


async def ask_model(run: AgentRun, model: Model, tools: tuple[Tool, ...]) -> ModelReply:
    """Ask the model of one agent. A rejection is never streamed to the person."""
    turn = run.turn
    recorded = turn.replay.next_reply(run.delegation_id)
    if has_unread_words(run):
        read_words(run, recorded.steered if recorded else len(turn.steered))
    if recorded is not None:
        run.calls += len(recorded.calls)
        run.left_out = recorded.calls_left_out
        run.usage += recorded.usage
        return ModelReply(recorded.text, recorded.calls, recorded.usage)
    await turn.safe_point()
    turn.spend_model_call()
    await turn.settle()
    started = time.monotonic()
    try:
        reply, request = await _ask(run, model, tools)
    except ModelError as error:
        _make_room(run, model, error)
        reply, request = await _ask(run, model, tools)
    milliseconds = (time.monotonic() - started) * 1000
    estimated = _estimate(run, reply)
    facts = (reply.model, reply.text, reply.calls, reply.usage, milliseconds, run.left_out, estimated)
    seen = record_seen(run, request)
    turn.record(ModelCalled(run.stamp(), *facts, reply.free, run.steered, seen))
    _tell_unknown_price(run, reply)
    run.usage += reply.usage
    turn.usage += reply.usage
    turn.estimated_tokens += estimated
    return reply


async def _ask(run: AgentRun, model: Model, tools: tuple[Tool, ...]) -> tuple[ModelReply, ModelRequest]:
    """One reply in the form that is recorded, with its request; its text is shown as it arrives."""
    scanner = run.turn.scanner
    request = ModelRequest(run.agent.name, run.agent.instruction, tuple(run.messages), tools)
    request = clean_request(scanner, request)
    visible, task = RejectFilter(hold_opening=bool(run.delegation_id)), asyncio.current_task()
    harmless = HeldBackText(scanner)
    guard, reply = StreamGuard(model), None
    try:
        async with aclosing(model.stream(request)) as stream:
            async for item in stream:
                if guard.count(item):
                    await asyncio.sleep(0)
                match item:
                    case TextDelta():
                        show_piece(run, harmless.feed(visible.feed(item.text)))
                    case Setback():
                        run.turn.record(ModelRetried(run.stamp(), *convert(tuple(item), Setback)))
                    case ModelReply():
                        reply = item
        if reply is None:
            raise ModelError(f"'{model.name}' ended without a reply")
        if not _is_sound(reply):
            raise ModelError(f"'{model.name}' gave a reply whose text, calls or usage are of a wrong form")
        require_length(model, len(reply.text))
        show_piece(run, harmless.feed(visible.rest()) + harmless.rest())
        # One call stays, so that its agent is told why it was not made.
        kept = reply.calls[: max(1, run.turn.calls_left)]
        run.left_out = len(reply.calls) - len(kept)
        calls = tuple(_with_id(run, call) for call in kept)
        facts = (calls, reply.usage, reply.model or model.name, reply.free)
        return clean_reply(scanner, ModelReply(whole(reply.text), *facts)), request
    except (ModelError, LimitError, StorageError):
        raise
    # A library may raise anything, even SystemExit.
    except BaseException as error:
        if is_stopped_by(error, task):
            raise
        _log.exception("the model '%s' raised", model.name)
        raise ModelError(whole(f"'{model.name}': {told(error)}")) from error


def _is_sound(reply: ModelReply) -> bool:
    """Whether the fields have the right types: a model may be written without a type checker."""
    text, calls, usage, model, _ = cast("tuple[object, Sequence[object], object, object, object]", reply)
    are_calls = all(isinstance(call, ToolCall) for call in calls)
    is_usage = isinstance(usage, Usage) and _are_counts(usage)
    return isinstance(text, str) and isinstance(model, str) and is_usage and are_calls


def _are_counts(usage: Usage) -> bool:
    """Whether the limits can count on it: the journal cannot read a fraction, and -1 would lift them."""
    for used in (usage.input_tokens, usage.output_tokens, usage.nano_dollars, usage.cached_tokens):
        if type(used) is not int or not 0 <= used < _MOST_USED:
            return False
    return True


def _with_id(run: AgentRun, call: ToolCall) -> ToolCall:
    """The call with an id of our own and arguments that JSON can hold."""
    try:
        arguments, malformed = plain_object(call.arguments), whole(call.malformed)
    except (TypeError, ValueError, RecursionError) as error:
        arguments, malformed = {}, str(error)
    return ToolCall(whole(call.name), arguments, run.new_call_id(), malformed)


def _make_room(run: AgentRun, model: Model, error: ModelError) -> None:
    """Shorten a context that was too long; raise the error again when nothing can be left out."""
    shorter = shortened(run.messages, run.past) if error.kind == "context_too_long" else None
    if shorter is None:
        raise error
    left_out = len(run.messages) - len(shorter)
    what = f"the oldest {left_out} messages" if left_out else "older results of tools"
    run.messages, run.past = shorter, max(0, run.past - left_out)
    text = f"{error} It is asked again without {what}."
    run.turn.record(ModelRetried(run.stamp(), model.name, error.kind, text, 0.0, model.name))


def _tell_unknown_price(run: AgentRun, reply: ModelReply) -> None:
    """Say once for each model that the limits of dollars do not hold for it."""
    turn, usage = run.turn, reply.usage
    limits = turn.limits.of_dollars
    if not limits or reply.free or usage.nano_dollars or reply.model in turn.unpriced:
        return
    turn.unpriced.add(reply.model)
    turn.record(PriceUnknown(run.stamp(), reply.model, limits))


def _estimate(run: AgentRun, reply: ModelReply) -> int:
    """The tokens of a call that the model did not count: they do not get past the limit. Else 0."""
    if reply.usage.input_tokens or reply.usage.output_tokens:
        return 0
    read = len(run.agent.instruction) + sum(len(message.text) for message in run.messages)
    return (read + len(reply.text)) // CHARACTERS_PER_TOKEN


def show_piece(run: AgentRun, text: str) -> None:
    """Show a piece of an agent's text as it comes."""
    if text:
        run.turn.record(TextStreamed(run.stamp(), whole(text)))
