"""Runs turns, new and resumed: one at a time in each session, each to exactly one end.

Every entry (terminal, library, HTTP, A2A) reads the same iterator of events; there is no second path.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from sestet.core.errors import PersonError, StorageError, told
from sestet.core.event import Event, MemoryRecalled, ToolFinished, TurnFailed, TurnResumed, TurnStarted
from sestet.core.label import CLEAN, Label, others_words
from sestet.core.message import MemoryMessage, UserMessage, whole
from sestet.core.words import duration, moment
from sestet.runtime.doubt import abandon
from sestet.runtime.fast_route import routed_call
from sestet.runtime.history import Conversation, History
from sestet.runtime.hooks import Hooks
from sestet.runtime.limits import Limits
from sestet.runtime.replay import NOTHING_DONE, replay
from sestet.runtime.running import RunningTurns
from sestet.runtime.steps import Steps
from sestet.runtime.stopping import stop
from sestet.runtime.turn import AgentRun, Turn, TurnPlan, require_texts
from sestet.runtime.turn_end import cancelled, end_of, failed, may_have_stored
from sestet.services.sessions import require_new_name, require_own_session
from sestet.storage.journal import TurnRow
from sestet.storage.locks import SessionLocks
from sestet.storage.turn_log import TurnLog

_log = logging.getLogger("sestet.runtime")

#: The label of a turn that broke off: the worst.
_UNKNOWN = Label(untrusted=True, private=True, sources=("a turn that broke off",))


class Runner:
    """Runs the turns of all sessions over one tree of agents."""

    def __init__(
        self,
        steps: Steps,
        log: TurnLog,
        history: History,
        locks: SessionLocks,
        limits: Limits,
        hooks: Hooks = Hooks(),  # noqa: B008 - immutable
    ) -> None:
        self.root = steps.root
        self._steps = steps
        self._log = log
        self._history = history
        self.locks = locks
        self._limits = limits
        self._hooks = hooks
        self.running = RunningTurns(log)

    def run_turn(
        self,
        session_id: str,
        text: str,
        *,
        can_ask: bool = True,
        mine: bool = True,
        turn_id: str = "",
        agent: str = "",
        caller: str = "",
    ) -> AsyncGenerator[Event]:
        """The events of one turn. A second message to a busy session waits for the first to end.

        ``turn_id``: the id of the new turn, if it was promised to somebody before. ``agent``: the specialist
        that answers; if it does not exist, the turn fails. ``caller``: somebody else who gets the answer.
        """
        require_texts(session_id, text)
        require_own_session(session_id, caller, mine=mine)
        mine = mine and not caller
        text = whole(text)

        async def plan() -> TurnPlan:
            number, forgetting = await self._log.next_turn(session_id)
            if number == 1:
                require_new_name(session_id)
            facts = (text, can_ask, turn_id, NOTHING_DONE, mine, moment(self._hooks.clock()), agent, caller)
            return TurnPlan(session_id, number, forgetting, *facts)

        return self._follow(session_id, plan)

    async def resume_turn(self, turn_id: str, *, can_ask: bool = True) -> AsyncGenerator[Event]:
        """The rest of a turn that was paused, or cut off by a crash."""
        row = await self._turn(turn_id)
        async with aclosing(self._follow(row.session_id, lambda: self._plan_rest(row, can_ask))) as events:
            async for event in events:
                yield event

    async def _plan_rest(self, row: TurnRow, can_ask: bool) -> TurnPlan:
        await self._require_open(row.id)
        forgetting, past = await self._log.last_forgetting(), replay(await self._log.past_of(row.id))
        facts = (past.text, can_ask, row.id, past, past.mine, past.said_at, past.agent, past.caller)
        return TurnPlan(row.session_id, row.number, forgetting, *facts)

    async def _follow(
        self, session_id: str, plan: Callable[[], Awaitable[TurnPlan]]
    ) -> AsyncGenerator[Event]:
        """The events of a turn as they are written. The session stays locked until the turn has ended."""
        async with self.locks.hold(session_id):
            turn = Turn(await plan(), self._log, self._limits)
            past = await self._history.before(session_id, turn.number, turn.last_forgetting)
            stamp = turn.stamp("user")
            label = self._first_label(turn, past)
            facts = (turn.text, label, turn.mine, turn.said_at, turn.agent, turn.caller)
            turn.record(TurnResumed(stamp) if turn.resumed else TurnStarted(stamp, *facts))
            task = asyncio.create_task(self._conduct(turn, past))
            task.add_done_callback(lambda task: self._close(turn, task))
            self.running.add(turn, task)
            try:
                while await turn.has_news():
                    while turn.unread:
                        self._hooks.on_event(turn.unread[0])
                        yield turn.unread.popleft()
                if turn.error is not None:
                    raise turn.error
            finally:
                try:
                    # A reader that leaves stops the turn.
                    if not task.done():
                        await stop(task)
                finally:
                    self.running.remove(turn)
                    await turn.finish_writing()
                    # A reader that left does not get these.
                    for event in turn.unread:
                        self._hooks.on_event(event)
                    self._history.add(turn)
                    self._hooks.after_turn(turn.session_id, may_have_stored(turn))

    async def abandon_turn(self, turn_id: str) -> tuple[ToolFinished, ...]:
        """End a turn that waits or was cut off, without going on with it. Returns the calls in doubt."""
        row = await self._turn(turn_id)
        async with self.locks.hold(row.session_id):
            await self._require_open(turn_id)
            doubts = await abandon(self._log, row)
            self._hooks.after_turn(row.session_id, True)
            return doubts

    async def _turn(self, turn_id: str) -> TurnRow:
        row = await self._log.find(turn_id)
        if row is None:
            raise PersonError(f"there is no turn '{turn_id}'")
        return row

    async def _require_open(self, turn_id: str) -> None:
        """Refuse a turn that has ended. We hold the session lock, so a "running" turn must have crashed."""
        state = (await self._turn(turn_id)).state
        if state not in ("running", "paused"):
            raise PersonError(f"the turn '{turn_id}' has already {state}")

    async def _conduct(self, turn: Turn, past: Conversation) -> None:
        """The work of one turn, to exactly one of its ends."""
        root, run = self.root.name, None
        try:
            run = self._open_conversation(turn, past)
            if turn.seconds_left <= 0:
                # What is replayed may never wait, and only a task that waits is stopped by a timeout.
                raise TimeoutError
            async with asyncio.timeout(turn.seconds_left):
                outcome = await self._steps.work(run, await routed_call(run, self._hooks.fast_route))
            end = end_of(turn, root, outcome, run.label)
        except TimeoutError:
            cause = f"this took longer than the limit of {duration(turn.limits.seconds)}"
            end = failed(turn, root, "timeout", cause, run.label if run else CLEAN)
        except asyncio.CancelledError:
            end = cancelled(turn)
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
        return failed(turn, self.root.name, "failed", cause, label)

    def _close(self, turn: Turn, task: asyncio.Task[None]) -> None:
        """Record the end for a task that was ended from outside, or before its first step."""
        # Read in any case: asyncio complains about an error that nobody has read.
        error = None if task.cancelled() else task.exception()
        if turn.error is None:
            if task.cancelled():
                turn.record(cancelled(turn))
            elif error is not None:
                turn.record(self._failed_on(turn, error, _UNKNOWN))
        turn.close()

    def _open_conversation(self, turn: Turn, past: Conversation) -> AgentRun:
        turn.previous_text, turn.past_turns = past.last_text, past.turns
        recalled = self._recall(turn)
        memory = (MemoryMessage(recalled.text),) if recalled else ()
        label = self._first_label(turn, past)
        if recalled:
            label |= recalled.label
        messages = [*past.messages, *memory, UserMessage(turn.text, turn.said_at)]
        return AgentRun(turn, self.root, messages, label=label, past=len(past.messages))

    def _first_label(self, turn: Turn, past: Conversation) -> Label:
        """The label of what the root agent is shown before the turn does anything."""
        # A resumed turn may be shown less of the past than the replies that are replayed had read.
        label = past.label | turn.replay.label | self._steps.instruction_label
        return label if turn.mine else label | others_words(turn.caller)

    def _recall(self, turn: Turn) -> MemoryRecalled | None:
        """What is remembered about the message. A resumed turn keeps what it was shown before."""
        if turn.replay.recalled is not None or "" in turn.replay.replies:
            return turn.replay.recalled
        # Only the root agent reads memories: not a chosen specialist. A caller must not get the owner's.
        found = None if turn.agent or turn.caller else self._hooks.recall(turn.text)
        if found is None:
            return None
        recalled = self._log.clean(MemoryRecalled(turn.stamp(self.root.name), *found))
        turn.record(recalled)
        return recalled
