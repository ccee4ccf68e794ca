"""Runs a turn: step after step, until somebody has answered.

Every entry (terminal, library, HTTP, A2A) reads the same iterator of events; there is no second path.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Literal

from sestet.core.agent import REJECT_TASK, TRANSFER, Agent
from sestet.core.errors import LimitError, ModelError, StorageError, ToolError
from sestet.core.event import (
    AgentNudged,
    DelegationFinished,
    DelegationStarted,
    Event,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from sestet.core.message import AssistantMessage, ToolCall, ToolMessage, UserMessage
from sestet.core.model import Model
from sestet.core.tool import Tool
from sestet.runtime.delegation import (
    REJECT_TOOL,
    Refusal,
    Transfer,
    answer_invented_call,
    may_delegate,
    read_transfer,
    result_for_orchestrator,
    transfer_tool,
)
from sestet.runtime.history import load_history
from sestet.runtime.model_call import ask_model
from sestet.runtime.prompts import say
from sestet.runtime.reading import announces_transfer, rejection
from sestet.runtime.tool_call import call_key, call_tool
from sestet.runtime.turn import AgentRun, Limits, Outcome, Turn
from sestet.storage.journal import Journal

_log = logging.getLogger("sestet.runtime")

_REPEATS = 3
_MISTAKES = 2


class Runner:
    """Conducts the turns of all sessions over one tree of agents."""

    def __init__(
        self,
        root: Agent,
        model_of: Callable[[str], Model],
        journal: Journal,
        limits: Limits,
        context_tokens: int,
    ) -> None:
        self._root = root
        self._model_of = model_of
        self._journal = journal
        self._limits = limits
        self._context_tokens = context_tokens
        self._transfer = (transfer_tool(root.sub_agents),)
        self._sessions: dict[str, asyncio.Lock] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run_turn(self, session_id: str, text: str) -> AsyncGenerator[Event]:
        """The events of one turn. A second message to a busy session waits for the first to end."""
        async with self._sessions.setdefault(session_id, asyncio.Lock()):
            turn = Turn(session_id, self._journal, self._limits)
            task = asyncio.create_task(self._conduct(turn, text))
            self._running[session_id] = task
            try:
                async for event in turn.events():
                    yield event
                await task
            finally:
                # A reader that goes away stops the turn: nobody is left to see it or to pay for it.
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
                del self._running[session_id]

    def cancel_turn(self, session_id: str) -> bool:
        """Stop the running turn of a session, with everything that works for it."""
        task = self._running.get(session_id)
        return task is not None and task.cancel()

    async def _conduct(self, turn: Turn, text: str) -> None:
        """One turn from its first event to exactly one of its ends."""
        root = self._root.name
        try:
            turn.record(TurnStarted(turn.stamp("user"), text))
            messages = load_history(self._journal, turn.session_id, self._context_tokens)
            run = AgentRun(self._root, [*messages, UserMessage(text)])
            async with asyncio.timeout(turn.limits.seconds):
                outcome = await self._work(turn, run)
            if outcome.kind == "ok":
                stamp = turn.stamp(outcome.author)
                turn.record(TurnFinished(stamp, outcome.text, turn.usage, turn.milliseconds))
            else:
                turn.record(TurnFailed(turn.stamp(root), outcome.kind, _apology(outcome)))
        except TimeoutError:
            cause = f"this took longer than the limit of {turn.limits.seconds:g} seconds"
            turn.record(
                TurnFailed(turn.stamp(root), "timeout", _apology(Outcome("timeout", root, cause=cause)))
            )
        except asyncio.CancelledError:
            turn.record(TurnCancelled(turn.stamp("user")))
        except StorageError:
            raise
        except Exception as bug:
            _log.exception("turn %s failed on a bug", turn.id)
            cause = f"something went wrong inside Sestet: {type(bug).__name__}: {bug}"
            turn.record(
                TurnFailed(turn.stamp(root), "failed", _apology(Outcome("failed", root, cause=cause)))
            )
        finally:
            turn.close()

    async def _work(self, turn: Turn, run: AgentRun) -> Outcome:
        """Steps of one agent, until it has answered, declined or run into a guard."""
        try:
            while True:
                reply = await ask_model(
                    turn, run, self._model_of(run.agent.name), self._offered_tools(turn, run.agent)
                )
                run.messages.append(AssistantMessage(reply.text, reply.calls))
                if reply.calls:
                    outcome = await self._answer_calls(turn, run, reply.calls)
                else:
                    outcome = self._read_text(turn, run, reply.text)
                if outcome is not None:
                    return outcome
        except ModelError as error:
            return Outcome("failed", run.agent.name, cause=f"the model failed: {error}")
        except LimitError as error:
            return Outcome("over_budget", run.agent.name, cause=str(error))

    def _offered_tools(self, turn: Turn, agent: Agent) -> tuple[Tool, ...]:
        if agent.tools is None:
            return self._transfer if may_delegate(turn, agent) else ()
        return agent.tools if agent is self._root else (*agent.tools, REJECT_TOOL)

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
        for call in calls:
            if call.name == REJECT_TASK and run.agent is not self._root:
                return Outcome("rejected", run.agent.name, cause=str(call.arguments.get("reason", "")))
            run.repeats[call_key(call)] += 1
            if run.repeats[call_key(call)] >= _REPEATS:
                cause = f"{run.agent.name} called '{call.name}' {_REPEATS} times with the same arguments"
                return Outcome("loop", run.agent.name, cause=cause)
            message, mistake = await call_tool(turn, run, call)
            run.messages.append(message)
            run.mistakes = run.mistakes + 1 if mistake else 0
            if run.mistakes > _MISTAKES:
                cause = (
                    f"{run.agent.name} made {run.mistakes} wrong calls in a row, the last of '{call.name}'"
                )
                return Outcome("failed", run.agent.name, cause=cause)
        return None

    async def _delegate_all(self, turn: Turn, run: AgentRun, calls: tuple[ToolCall, ...]) -> Outcome | None:
        """The orchestrator's calls: delegations run at the same time, anything else is answered with a no."""
        transfers: list[tuple[ToolCall, Transfer, int]] = []
        for call in calls:
            if call.name != TRANSFER:
                answer: Transfer | Refusal = Refusal(answer_invented_call(run.agent, call.name), mistake=True)
            else:
                answer = read_transfer(turn, run.agent, call)
            if isinstance(answer, Transfer):
                turn.rounds += 1
                transfers.append((call, answer, turn.rounds))
                continue
            run.messages.append(ToolMessage(call.id, call.name, answer.text, failed=True))
            run.mistakes = run.mistakes + 1 if answer.mistake else run.mistakes
            if run.mistakes >= _MISTAKES:
                return Outcome("failed", run.agent.name, cause=answer.text)
        if not transfers:
            return None
        run.mistakes = 0
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._delegate(turn, transfer, number)) for _, transfer, number in transfers
            ]
        outcomes = [task.result() for task in tasks]
        if len(calls) == 1 and transfers[0][1].reply and outcomes[0].kind == "ok":
            return outcomes[0]
        for (call, transfer, _), outcome in zip(transfers, outcomes, strict=True):
            text = result_for_orchestrator(outcome, transfer.agent.name)
            run.messages.append(ToolMessage(call.id, TRANSFER, text, failed=outcome.kind != "ok"))
        return None

    async def _delegate(self, turn: Turn, transfer: Transfer, number: int) -> Outcome:
        """One round: the specialist works on the request alone and always comes back with a typed result."""
        agent, started = transfer.agent, time.monotonic()
        run = AgentRun(agent, [UserMessage(transfer.request)], f"d{number}")
        opening = turn.stamp(self._root.name, run.delegation_id)
        turn.record(DelegationStarted(opening, agent.name, transfer.request, transfer.reply, number))
        outcome = await (
            self._work(turn, run) if agent.remote is None else _ask_remote(agent, transfer.request)
        )
        if outcome.kind == "rejected":
            turn.struck_off.add(agent.name)
        milliseconds = (time.monotonic() - started) * 1000
        closing = turn.stamp(agent.name, run.delegation_id)
        turn.record(
            DelegationFinished(
                closing, agent.name, outcome.kind, outcome.text, outcome.cause, run.usage, milliseconds
            )
        )
        return outcome


async def _ask_remote(agent: Agent, request: str) -> Outcome:
    """A remote agent is given the request, and nothing else."""
    assert agent.remote is not None  # asked only for remote agents
    try:
        text = await agent.remote.ask(request)
    except ToolError as error:
        return Outcome("failed", agent.name, cause=str(error))
    if (declined := rejection(text)) is not None:
        return Outcome("rejected", agent.name, cause=declined)
    return (
        Outcome("ok", agent.name, text)
        if text.strip()
        else Outcome("empty", agent.name, cause="it said nothing")
    )


def _apology(outcome: Outcome) -> str:
    """What the person reads when there is no reply."""
    return f"I could not answer: {(outcome.cause or outcome.kind).rstrip('.')}."
