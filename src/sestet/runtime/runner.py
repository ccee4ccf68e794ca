"""Runs turns: new ones, resumed ones, one at a time in each session, each to exactly one end.

Every entry (terminal, library, HTTP, A2A) reads the same iterator of events; there is no second path.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from sestet.core.agent import Agent
from sestet.core.errors import PersonError, StorageError, told
from sestet.core.event import (
    Event,
    MemoryRecalled,
    Stamp,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
    TurnStarted,
)
from sestet.core.label import CLEAN, Label
from sestet.core.message import MemoryMessage, ToolCall, UserMessage, whole
from sestet.core.model import Model
from sestet.runtime.approval import Gatekeeper
from sestet.runtime.history import History
from sestet.runtime.replay import replay
from sestet.runtime.steps import Steps
from sestet.runtime.turn import AgentRun, Limits, Outcome, Turn, TurnPlan
from sestet.storage.journal import Journal, TurnRow
from sestet.storage.locks import SessionLocks

if TYPE_CHECKING:
    from sestet.runtime.fast_route import FastRoute

_log = logging.getLogger("sestet.runtime")

_LONGEST_ID = 200
#: Of a turn that was torn off: the worst.
_UNKNOWN = Label(untrusted=True, private=True, sources=("a turn that broke off",))


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
        self._steps = Steps(root, model_of, gatekeeper)
        self._journal = journal
        self._history = history
        self._locks = locks
        self._limits = limits
        #: Is told the session of every turn that has ended, when its reader has everything.
        self.after_turn: Callable[[str], None] = lambda session_id: None
        #: Decides on the first delegation without a model, where it is sure; None: a model always does.
        self.fast_route: "FastRoute | None" = None  # noqa: UP037 - it is loaded where it is wanted
        self._running: dict[str, tuple[Turn, asyncio.Task[None]]] = {}

    def run_turn(self, session_id: str, text: str, *, can_ask: bool = True) -> AsyncGenerator[Event]:
        """The events of one turn. A second message to a busy session waits for the first to end."""
        require_usable(session_id, text)
        text = whole(text)
        return self._follow(
            session_id,
            lambda: TurnPlan(session_id, self._journal.next_number(session_id), text, can_ask),
        )

    def resume_turn(self, turn_id: str, *, can_ask: bool = True) -> AsyncGenerator[Event]:
        """The rest of a turn that was paused, or cut off by a crash."""
        row = self._turn(turn_id)
        return self._follow(row.session_id, lambda: self._plan_rest(row, can_ask))

    def _plan_rest(self, row: TurnRow, can_ask: bool) -> TurnPlan:
        self._require_open(row.id)
        past = replay(self._journal.events_of(row.id))
        return TurnPlan(row.session_id, row.number, past.text, can_ask, row.id, past)

    async def _follow(self, session_id: str, plan: Callable[[], TurnPlan]) -> AsyncGenerator[Event]:
        """The events of a turn as they are written; its session is held from its plan to its end."""
        async with self._locks.hold(session_id):
            turn = Turn(plan(), self._journal, self._limits)
            stamp = turn.stamp("user")
            turn.record(TurnResumed(stamp) if turn.resumed else TurnStarted(stamp, turn.text))
            task = asyncio.create_task(self._conduct(turn))
            task.add_done_callback(lambda task: self._close(turn, task))
            self._running[turn.session_id] = (turn, task)
            try:
                while await turn.has_news():
                    while turn.unread:
                        yield turn.unread.popleft()
                if turn.error is not None:
                    raise turn.error
            finally:
                try:
                    # A reader that goes away stops the turn: nobody is left to see it or to pay for it.
                    if not task.done():
                        await _stop(task)
                finally:
                    del self._running[turn.session_id]
                    turn.flush()
                    self._history.add(turn)
                    self.after_turn(turn.session_id)

    async def abandon_turn(self, turn_id: str) -> None:
        """End a turn that waits or was cut off, without going on with it."""
        row = self._turn(turn_id)
        async with self._locks.hold(row.session_id):
            self._require_open(turn_id)
            seq = self._journal.last_seq(turn_id) + 1
            self._journal.append(TurnCancelled(Stamp(row.session_id, turn_id, seq, "user", "", time.time())))
            self.after_turn(row.session_id)

    def _turn(self, turn_id: str) -> TurnRow:
        row = self._journal.turn(turn_id)
        if row is None:
            raise PersonError(f"there is no turn '{turn_id}'")
        return row

    def _require_open(self, turn_id: str) -> None:
        """Whoever holds the session is alone with it: a turn that counts as running was cut off."""
        state = self._journal.turn_state(turn_id)
        if state not in ("running", "paused"):
            raise PersonError(f"the turn '{turn_id}' has already {state}")

    def cancel_turn(self, session_id: str) -> bool:
        """Stop the running turn of a session, with everything that works for it."""
        return session_id in self._running and self._running[session_id][1].cancel()

    def cut_off(self) -> None:
        """Leave every running turn where it is: its reader gets an error, and it can be resumed."""
        error = StorageError("the assistant was closed before the turn ended; it can be resumed")
        for turn, task in self._running.values():
            if not task.done():
                turn.on_failed(error)

    def cancel_delegation(self, session_id: str, delegation_id: str) -> bool:
        """Stop one delegation; its result is ``cancelled``, and the turn goes on."""
        turn, _ = self._running.get(session_id, (None, None))
        task = turn.delegations.get(delegation_id) if turn else None
        if turn is None or task is None:
            return False
        turn.stopped.add(delegation_id)
        return task.cancel()

    async def _conduct(self, turn: Turn) -> None:
        """The work of one turn, to exactly one of its ends."""
        root, run = self._root.name, None
        try:
            run = self._open_conversation(turn)
            async with asyncio.timeout(turn.seconds_left):
                outcome = await self._steps.work(turn, run, await self._route(turn, run))
            end = self._end_of(turn, run, outcome)
        except TimeoutError:
            cause = f"this took longer than the limit of {turn.limits.seconds:g} seconds"
            end = TurnFailed(turn.stamp(root), "timeout", _apology(cause), run.label if run else CLEAN)
        except asyncio.CancelledError:
            end = TurnCancelled(turn.stamp("user"))
        except StorageError as error:
            turn.on_failed(error)
            return
        except Exception as bug:
            end = self._failed_on(turn, bug, run.label if run else CLEAN)
        if turn.error is None:
            turn.record(end)

    def _failed_on(self, turn: Turn, bug: BaseException, label: Label) -> TurnFailed:
        _log.error("turn %s failed on a bug", turn.id, exc_info=bug)
        cause = whole(f"something went wrong inside Sestet: {told(bug)}")
        return TurnFailed(turn.stamp(self._root.name), "failed", _apology(cause), label)

    def _close(self, turn: Turn, task: asyncio.Task[None]) -> None:
        """A task that is ended from outside, or before its first step, cannot record that itself."""
        if turn.error is None:
            if task.cancelled():
                turn.record(TurnCancelled(turn.stamp("user")))
            elif (error := task.exception()) is not None:
                turn.record(self._failed_on(turn, error, _UNKNOWN))
        turn.close()

    async def _route(self, turn: Turn, run: AgentRun) -> ToolCall | None:
        """The first delegation, where code decides on it; None: a model does."""
        if self.fast_route is None and turn.replay.routed is None:
            return None
        from sestet.runtime.fast_route import routed_call

        return await routed_call(turn, run, self.fast_route)

    def _open_conversation(self, turn: Turn) -> AgentRun:
        past = self._history.before(turn.session_id, turn.number)
        turn.user_words = f"{past.user_words}\n{turn.text}"
        recalled = self._recall(turn)
        memory = (MemoryMessage(recalled.text),) if recalled else ()
        label = past.label | recalled.label if recalled else past.label
        messages = [*past.messages, *memory, UserMessage(turn.text)]
        return AgentRun(self._root, messages, label=label, past=len(past.messages))

    def _recall(self, turn: Turn) -> MemoryRecalled | None:
        """What is remembered beside the message. A turn that goes on is shown what it was shown before."""
        if turn.replay.recalled is not None or "" in turn.replay.replies:
            return turn.replay.recalled
        found = self._history.recall(turn.text)
        if found is None:
            return None
        recalled = MemoryRecalled(turn.stamp(self._root.name), *found)
        turn.record(recalled)
        return recalled

    def _end_of(self, turn: Turn, run: AgentRun, outcome: Outcome) -> Event:
        if outcome.kind == "ok":
            stamp = turn.stamp(outcome.author)
            return TurnFinished(stamp, outcome.text, turn.usage, turn.milliseconds, run.label)
        stamp = turn.stamp(self._root.name)
        if outcome.kind == "paused":
            return TurnPaused(stamp, tuple(turn.waiting_for))
        return TurnFailed(stamp, outcome.kind, _apology(outcome.cause or outcome.kind), run.label)


def require_usable(session_id: str, text: str) -> None:
    """Refuse what no session can be named, and a message that says nothing."""
    if not session_id.isprintable() or not 0 < len(session_id) <= _LONGEST_ID:
        raise PersonError(
            f"a session's name has 1 to {_LONGEST_ID} printable characters, not {session_id[:50]!r}"
        )
    if not text.strip():
        raise PersonError("the message is empty")


async def _stop(task: asyncio.Task[None]) -> None:
    """Return when the task has ended, however often whoever waits for that is cancelled meanwhile."""
    cancelled: asyncio.CancelledError | None = None
    task.cancel()
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _apology(cause: str) -> str:
    """What the person reads when there is no reply."""
    return f"I could not answer: {cause.rstrip('.')}."
