"""One tool call: a list of checks around the tool's function. No exception of a tool gets past here."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from sestet.core.effects import can_be_in_doubt
from sestet.core.errors import BusyError, InDoubtError, ToolError, told
from sestet.core.event import ToolFinished
from sestet.core.label import CLEAN, Findings, Label, Labelled, error_label
from sestet.core.message import Found, ToolCall, ToolMessage, whole
from sestet.core.record import as_dict, convert, replace
from sestet.core.schema import JsonValue, find_problems
from sestet.core.tool import CallInfo, Preview, Tool, ToolFunction
from sestet.core.words import duration
from sestet.runtime.approval import Clearance, Gatekeeper, refusal
from sestet.runtime.doubt import settle_intent
from sestet.runtime.gate import names_address
from sestet.runtime.scan import clean_found
from sestet.runtime.stopping import is_stopped_by
from sestet.runtime.tool_output import OutputStream
from sestet.runtime.tool_step import ToolStep
from sestet.runtime.turn import AgentRun
from sestet.storage.approvals import canonical
from sestet.storage.lock_wait import LockWait

_log = logging.getLogger("sestet.runtime")


class ToolResult(NamedTuple):
    """What became of one call: the tool's own result, or the refusal of a check."""

    outcome: Literal["ok", "error", "refused", "denied", "in_doubt"]
    text: str
    milliseconds: float = 0.0
    #: What the text adds to the context that reads it.
    label: Label = CLEAN
    #: The text for the person, where ``text`` instructs the model.
    for_person: str = ""
    #: The sources that an answer may cite.
    citations: tuple[str, ...] = ()
    #: The model's own mistake: a tool that it does not have, or arguments that do not fit.
    mistake: bool = False
    found: tuple[Found, ...] = ()
    #: The tool says that the call had no effect.
    no_effect: bool = False
    #: The tool returned None.
    is_none: bool = False


class ToolAnswer(NamedTuple):
    """The message for the model. None: the call waits for a person's decision."""

    message: ToolMessage | None
    mistake: bool = False


#: Answers a call; None means that the call waits for a person.
Answer: TypeAlias = Callable[[ToolStep], Awaitable[ToolResult | None]]
#: A check gets the call and the rest of the list: it answers the call itself, or lets the rest answer.
Check: TypeAlias = Callable[[ToolStep, Answer], Awaitable[ToolResult | None]]


class ToolCalls:
    """Answers the tool calls of all agents."""

    def __init__(self, gatekeeper: Gatekeeper) -> None:
        self._gatekeeper = gatekeeper
        #: The first check sees a call first and its result last.
        checks = (
            _clip_text,
            _record_result,
            _scan_result,
            # What the journal says comes before any check: tools, agents and rules may have changed since.
            _reuse_recorded_result,
            self._recover_after_crash,
            _check_arguments,
            _limit_calls,
            _look_ahead,
            self._ask_for_approval,
        )
        self._answer = _compose(checks, _run_tool)

    async def answer(self, run: AgentRun, call: ToolCall) -> ToolAnswer:
        """Answer one call of an agent, whatever happens."""
        tool = next((tool for tool in run.agent.tools or () if tool.name == call.name), None)
        declared = (tool or Tool(call.name)).for_call(call.arguments)
        result = await self._answer(ToolStep(run, declared, call))
        if result is None:
            return ToolAnswer(None)
        failed, texts = result.outcome != "ok", (result.for_person, result.citations, result.found)
        return ToolAnswer(ToolMessage(call.id, call.name, result.text, failed, *texts), result.mistake)

    async def _recover_after_crash(self, step: ToolStep, proceed: Answer) -> ToolResult | None:
        """The process died between intent and result: the tool declares what can be done then."""
        run, tool, call, turn = step.run, step.tool, step.call, step.run.turn
        intent = turn.replay.intents.get(call.id)
        if intent is None:
            return await proceed(step)
        turn.tool_calls[tool.name] += 1
        unusable = _unusable(step)
        if not can_be_in_doubt(intent) and (unusable or not await self._gatekeeper.may_repeat(step)):
            return unusable or _refused(refusal("not_repeated", tool=tool.name))
        if unusable is None and (result := await self._repeat(step)) is not None:
            return result
        doubt = refusal("in_doubt", tool=tool.name)
        return ToolResult(
            "in_doubt", doubt.text, label=tool.label(run.agent.name), for_person=doubt.for_person
        )

    async def _repeat(self, step: ToolStep) -> ToolResult | None:
        """Run the call again if its tool allows that; None: it is in doubt."""
        tool = step.tool
        if tool.recovery == "unsafe":
            return None
        if tool.recovery == "probe" and tool.probe is not None:
            found = await _run_function(step, tool.probe)
            if found.outcome != "ok" or not found.is_none:
                return found if found.outcome == "ok" else None
        looked = await _previewed(step)
        if isinstance(looked, ToolResult):
            return looked
        return await _run_tool(looked) if await self._gatekeeper.may_repeat(looked) else None

    async def _ask_for_approval(self, step: ToolStep, proceed: Answer) -> ToolResult | None:
        """Policy, standing answers and the person decide; then the intent is written."""
        clearance = await self._gatekeeper.clear(step)
        if clearance.decision == "wait":
            return None
        if clearance.decision == "no":
            return _refused(clearance, "denied")
        await step.run.turn.safe_point()
        if not await self._gatekeeper.start(step, clearance):
            if clearance.overtakes:
                # The person has decided just now.
                return await self._ask_for_approval(step, proceed)
            return _refused(refusal("nobody_answered", tool=step.tool.name), "denied")
        if step.tool.recovery != "pure" or step.run.has_new_reply:
            step.run.has_new_reply = False
            await settle_intent(step.run, step.call)
        return await proceed(step)


def _compose(checks: Sequence[Check], last: Answer) -> Answer:
    for check in reversed(checks):
        last = _wrap(check, last)
    return last


def _wrap(check: Check, proceed: Answer) -> Answer:
    return lambda step: check(step, proceed)


async def _clip_text(step: ToolStep, proceed: Answer) -> ToolResult | None:
    """The model gets the head and the tail of a long result; the journal has all of it."""
    result = await proceed(step)
    return result and result._replace(text=clip(result.text, step.run.turn.limits.tool_output))


async def _record_result(step: ToolStep, proceed: Answer) -> ToolResult | None:
    result = await proceed(step)
    if result is not None:
        run, facts = step.run, result[:-1]
        run.label |= result.label
        if step.call.id not in run.turn.replay.answers:
            event = ToolFinished(run.stamp(), step.call, *facts)
            run.turn.record(event, repeatable=step.tool.recovery == "pure")
        run.turn.open.pop(step.call.id, None)
    return result


async def _scan_result(step: ToolStep, proceed: Answer) -> ToolResult | None:
    """No value of the vault enters a context, a row or a reply by way of a tool's result."""
    result, scanner = await proceed(step), step.run.turn.scanner
    if result is None or not scanner.watches:
        return result
    return result._replace(
        text=scanner.clean(result.text),
        for_person=scanner.clean(result.for_person),
        citations=tuple(map(scanner.clean, result.citations)),
        found=clean_found(scanner, result.found),
    )


async def _check_arguments(step: ToolStep, proceed: Answer) -> ToolResult | None:
    """The agent must own the tool, and the arguments must fit its schema."""
    if (refused := _unusable(step)) is not None:
        return refused
    step.run.turn.tool_calls[step.tool.name] += 1
    return await proceed(step)


def _unusable(step: ToolStep) -> ToolResult | None:
    run, tool, call = step.run, step.tool, step.call
    if tool.function is None:
        names = ", ".join(tool.name for tool in run.agent.tools or () if tool.function) or "none"
        return _refused(refusal("not_yours", tool=call.name, tools=names), mistake=True)
    if problems := _argument_problems(tool, call):
        return _refused(refusal("bad_arguments", tool=call.name, problems=problems), mistake=True)
    return None


async def _reuse_recorded_result(step: ToolStep, proceed: Answer) -> ToolResult | None:
    """A resumed turn takes a result that it has from the journal."""
    done = step.run.turn.replay.answers.get(step.call.id)
    if done is None:
        return await proceed(step)
    # A refused call does not count against the tool's limit.
    step.run.turn.tool_calls[done.call.name] += done.outcome != "refused"
    facts = (done.for_person, done.citations, done.mistake, done.found, done.no_effect)
    return ToolResult(done.outcome, done.text, done.milliseconds, done.label, *facts)


async def _limit_calls(step: ToolStep, proceed: Answer) -> ToolResult | None:
    tool, turn = step.tool, step.run.turn
    # A call that the person was asked about was within the limit then.
    was_asked = step.call.id in turn.replay.questions
    if turn.answered_calls > turn.limits.tool_calls and not was_asked:
        return _refused(refusal("turn_call_limit", tool=tool.name, limit=str(turn.limits.tool_calls)))
    if tool.calls_per_turn is not None and turn.tool_calls[tool.name] > tool.calls_per_turn:
        return _refused(refusal("call_limit", tool=tool.name, limit=str(tool.calls_per_turn)))
    return await proceed(step)


async def _look_ahead(step: ToolStep, proceed: Answer) -> ToolResult | None:
    """Find out what the call would change; a call that cannot work ends here, and nobody is asked."""
    looked = await _previewed(step)
    return looked if isinstance(looked, ToolResult) else await proceed(looked)


async def _previewed(step: ToolStep) -> ToolStep | ToolResult:
    """The call with what it would change and with its own risk, or the error of its preview."""
    tool, asked = step.tool, step.run.turn.replay.questions.get(step.call.id)
    if tool.preview is None:
        return step
    if asked is not None:
        # The person decides about what the question showed.
        return step._replace(changes=asked.changes)
    look, found = tool.preview, list[Preview]()

    async def keep(*given: object, **arguments: JsonValue) -> None:
        found.append(await look(*given, **arguments))

    # A preview changes nothing, so it is never in doubt.
    result = await _run_function(step._replace(tool=replace(tool, recovery="pure")), keep)
    if not found:
        return result
    preview = found[0]
    allowed = tool.owner_allows or preview.owner_allows
    own = replace(tool, risk=preview.risk, caution=preview.caution or tool.caution, owner_allows=allowed)
    return step._replace(tool=own, changes=preview.changes)


async def _run_tool(step: ToolStep) -> ToolResult:
    assert step.tool.function is not None  # _check_arguments refuses a tool without one
    return await _run_function(step, step.tool.function)


async def _run_function(step: ToolStep, function: ToolFunction) -> ToolResult:
    """Run the tool or its probe within its time limit; an exception becomes an error result."""
    run, tool, call, turn = step.run, step.tool, step.call, step.run.turn
    basis, printed = step.changes.basis if step.changes else "", OutputStream(step)
    facts = (turn.session_id, turn.id, run.agent.name, call.id, run.label, turn.own_text)
    info = CallInfo(*facts, basis, printed.report, partial(names_address, turn.own_text))
    label, limit, started = tool.label(run.agent.name), asyncio.timeout(tool.timeout), time.monotonic()
    task = asyncio.current_task()
    try:
        async with limit:
            value = await _call(step, function, info)
        citations: tuple[str, ...] = ()
        found: tuple[Found, ...] = ()
        for_person, no_effect = "", False
        if isinstance(value, Labelled):
            value, own_label, citations, found, for_person, no_effect = value
            # Checked here, inside the try: the journal could not read a label of wrong types again.
            label = convert(as_dict(own_label), Label)
        elif isinstance(value, Findings):
            value, found = value
        elif _is_fixed(tool, value):
            label = CLEAN
        citations = tuple(map(whole, citations))
        found = tuple(Found(whole(one.name), whole(one.text), one.kind) for one in found)
        text, took = _as_text(value), _since(started)
        texts = (whole(for_person), citations)
        return ToolResult(
            "ok", text, took, label, *texts, found=found, no_effect=no_effect, is_none=value is None
        )
    except ToolError as error:
        # The author of the tool may have passed on what a server said.
        label |= error_label(f"an error of {tool.name}")
        if isinstance(error, InDoubtError):
            return _given_up(step, whole(str(error)), _since(started), label)
        return ToolResult("error", whole(str(error)), _since(started), label, whole(error.for_person))
    # A library may raise anything, even SystemExit.
    except BaseException as error:
        if is_stopped_by(error, task):
            raise
        if isinstance(error, TimeoutError) and limit.expired():
            if tool.recovery != "pure":
                late = f"it took longer than {duration(tool.timeout)}"
                return _given_up(step, late, _since(started), label)
            text = f"'{tool.name}' took longer than {duration(tool.timeout)} and was stopped"
        else:
            _log.exception("the tool '%s' raised", tool.name)
            text = whole(f"'{tool.name}' failed: {told(error)}")
            label |= error_label(f"an error of {tool.name}")
        return ToolResult("error", text, _since(started), label)
    finally:
        printed.close()


async def _call(step: ToolStep, function: ToolFunction, info: CallInfo) -> JsonValue | Labelled | Findings:
    """Call the function. One that may run twice waits while another process has locked the database."""
    tool, wait = step.tool, None
    while True:
        try:
            return await function(*((info,) if tool.needs else ()), **step.call.arguments)
        except BusyError:
            wait = wait or LockWait()
            if wait.is_over or tool.recovery not in ("pure", "keyed"):
                raise
        await asyncio.sleep(wait.next_wait())


def _given_up(step: ToolStep, cause: str, milliseconds: float, label: Label) -> ToolResult:
    doubt = refusal("given_up", tool=step.tool.name, cause=cause.rstrip("."))
    return ToolResult("in_doubt", doubt.text, milliseconds, label, doubt.for_person)


def _refused(
    refusal: Clearance, outcome: Literal["refused", "denied"] = "refused", *, mistake: bool = False
) -> ToolResult:
    return ToolResult(outcome, refusal.text, for_person=refusal.for_person, mistake=mistake)


def _since(started: float) -> float:
    return (time.monotonic() - started) * 1000


def _argument_problems(tool: Tool, call: ToolCall) -> str:
    if call.malformed:
        return f"they are not a JSON object: {clip(call.malformed, 200)}"
    problems = find_problems(tool.parameters, dict(call.arguments))
    return "; ".join(f"{problem.where} {problem.message}".strip() for problem in problems)


def _is_fixed(tool: Tool, value: JsonValue) -> bool:
    """Whether the result fits the tool's fixed schema: then it can carry no text, and adds no label."""
    return tool.fixed_result is not None and not find_problems(tool.fixed_result, value)


def _as_text(value: JsonValue) -> str:
    return whole(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def clip(text: str, limit: int) -> str:
    """The head and the tail of a long text, with a note on what is left out between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def call_key(call: ToolCall) -> str:
    """Equal for two calls of one tool with the same arguments, in whatever order."""
    return f"{call.name} {canonical(call.arguments)} {call.malformed}"
