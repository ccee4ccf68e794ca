"""One tool call: validate → policy → approve → run → record. No exception of a tool gets past here."""

import asyncio
import json
import logging
import time
from collections.abc import Coroutine
from typing import Literal, NamedTuple

from sestet.core.errors import ToolError, told
from sestet.core.event import ToolFinished
from sestet.core.label import CLEAN, Label, Labelled
from sestet.core.message import ToolCall, ToolMessage, whole
from sestet.core.schema import JsonValue, find_problems
from sestet.core.tool import CallInfo, Tool, ToolFunction
from sestet.runtime.approval import Gatekeeper
from sestet.runtime.prompts import say
from sestet.runtime.turn import AgentRun, Turn, is_stopped_by
from sestet.storage.approvals import canonical

_log = logging.getLogger("sestet.runtime")


class ToolAnswer(NamedTuple):
    """None as a message: a person was asked, and the answer comes later."""

    message: ToolMessage | None
    #: The model's own mistake: a tool it does not have, or arguments that do not fit.
    mistake: bool = False


class _Result(NamedTuple):
    outcome: Literal["ok", "error", "in_doubt"]
    text: str
    label: Label
    #: The tool gave nothing at all.
    is_none: bool = False


async def call_tool(turn: Turn, run: AgentRun, call: ToolCall, gatekeeper: Gatekeeper) -> ToolAnswer:
    """Answer one call of a specialist, whatever happens."""
    tool = next((tool for tool in run.agent.tools or () if tool.name == call.name), None)
    if tool is None or tool.function is None:
        names = ", ".join(tool.name for tool in run.agent.tools or () if tool.function) or "none"
        return _refuse(turn, run, call, say("not_yours", tool=call.name, tools=names), mistake=True)
    if problems := _argument_problems(tool, call):
        return _refuse(turn, run, call, say("bad_arguments", tool=call.name, problems=problems), mistake=True)
    turn.tool_calls[tool.name] += 1
    if (done := turn.replay.answers.get(call.id)) is not None:
        run.label |= done.label
        return ToolAnswer(_message(turn, call, done.text, failed=done.outcome != "ok"))
    if call.id in turn.replay.intents:
        return await _finish(turn, run, tool, call, _recover(turn, run, tool, call, gatekeeper))
    if tool.calls_per_turn is not None and turn.tool_calls[tool.name] > tool.calls_per_turn:
        return _refuse(turn, run, call, say("call_limit", tool=tool.name, limit=str(tool.calls_per_turn)))
    clearance = gatekeeper.clear(turn, run, tool, call)
    if clearance.decision == "wait":
        return ToolAnswer(None)
    if clearance.decision == "no":
        return _refuse(turn, run, call, clearance.text, outcome="denied")
    if not gatekeeper.start(turn, run, tool, call, clearance.approval_id):
        return _refuse(turn, run, call, say("nobody_answered", tool=tool.name), outcome="denied")
    if tool.recovery != "pure":
        await turn.settle()
    return await _finish(turn, run, tool, call, _invoke(turn, run, tool, call, tool.function))


async def _finish(
    turn: Turn, run: AgentRun, tool: Tool, call: ToolCall, work: Coroutine[None, None, _Result]
) -> ToolAnswer:
    """Do the work and record its result."""
    started = time.monotonic()
    outcome, text, label, _ = await work
    run.label |= label
    milliseconds = (time.monotonic() - started) * 1000
    stamp = turn.stamp(run.agent.name, run.delegation_id)
    turn.record(ToolFinished(stamp, call, outcome, text, milliseconds, label))
    return ToolAnswer(_message(turn, call, text, failed=outcome != "ok"))


async def _recover(turn: Turn, run: AgentRun, tool: Tool, call: ToolCall, gatekeeper: Gatekeeper) -> _Result:
    """The process died between intent and result: what may be done about it is data on the tool."""
    may_repeat = gatekeeper.may_repeat(turn, run, tool, call)
    if tool.recovery in ("pure", "keyed") and may_repeat:
        return await _invoke(turn, run, tool, call, tool.function)
    if tool.recovery == "probe" and tool.probe is not None:
        found = await _invoke(turn, run, tool, call, tool.probe)
        if found.outcome == "ok" and found.is_none and may_repeat:
            return await _invoke(turn, run, tool, call, tool.function)
        if found.outcome == "ok" and not found.is_none:
            return found
    return _Result("in_doubt", say("in_doubt", tool=tool.name), tool.label(run.agent.name))


async def _invoke(
    turn: Turn, run: AgentRun, tool: Tool, call: ToolCall, function: ToolFunction | None
) -> _Result:
    assert function is not None  # call_tool refuses a tool without a function
    info = CallInfo(turn.session_id, turn.id, run.agent.name, call.id, run.label, turn.text)
    label, clock = tool.label(run.agent.name), asyncio.timeout(tool.timeout)
    try:
        async with clock:
            value = await function(*((info,) if tool.needs else ()), **call.arguments)
        if isinstance(value, Labelled):
            return _Result("ok", _as_text(value.value), value.label, value.value is None)
        return _Result("ok", _as_text(value), CLEAN if _is_fixed(tool, value) else label, value is None)
    except ToolError as error:
        return _Result("error", whole(str(error)), label)
    # A library may give up with anything, even with what would end this process.
    except BaseException as error:
        if is_stopped_by(error):
            raise
        if isinstance(error, TimeoutError) and clock.expired():
            text = f"'{tool.name}' took longer than {tool.timeout:g} seconds and was stopped"
            return _Result("error", text, label)
        _log.exception("the tool '%s' raised", tool.name)
        return _Result("error", whole(f"'{tool.name}' failed: {told(error)}"), label)


def _refuse(
    turn: Turn,
    run: AgentRun,
    call: ToolCall,
    text: str,
    *,
    outcome: Literal["refused", "denied"] = "refused",
    mistake: bool = False,
) -> ToolAnswer:
    stamp = turn.stamp(run.agent.name, run.delegation_id)
    turn.record(ToolFinished(stamp, call, outcome, text, 0.0, CLEAN))
    return ToolAnswer(_message(turn, call, text, failed=True), mistake)


def _message(turn: Turn, call: ToolCall, text: str, *, failed: bool) -> ToolMessage:
    return ToolMessage(call.id, call.name, clip(text, turn.limits.tool_output), failed)


def _argument_problems(tool: Tool, call: ToolCall) -> str:
    if call.malformed:
        return f"they are not a JSON object: {clip(call.malformed, 200)}"
    problems = find_problems(tool.parameters, dict(call.arguments))
    return "; ".join(f"{problem.where} {problem.message}".strip() for problem in problems)


def _is_fixed(tool: Tool, value: JsonValue) -> bool:
    """A result that cannot carry anybody's text leaves the label as it is."""
    return tool.fixed_result is not None and not find_problems(tool.fixed_result, value)


def _as_text(value: JsonValue) -> str:
    return whole(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def clip(text: str, limit: int) -> str:
    """The head and the tail of a text that is too long, with what was left out in between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def call_key(call: ToolCall) -> str:
    """Two calls with the same key are the same call, however their arguments are ordered."""
    return f"{call.name} {canonical(call.arguments)} {call.malformed}"
