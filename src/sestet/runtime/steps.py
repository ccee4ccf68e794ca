"""The steps of a turn: an agent asks its model, answers the calls, and delegates, until it is done."""

import asyncio
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Literal

from sestet.core.agent import REJECT_TASK, TRANSFER, Agent
from sestet.core.errors import LimitError, ModelError, StorageError
from sestet.core.event import AgentNudged, DelegationFinished, DelegationStarted
from sestet.core.message import AssistantMessage, ToolCall, ToolMessage, UserMessage
from sestet.core.model import Model, ModelReply
from sestet.core.tool import Tool
from sestet.runtime.approval import Gatekeeper
from sestet.runtime.delegation import (
    Refusal,
    Transfer,
    answer_invented_call,
    may_delegate,
    offered_tools,
    read_transfer,
    result_for_orchestrator,
    transfer_tool,
)
from sestet.runtime.model_call import ask_model
from sestet.runtime.prompts import say
from sestet.runtime.reading import announces_transfer, rejection
from sestet.runtime.remote_call import ask_remote
from sestet.runtime.replay import TURN_STOPPED
from sestet.runtime.tool_call import call_key, call_tool
from sestet.runtime.turn import AgentRun, Outcome, Turn

_REPEATS = 3
_MISTAKES = 2


class Steps:
    """How the agents of one tree work, whatever the turn."""

    def __init__(self, root: Agent, model_of: Callable[[str], Model], gatekeeper: Gatekeeper) -> None:
        self._root = root
        self._model_of = model_of
        self._gatekeeper = gatekeeper
        self._transfer = transfer_tool(root.sub_agents)
        self._one_at_a_time = {agent.name: asyncio.Lock() for agent in root.sub_agents if agent.exclusive}

    async def work(self, turn: Turn, run: AgentRun, routed: ToolCall | None = None) -> Outcome:
        """Steps of one agent, until it has answered, declined or run into a guard.

        ``routed`` is a delegation that code decided on: it takes the place of the first reply of a model.
        """
        try:
            reply = ModelReply(calls=(routed,)) if routed else await self._ask(turn, run)
            while (outcome := await self._act_on(turn, run, reply)) is None:
                reply = await self._ask(turn, run)
            return outcome
        except ModelError as error:
            return Outcome("failed", run.agent.name, cause=f"the model failed: {error}")
        except LimitError as error:
            return Outcome("over_budget", run.agent.name, cause=str(error))

    async def _ask(self, turn: Turn, run: AgentRun) -> ModelReply:
        return await ask_model(
            turn, run, self._model_of(run.agent.name), self._offered_tools(turn, run.agent)
        )

    async def _act_on(self, turn: Turn, run: AgentRun, reply: ModelReply) -> Outcome | None:
        """What one reply causes; an outcome when that ends the agent's work."""
        run.messages.append(AssistantMessage(reply.text, reply.calls))
        if reply.calls:
            return await self._answer_calls(turn, run, reply.calls)
        return self._read_text(turn, run, reply.text)

    def _offered_tools(self, turn: Turn, agent: Agent) -> tuple[Tool, ...]:
        if agent.tools is None and not may_delegate(turn, agent):
            return ()
        return offered_tools(agent, self._root, self._transfer)

    def _read_text(self, turn: Turn, run: AgentRun, text: str) -> Outcome | None:
        """The agent wrote text and made no call: its answer, or something that is not one."""
        name, is_root = run.agent.name, run.agent is self._root
        declined = rejection(text)
        if declined is not None and not is_root:
            return Outcome("rejected", name, cause=declined)
        if not text.strip() or declined is not None:
            nudged = self._nudge(turn, run, "silence")
            return None if nudged else Outcome("empty", name, cause=f"{name} gave no answer")
        names = tuple(agent.name for agent in run.agent.sub_agents)
        if (
            announces_transfer(text, names)
            and may_delegate(turn, run.agent)
            and self._nudge(turn, run, "announced")
        ):
            return None
        return Outcome("ok", name, text)

    def _nudge(self, turn: Turn, run: AgentRun, reason: Literal["silence", "announced"]) -> bool:
        """Tell the agent what is missing, once; False when it was told before."""
        if run.nudged:
            return False
        run.nudged = True
        turn.record(AgentNudged(turn.stamp(run.agent.name, run.delegation_id), reason))
        run.messages.append(UserMessage(say(reason)))
        return True

    async def _answer_calls(self, turn: Turn, run: AgentRun, calls: tuple[ToolCall, ...]) -> Outcome | None:
        """Answer every call of one reply; an outcome when that ends the agent's work."""
        if run.agent.tools is None:
            return await self._delegate_all(turn, run, calls)
        only_mistakes = True
        for call in calls:
            if call.name == REJECT_TASK and run.agent is not self._root:
                return Outcome("rejected", run.agent.name, cause=str(call.arguments.get("reason", "")))
            key = call_key(call)
            run.repeats[key] += 1
            if run.repeats[key] >= _REPEATS:
                cause = f"{run.agent.name} called '{call.name}' {_REPEATS} times with the same arguments"
                return Outcome("loop", run.agent.name, cause=cause)
            message, mistake = await call_tool(turn, run, call, self._gatekeeper)
            if message is None:
                return Outcome("paused", run.agent.name)
            run.messages.append(message)
            only_mistakes = only_mistakes and mistake
        run.mistakes = run.mistakes + 1 if only_mistakes else 0
        if run.mistakes > _MISTAKES:
            cause = f"{run.agent.name} made wrong calls {run.mistakes} times in a row: '{calls[-1].name}'"
            return Outcome("failed", run.agent.name, cause=cause)
        return None

    async def _delegate_all(self, turn: Turn, run: AgentRun, calls: tuple[ToolCall, ...]) -> Outcome | None:
        """The orchestrator's calls: delegations run at the same time, anything else is answered with a no."""
        transfers: list[Transfer] = []
        mistake = ""
        for call in calls:
            if call.name != TRANSFER:
                answer: Transfer | Refusal = Refusal(answer_invented_call(run.agent, call.name), mistake=True)
            else:
                answer = read_transfer(turn, run.agent, self._transfer, call)
            if isinstance(answer, Transfer):
                transfers.append(answer)
                continue
            run.messages.append(ToolMessage(call.id, call.name, answer.text, failed=True))
            mistake = answer.text if answer.mistake else mistake
        run.mistakes = run.mistakes + 1 if mistake and not transfers else 0
        if run.mistakes >= _MISTAKES:
            return Outcome("failed", run.agent.name, cause=mistake)
        if not transfers:
            return None
        outcomes = await self._run_delegations(turn, run, transfers)
        if any(outcome.kind == "paused" for outcome in outcomes):
            return Outcome("paused", run.agent.name)
        if len(calls) == 1 and transfers[0].reply and outcomes[0].kind == "ok":
            return outcomes[0]
        for transfer, outcome in zip(transfers, outcomes, strict=True):
            text = result_for_orchestrator(outcome, transfer.agent.name)
            run.messages.append(ToolMessage(transfer.call.id, TRANSFER, text, failed=outcome.kind != "ok"))
        return None

    async def _run_delegations(self, turn: Turn, run: AgentRun, transfers: list[Transfer]) -> list[Outcome]:
        label = run.label
        runs = [AgentRun(t.agent, [UserMessage(t.request)], f"d{t.number}", label) for t in transfers]
        for transfer, child in zip(transfers, runs, strict=True):
            if child.delegation_id not in turn.replay.results:
                stamp, agent = turn.stamp(self._root.name, child.delegation_id), transfer.agent.name
                turn.record(
                    DelegationStarted(stamp, agent, transfer.request, transfer.reply, transfer.number)
                )
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._delegate(turn, run, transfer, child))
                    for transfer, child in zip(transfers, runs, strict=True)
                ]
        except BaseExceptionGroup as errors:
            # Every outcome is typed, so this is the storage or a bug; the first says which.
            raise errors.exceptions[0] from errors
        # What the specialists have read, whoever reads their answers has read.
        for child in runs:
            run.label |= child.label
        return [task.result() for task in tasks]

    async def _delegate(self, turn: Turn, parent: AgentRun, transfer: Transfer, run: AgentRun) -> Outcome:
        """One round: the specialist works on the request alone and always comes back with a typed result."""
        agent, started = transfer.agent, time.monotonic()
        if (past := turn.replay.results.get(run.delegation_id)) is not None:
            run.label |= past.label
            turn.usage += past.usage
            turn.count_past(run.delegation_id)
            return self._returned(turn, Outcome(past.outcome, agent.name, past.text, past.cause))
        # What ends the whole turn ends this as well, and is on record before the turn's own end.
        outcome = Outcome("cancelled", agent.name, cause=TURN_STOPPED)
        # Not before its first step: a task that is cancelled then could not say so.
        turn.delegations[run.delegation_id] = asyncio.current_task()
        try:
            outcome = await self._supervise(turn, parent, transfer, run)
        except StorageError as error:
            turn.on_failed(error)
            raise
        finally:
            del turn.delegations[run.delegation_id]
            milliseconds = (time.monotonic() - started) * 1000
            result = (
                agent.name,
                outcome.kind,
                outcome.text,
                outcome.cause,
                run.usage,
                milliseconds,
                run.label,
            )
            if turn.error is None:
                turn.record(DelegationFinished(turn.stamp(agent.name, run.delegation_id), *result))
        return self._returned(turn, outcome)

    def _returned(self, turn: Turn, outcome: Outcome) -> Outcome:
        if outcome.kind == "rejected":
            turn.struck_off.add(outcome.author)
        return outcome

    async def _supervise(self, turn: Turn, parent: AgentRun, transfer: Transfer, run: AgentRun) -> Outcome:
        """The specialist's work, within its time, in its turn, and stoppable by itself."""
        agent, limit = transfer.agent, turn.limits.delegation_seconds
        try:
            async with asyncio.timeout(limit), self._one_at_a_time.get(agent.name) or nullcontext():
                if agent.remote is not None:
                    return await ask_remote(turn, parent, run, transfer, self._gatekeeper)
                return await self.work(turn, run)
        except TimeoutError:
            return Outcome("timeout", agent.name, cause=f"{agent.name} took longer than {limit:g} seconds")
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if run.delegation_id not in turn.stopped or task is None:
                raise
            task.uncancel()
            return Outcome("cancelled", agent.name, cause="the person stopped it")
