"""One tool call: validate → policy → run → record. No exception of a tool gets past here."""

import asyncio
import json
import logging
import time
from typing import Literal, NamedTuple

from sestet.core.errors import ToolError
from sestet.core.event import ToolCalled, ToolFinished
from sestet.core.message import ToolCall, ToolMessage
from sestet.core.schema import JsonValue, find_problems
from sestet.core.tool import CallInfo, Tool
from sestet.runtime.prompts import say
from sestet.runtime.turn import AgentRun, Turn

_log = logging.getLogger("sestet.runtime")


class ToolAnswer(NamedTuple):
    message: ToolMessage
    #: The model's own mistake: a tool it does not have, or arguments that do not fit.
    mistake: bool


async def call_tool(turn: Turn, run: AgentRun, call: ToolCall) -> ToolAnswer:
    """Answer one call of a specialist, whatever happens."""
    tool = next((tool for tool in run.agent.tools or () if tool.name == call.name), None)
    if tool is None:
        names = ", ".join(tool.name for tool in run.agent.tools or ()) or "none"
        return _refuse(turn, run, call, say("not_yours", tool=call.name, tools=names), mistake=True)
    if problems := _argument_problems(tool, call):
        return _refuse(turn, run, call, say("bad_arguments", tool=call.name, problems=problems), mistake=True)
    # Approvals are asked of a person; until somebody can be asked, the answer is no.
    if tool.risk != "safe" or tool.function is None:
        return _refuse(turn, run, call, say("refused", tool=call.name))
    turn.tool_calls[tool.name] += 1
    if tool.calls_per_turn is not None and turn.tool_calls[tool.name] > tool.calls_per_turn:
        return _refuse(turn, run, call, say("call_limit", tool=tool.name, limit=str(tool.calls_per_turn)))
    return await _run(turn, run, tool, call)


async def _run(turn: Turn, run: AgentRun, tool: Tool, call: ToolCall) -> ToolAnswer:
    turn.record(ToolCalled(turn.stamp(run.agent.name, run.delegation_id), call))
    started = time.monotonic()
    outcome: Literal["ok", "error"] = "error"
    try:
        async with asyncio.timeout(tool.timeout):
            text = _as_text(await _invoke(turn, run, tool, call))
        outcome = "ok"
    except ToolError as error:
        text = str(error)
    except TimeoutError:
        text = f"'{tool.name}' took longer than {tool.timeout:g} seconds and was stopped"
    except Exception as error:
        _log.exception("the tool '%s' raised", tool.name)
        text = f"'{tool.name}' failed: {type(error).__name__}: {error}"
    milliseconds = (time.monotonic() - started) * 1000
    turn.record(
        ToolFinished(turn.stamp(run.agent.name, run.delegation_id), call, outcome, text, milliseconds)
    )
    shown = clip(text, turn.limits.tool_output)
    return ToolAnswer(ToolMessage(call.id, call.name, shown, failed=outcome == "error"), mistake=False)


async def _invoke(turn: Turn, run: AgentRun, tool: Tool, call: ToolCall) -> JsonValue:
    assert tool.function is not None  # call_tool refuses a tool without a function
    if tool.needs == (CallInfo,):
        info = CallInfo(turn.session_id, turn.id, run.agent.name, call.id)
        return await tool.function(info, **call.arguments)
    return await tool.function(**call.arguments)


def _refuse(turn: Turn, run: AgentRun, call: ToolCall, text: str, *, mistake: bool = False) -> ToolAnswer:
    turn.record(ToolFinished(turn.stamp(run.agent.name, run.delegation_id), call, "refused", text, 0.0))
    return ToolAnswer(ToolMessage(call.id, call.name, text, failed=True), mistake)


def _argument_problems(tool: Tool, call: ToolCall) -> str:
    if call.malformed:
        return f"they are not a JSON object: {clip(call.malformed, 200)}"
    problems = find_problems(tool.parameters, dict(call.arguments))
    return "; ".join(f"{problem.where} {problem.message}".strip() for problem in problems)


def _as_text(value: JsonValue) -> str:
    if isinstance(value, str):
        # What SQLite and JSON cannot hold must not end a turn.
        return value.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(value, ensure_ascii=False)


def clip(text: str, limit: int) -> str:
    """The head and the tail of a text that is too long, with what was left out in between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def call_key(call: ToolCall) -> str:
    """Two calls with the same key are the same call, however their arguments are ordered."""
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)} {call.malformed}"
