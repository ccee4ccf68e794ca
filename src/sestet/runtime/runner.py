"""Runs a turn: step after step, until somebody has answered.

Every entry (terminal, library, HTTP, A2A) reads the same iterator of events; there is no second path.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager, nullcontext, suppress
from typing import Literal

from sestet.core.agent import REJECT_TASK, TRANSFER, Agent
from sestet.core.errors import LimitError, ModelError, PersonError, StorageError
from sestet.core.event import (
    AgentNudged,
    DelegationFinished,
    DelegationStarted,
    Event,
    Stamp,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
    TurnStarted,
)
from sestet.core.message import AssistantMessage, ToolCall, ToolMessage, UserMessage
from sestet.core.model import Model
from sestet.core.tool import Tool
from sestet.runtime.approval import Gatekeeper
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
from sestet.runtime.history import History
from sestet.runtime.model_call import ask_model
from sestet.runtime.prompts import say
from sestet.runtime.reading import announces_transfer, rejection
from sestet.runtime.remote_call import ask_remote
from sestet.runtime.replay import replay
from sestet.runtime.tool_call import call_key, call_tool
from sestet.runtime.turn import AgentRun, Limits, Outcome, Turn, TurnPlan
from sestet.storage.journal import Journal, TurnRow
from sestet.storage.locks import SessionLocks

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
        history: History,
        locks: SessionLocks,
        gatekeeper: Gatekeeper,
        limits: Limits,
    ) -> None:
        self._root = root
        self._model_of = model_of
        self._journal = journal
        self._history = history
        self._locks = locks
        self._gatekeeper = gatekeeper
        self._limits = limits
        self._transfer = (transfer_tool(root.sub_agents),)
        self._one_at_a_time = {agent.name: asyncio.Lock() for agent in root.sub_agents if agent.exclusive}
        self._running: dict[str, tuple[Turn, asyncio.Task[None]]] = {}

    async def run_turn(self, session_id: str, text: str, *, can_ask: bool = True) -> AsyncGenerator[Event]:
        """The events of one turn. A second message to a busy session waits for the first to end."""
        async with self._locks.hold(session_id):
            plan = TurnPlan(session_id, text.encode("utf-8", "replace").decode(), can_ask)
            async with aclosing(self._follow(Turn(plan, self._journal, self._limits))) as events:
                async for event in events:
                    yield event

    async def resume_turn(self, turn_id: str, *, can_ask: bool = True) -> AsyncGenerator[Event]:
        """The rest of a turn that was paused, or cut off by a crash."""
        async with self._open_turn(turn_id) as row:
            past = replay(self._journal.events_of(turn_id))
            plan = TurnPlan(row.session_id, past.text, can_ask, turn_id, past)
            async with aclosing(self._follow(Turn(plan, self._journal, self._limits))) as events:
                async for event in events:
                    yield event

    async def _follow(self, turn: Turn) -> AsyncGenerator[Event]:
        task = asyncio.create_task(self._conduct(turn))
        self._running[turn.session_id] = (turn, task)
        try:
            async for event in turn.events():
                yield event
            await task
        finally:
            # A reader that goes away stops the turn: nobody is left to see it or to pay for it.
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            del self._running[turn.session_id]

    async def abandon_turn(self, turn_id: str) -> None:
        """End a turn that waits or was cut off, without going on with it."""
        async with self._open_turn(turn_id) as row:
            stamp = Stamp(
                row.session_id, turn_id, self._journal.last_seq(turn_id) + 1, "user", "", time.time()
            )
            self._journal.append(TurnCancelled(stamp))

    @asynccontextmanager
    async def _open_turn(self, turn_id: str) -> AsyncGenerator[TurnRow]:
        """A turn that has not ended, with its session held."""
        row = self._journal.turn(turn_id)
        if row is None:
            raise PersonError(f"there is no turn '{turn_id}'")
        async with self._locks.hold(row.session_id):
            # Whoever holds the lock is alone with the session: a turn that counts as running was cut off.
            state = self._journal.turn_state(turn_id)
            if state not in ("running", "paused"):
                raise PersonError(f"the turn '{turn_id}' has already {state}")
            yield row

    def cancel_turn(self, session_id: str) -> bool:
        """Stop the running turn of a session, with everything that works for it."""
        return session_id in self._running and self._running[session_id][1].cancel()

    def cancel_delegation(self, session_id: str, delegation_id: str) -> bool:
        """Stop one delegation; its result is ``cancelled``, and the turn goes on."""
        turn, _ = self._running.get(session_id, (None, None))
        task = turn.delegations.get(delegation_id) if turn else None
        if turn is None or task is None:
            return False
        turn.stopped.add(delegation_id)
        return task.cancel()

    async def _conduct(self, turn: Turn) -> None:
        """One turn from its first event to exactly one of its ends."""
        root = self._root.name
        try:
            if turn.resumed:
                turn.record(TurnResumed(turn.stamp("user")))
            else:
                turn.record(TurnStarted(turn.stamp("user"), turn.text))
            run = self._open_conversation(turn)
            async with asyncio.timeout(turn.seconds_left):
                outcome = await self._work(turn, run)
            self._end(turn, run, outcome)
        except TimeoutError:
            cause = f"this took longer than the limit of {turn.limits.seconds:g} seconds"
            turn.record(TurnFailed(turn.stamp(root), "timeout", _apology(cause)))
        except asyncio.CancelledError:
            turn.record(TurnCancelled(turn.stamp("user")))
        except StorageError:
            raise
        except Exception as bug:
            _log.exception("turn %s failed on a bug", turn.id)
            cause = f"something went wrong inside Sestet: {type(bug).__name__}: {bug}"
            turn.record(TurnFailed(turn.stamp(root), "failed", _apology(cause)))
        finally:
            self._history.add(turn)
            turn.close()

    def _open_conversation(self, turn: Turn) -> AgentRun:
        number = turn.number = self._journal.turn_number(turn.id)
        past = self._history.before(turn.session_id, number)
        turn.user_words = f"{past.user_words}\n{turn.text}"
        return AgentRun(self._root, [*past.messages, UserMessage(turn.text)], label=past.label)

    def _end(self, turn: Turn, run: AgentRun, outcome: Outcome) -> None:
        if outcome.kind == "ok":
            stamp = turn.stamp(outcome.author)
            turn.record(TurnFinished(stamp, outcome.text, turn.usage, turn.milliseconds, run.label))
        elif outcome.kind == "paused":
            turn.record(TurnPaused(turn.stamp(self._root.name), tuple(turn.waiting_for)))
        else:
            cause = outcome.cause or outcome.kind
            turn.record(TurnFailed(turn.stamp(self._root.name), outcome.kind, _apology(cause)))

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
            message, mistake = await call_tool(turn, run, call, self._gatekeeper)
            if message is None:
                return Outcome("paused", run.agent.name)
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
        transfers: list[Transfer] = []
        for call in calls:
            if call.name != TRANSFER:
                answer: Transfer | Refusal = Refusal(answer_invented_call(run.agent, call.name), mistake=True)
            else:
                answer = read_transfer(turn, run.agent, call)
            if isinstance(answer, Transfer):
                transfers.append(answer)
                continue
            run.messages.append(ToolMessage(call.id, call.name, answer.text, failed=True))
            run.mistakes = run.mistakes + 1 if answer.mistake else run.mistakes
            if run.mistakes >= _MISTAKES:
                return Outcome("failed", run.agent.name, cause=answer.text)
        if not transfers:
            return None
        run.mistakes = 0
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
        try:
            async with asyncio.TaskGroup() as group:
                for transfer, child in zip(transfers, runs, strict=True):
                    task = group.create_task(self._delegate(turn, run, transfer, child))
                    turn.delegations[child.delegation_id] = task
        except ExceptionGroup as errors:
            # Every outcome is typed, so this is the storage or a bug; the first says which.
            raise errors.exceptions[0] from errors
        # What the specialists have read, whoever reads their answers has read.
        for child in runs:
            run.label |= child.label
        return [turn.delegations.pop(child.delegation_id).result() for child in runs]

    async def _delegate(self, turn: Turn, parent: AgentRun, transfer: Transfer, run: AgentRun) -> Outcome:
        """One round: the specialist works on the request alone and always comes back with a typed result."""
        agent, started = transfer.agent, time.monotonic()
        if (past := turn.replay.results.get(run.delegation_id)) is not None:
            run.label |= past.label
            turn.usage += past.usage
            return self._returned(turn, Outcome(past.outcome, agent.name, past.text, past.cause))
        opening = turn.stamp(self._root.name, run.delegation_id)
        turn.record(DelegationStarted(opening, agent.name, transfer.request, transfer.reply, transfer.number))
        outcome = await self._supervise(turn, parent, transfer, run)
        milliseconds = (time.monotonic() - started) * 1000
        result = (agent.name, outcome.kind, outcome.text, outcome.cause, run.usage, milliseconds, run.label)
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
                return await self._work(turn, run)
        except TimeoutError:
            return Outcome("timeout", agent.name, cause=f"{agent.name} took longer than {limit:g} seconds")
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if run.delegation_id not in turn.stopped or task is None:
                raise
            task.uncancel()
            return Outcome("cancelled", agent.name, cause="the person stopped it")


def _apology(cause: str) -> str:
    """What the person reads when there is no reply."""
    return f"I could not answer: {cause.rstrip('.')}."
