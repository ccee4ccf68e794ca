"""The steps of a turn: an agent asks its model, answers the calls, and delegates, until it is done."""

import asyncio
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Literal

from sestet.core.agent import REJECT_TASK, SHOW_RESULTS, TRANSFER, Agent
from sestet.core.errors import LimitError, ModelError, StorageError
from sestet.core.event import AgentNudged, DelegationFinished, DelegationStarted, ToolFinished
from sestet.core.label import card_label, error_label, outside_label
from sestet.core.message import AssistantMessage, Found, ToolCall, ToolMessage, UserMessage
from sestet.core.model import Model, ModelReply
from sestet.core.tool import Tool
from sestet.core.words import duration
from sestet.runtime.approval import Gatekeeper
from sestet.runtime.delegation import (
    Refusal,
    Transfer,
    ask_remote,
    end_of_delegating,
    findings,
    offered_tools,
    read_transfer,
    refuse_invented_call,
    result_for_orchestrator,
    transfer_tool,
    without_answer,
)
from sestet.runtime.direct_answer import join_answers, shown_results
from sestet.runtime.doubt import give_up
from sestet.runtime.model_call import ask_model
from sestet.runtime.prompts import say, without_instructions
from sestet.runtime.reply_text import announces_transfer, rejection
from sestet.runtime.steering import has_unread_words
from sestet.runtime.tool_call import ToolCalls, call_key
from sestet.runtime.turn import AgentRun, Outcome, Turn

_REPEATS = 3
_MISTAKES = 2


class Steps:
    """How the agents of one tree work, in every turn."""

    def __init__(self, root: Agent, model_of: Callable[[str], Model], gatekeeper: Gatekeeper) -> None:
        self.root = root
        #: The root agent reads the remote agents' own descriptions, and those of its outside tools.
        remote = card_label(agent.name for agent in root.sub_agents if agent.remote)
        self.instruction_label = remote | outside_label(tool.outside for tool in root.tools or ())
        self._model_of = model_of
        self._gatekeeper = gatekeeper
        self._tools = ToolCalls(gatekeeper)
        self._transfer = transfer_tool(root.sub_agents)
        self._one_at_a_time = {agent.name: asyncio.Lock() for agent in root.sub_agents if agent.exclusive}

    async def work(self, run: AgentRun, routed: ToolCall | None = None) -> Outcome:
        """Take steps until the agent has answered, rejected the request or run into a guard.

        ``routed`` is a delegation that was chosen without a model: it replaces the first reply of the model.
        If the person chose it, it is the only step.
        """
        try:
            if routed and run.turn.agent:
                return await self._act_on(run, ModelReply(calls=(routed,))) or without_answer(run)
            reply = ModelReply(calls=(routed,)) if routed else await self._ask(run)
            while (outcome := await self._act_on(run, reply)) is None:
                reply = await self._ask(run)
            return outcome
        except ModelError as error:
            run.label |= error_label(f"an error of the model of {run.agent.name}")
            return Outcome("failed", run.agent.name, cause=f"the model failed: {error}")
        except LimitError as error:
            return Outcome("over_budget", run.agent.name, cause=str(error))

    async def _ask(self, run: AgentRun) -> ModelReply:
        reply = await ask_model(run, self._model_of(run.agent.name), self._offered_tools(run))
        run.has_new_reply = True
        return reply

    def _offered_tools(self, run: AgentRun) -> tuple[Tool, ...]:
        if run.agent.tools is None and end_of_delegating(run) is not None:
            return ()
        tools = offered_tools(run.agent, self.root, self._transfer)
        # Delegating and declining are no tool calls.
        return tools if run.turn.calls_left else tuple(tool for tool in tools if tool.function is None)

    async def _act_on(self, run: AgentRun, reply: ModelReply) -> Outcome | None:
        """Do what one reply asks for; an outcome ends the agent's work."""
        run.messages.append(AssistantMessage(reply.text, reply.calls))
        declined = rejection(reply.text)
        if declined is not None and run.agent is not self.root:
            # Also when the reply asks for calls: an agent that declines runs no tool.
            return Outcome("rejected", run.agent.name, cause=_for_person(run, declined))
        if not reply.calls:
            return self._read_text(run, "" if declined is not None else _for_person(run, reply.text))
        past = run.turn.replay.delegations
        # An agent that owns every tool now may have been an orchestrator before the turn was resumed.
        delegates = run.agent.tools is None or (past and any(call.id in past for call in reply.calls))
        answer_all = self._delegate_all if delegates else self._call_tools
        outcome = await answer_all(run, reply.calls)
        if outcome is None and run.left_out:
            limit = str(run.turn.limits.tool_calls)
            run.messages.append(UserMessage(say("calls_left_out", number=str(run.left_out), limit=limit)))
        return outcome

    def _read_text(self, run: AgentRun, text: str) -> Outcome | None:
        """A reply without calls: the agent's answer, or no answer at all."""
        name = run.agent.name
        if not text.strip():
            nudged = self._nudge(run, "silence")
            return None if nudged else Outcome("empty", name, cause=f"{name} gave no answer")
        names = tuple(agent.name for agent in run.agent.sub_agents)
        announced = names and announces_transfer(text, names) and end_of_delegating(run) is None
        if announced and self._nudge(run, "announced"):
            return None
        if has_unread_words(run):
            # The person added them while this text was written.
            return None
        return Outcome("ok", name, text)

    def _nudge(self, run: AgentRun, reason: Literal["silence", "announced"]) -> bool:
        """Tell the agent once what is missing; False when it was told before."""
        if run.nudged:
            return False
        run.nudged = True
        run.turn.record(AgentNudged(run.stamp(), reason))
        run.messages.append(UserMessage(say(reason)))
        return True

    async def _call_tools(self, run: AgentRun, calls: tuple[ToolCall, ...]) -> Outcome | None:
        """Answer every tool call of one reply; an outcome ends the agent's work."""
        only_mistakes, shows = True, list[ToolCall]()
        run.overdrawn += not run.turn.calls_left
        for call in calls:
            if call.name == REJECT_TASK and run.agent is not self.root:
                return Outcome("rejected", run.agent.name, cause=str(call.arguments.get("reason", "")))
            key = call_key(call)
            run.repeats[key] += 1
            if run.repeats[key] >= _REPEATS:
                cause = f"{run.agent.name} called '{call.name}' {_REPEATS} times with the same arguments"
                return Outcome("loop", run.agent.name, cause=cause)
            if call.name == SHOW_RESULTS and run.agent is not self.root:
                shows.append(call)
                continue
            run.turn.answered_calls += 1
            message, mistake = await self._tools.answer(run, call)
            if message is None:
                return Outcome("paused", run.agent.name)
            run.messages.append(message)
            only_mistakes = only_mistakes and mistake
        if shows:
            # Without calls beside it, it shows the results before this reply.
            context = run.messages[:-1] if len(shows) == len(calls) else run.messages
            if text := shown_results(context):
                return Outcome("ok", run.agent.name, text)
            told = say("nothing_to_show")
            run.messages += [ToolMessage(call.id, call.name, told, failed=True) for call in shows]
        if run.overdrawn >= _MISTAKES:
            cause = f"the limit of {run.turn.limits.tool_calls} tool calls in one turn was reached"
            return Outcome("over_budget", run.agent.name, cause=cause)
        run.mistakes = run.mistakes + 1 if only_mistakes else 0
        if run.mistakes > _MISTAKES:
            cause = f"{run.agent.name} made wrong calls {run.mistakes} times in a row: '{calls[-1].name}'"
            return Outcome("failed", run.agent.name, cause=cause)
        return None

    async def _delegate_all(self, run: AgentRun, calls: tuple[ToolCall, ...]) -> Outcome | None:
        """The orchestrator's calls: delegations run at the same time, every other call is refused."""
        transfers: list[Transfer] = []
        refused: Refusal | None = None
        for call in calls:
            if call.name != TRANSFER and run.turn.replay.has_begun(call.id):
                # The agent owned its tools before the turn was resumed.
                message, _ = await self._tools.answer(run, call)
                run.messages += (message,) if message else ()
                continue
            if call.name != TRANSFER:
                answer: Transfer | Refusal = refuse_invented_call(run.agent, call.name)
            else:
                answer = read_transfer(run, self._transfer, call)
            if isinstance(answer, Transfer):
                transfers.append(answer)
                continue
            run.messages.append(ToolMessage(call.id, call.name, answer.text, failed=True))
            refused = answer
        run.mistakes = 0 if transfers else run.mistakes + 1
        if refused is not None and run.mistakes >= _MISTAKES:
            return findings(run.agent.name, end_of_delegating(run) or refused, run.results)
        if not transfers:
            return None
        outcomes = await self._run_delegations(run, transfers)
        if any(outcome.kind == "paused" for outcome in outcomes):
            return Outcome("paused", run.agent.name)
        run.results += outcomes
        is_answer = len(transfers) == len(calls) and all(transfer.reply for transfer in transfers)
        if len(transfers) > 1 and any(transfer.agent.remote for transfer in transfers):
            # In a joined text, a stranger's words could pass for those of a specialist here.
            is_answer = False
        if is_answer and all(outcome.kind == "ok" for outcome in outcomes) and not has_unread_words(run):
            return join_answers(run.agent.name, outcomes)
        for transfer, outcome in zip(transfers, outcomes, strict=True):
            text = result_for_orchestrator(outcome, transfer.agent.name)
            run.messages.append(
                ToolMessage(
                    transfer.call.id, TRANSFER, text, failed=outcome.kind != "ok", found=outcome.found
                )
            )
        return None

    async def _run_delegations(self, parent: AgentRun, transfers: list[Transfer]) -> list[Outcome]:
        turn = parent.turn
        runs = [
            AgentRun(
                turn, each.agent, [UserMessage(each.request, turn.said_at)], f"d{each.number}", parent.label
            )
            for each in transfers
        ]
        for transfer, run in zip(transfers, runs, strict=True):
            if run.delegation_id not in turn.replay.results:
                stamp, agent = turn.stamp(self.root.name, run.delegation_id), transfer.agent.name
                turn.record(
                    DelegationStarted(
                        stamp, agent, transfer.request, transfer.reply, transfer.number, transfer.call.id
                    )
                )
        if len(runs) == 1:
            # The usual turn: its one delegation needs no task of its own.
            outcomes = [await self._delegate(parent, transfers[0], runs[0])]
        else:
            outcomes = await self._delegate_at_once(parent, transfers, runs)
        # The orchestrator reads the answers, so it gets the labels of all that the specialists read.
        for run in runs:
            parent.label |= run.label
        return outcomes

    async def _delegate_at_once(
        self, parent: AgentRun, transfers: list[Transfer], runs: list[AgentRun]
    ) -> list[Outcome]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._delegate(parent, transfer, run))
                    for transfer, run in zip(transfers, runs, strict=True)
                ]
        except BaseExceptionGroup as errors:
            # Failures of agents are outcomes, so this is a storage error or a bug.
            raise errors.exceptions[0] from errors
        return [task.result() for task in tasks]

    async def _delegate(self, parent: AgentRun, transfer: Transfer, run: AgentRun) -> Outcome:
        """One round: the specialist works on the request alone and returns a typed result."""
        turn, agent, started = run.turn, transfer.agent, time.monotonic()
        if (past := turn.replay.results.get(run.delegation_id)) is not None:
            run.label |= past.label
            turn.count_past(run.delegation_id)
            return _returned(turn, Outcome(past.outcome, agent.name, past.text, past.cause, found=past.found))
        # This stands when the whole turn is stopped; it is recorded before the turn's own end.
        outcome = Outcome("cancelled", agent.name, cause="the turn was stopped", ended_with_turn=True)
        # Registered by the running task: a task that is cancelled before its first step records nothing.
        turn.delegations[run.delegation_id] = asyncio.current_task()
        try:
            outcome = await self._supervise(parent, transfer, run)
        except StorageError as error:
            turn.on_failed(error)
            raise
        finally:
            del turn.delegations[run.delegation_id]
            if turn.error is None:
                outcome = _with_doubts(run, outcome)._replace(found=_found(run))
                turn.record(_finished(run, outcome, (time.monotonic() - started) * 1000))
        return _returned(turn, outcome)

    async def _supervise(self, parent: AgentRun, transfer: Transfer, run: AgentRun) -> Outcome:
        """The specialist's work within its time limit; the person can stop it alone."""
        turn, agent, limit = run.turn, transfer.agent, run.turn.limits.delegation_seconds
        task = asyncio.current_task()
        if transfer.is_gone:
            return Outcome("failed", agent.name, cause=say("agent_gone", agent=agent.name))
        if (said := turn.replay.answers.get(transfer.call.id)) is not None:
            # The turn was stopped, and its process died before the turn had ended.
            return Outcome("failed", agent.name, cause=said.text)
        if transfer.call.id in turn.open:
            return Outcome("failed", agent.name, cause="the process died before its answer came")
        try:
            async with asyncio.timeout(limit), self._one_at_a_time.get(agent.name) or nullcontext():
                if agent.remote is not None:
                    return await ask_remote(parent, run, transfer, self._gatekeeper)
                return await self.work(run)
        except TimeoutError:
            return Outcome("timeout", agent.name, cause=f"{agent.name} took longer than {duration(limit)}")
        except asyncio.CancelledError:
            # The whole turn may be stopped at the same moment.
            if run.delegation_id not in turn.stopped or task is None or task.cancelling() > 1:
                raise
            return Outcome("cancelled", agent.name, cause="the person stopped it")
        finally:
            # The task may be that of the turn, which goes on. A tool may have swallowed the cancellation.
            if run.delegation_id in turn.stopped and task is not None:
                task.uncancel()


def _for_person(run: AgentRun, text: str) -> str:
    """The text without what a refusal told the model to do; the refusal itself where nothing else is left."""
    refused = [event for event in run.turn.log if isinstance(event, ToolFinished) and event.outcome != "ok"]
    refused = [event for event in refused if event.for_person]
    return without_instructions(text) or refused[-1].for_person if refused and text.strip() else text


def _with_doubts(run: AgentRun, outcome: Outcome) -> Outcome:
    """The outcome, which also tells of the calls that the agent leaves in doubt."""
    if outcome.kind == "paused":
        return outcome
    doubts = give_up(run.turn, outcome.cause, run.delegation_id)
    if not doubts:
        return outcome
    # The person is told of each doubt apart from this.
    cause = f"{outcome.cause.rstrip('.')}. {doubts}"
    return outcome._replace(cause=cause, for_person=outcome.for_person or outcome.cause)


def _finished(run: AgentRun, outcome: Outcome, milliseconds: float) -> DelegationFinished:
    kind, _, text, cause, ended_with_turn, for_person, denied, found = outcome
    facts = (kind, text, cause, run.usage, milliseconds, run.label, ended_with_turn, for_person, denied)
    return DelegationFinished(run.stamp(), run.agent.name, *facts, found)


def _found(run: AgentRun) -> tuple[Found, ...]:
    results = (message for message in run.messages if isinstance(message, ToolMessage))
    return tuple(dict.fromkeys(found for result in results for found in result.found))


def _returned(turn: Turn, outcome: Outcome) -> Outcome:
    if outcome.kind == "rejected":
        turn.struck_off.add(outcome.author)
    return outcome
