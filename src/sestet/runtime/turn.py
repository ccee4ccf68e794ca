"""The state of one turn: its events, its limits, and the run of each agent in it."""

import asyncio
import os
import time
from collections import defaultdict, deque
from typing import NamedTuple

from sestet.core.agent import Agent
from sestet.core.errors import LimitError, StorageError
from sestet.core.event import Event, OutcomeKind, Stamp, TextStreamed
from sestet.core.label import CLEAN, Label
from sestet.core.message import Message
from sestet.core.model import Usage
from sestet.runtime.replay import NOTHING_DONE, Replay
from sestet.storage.journal import Journal


class Limits(NamedTuple):
    """What one turn may use; None is without a limit."""

    rounds: int = 5
    model_calls: int = 40
    seconds: float = 600.0
    #: Of one delegation, so that time is left to answer with what there is.
    delegation_seconds: float = 300.0
    tool_output: int = 16_000
    tokens: int | None = None
    dollars: float | None = None


class Outcome(NamedTuple):
    """How an agent's work ended. ``author`` is whose words ``text`` is."""

    kind: OutcomeKind
    author: str
    text: str = ""
    cause: str = ""


class AgentRun:
    """One agent at work: its own context with its label, and what it has already tried."""

    def __init__(
        self,
        agent: Agent,
        messages: list[Message],
        delegation_id: str = "",
        label: Label = CLEAN,
        past: int = 0,
    ) -> None:
        self.agent = agent
        self.messages = messages
        #: How many of them are from earlier turns.
        self.past = past
        self.delegation_id = delegation_id
        self.label = label
        self.usage = Usage()
        self.nudged = False
        #: Wrong names or malformed arguments in a row.
        self.mistakes = 0
        #: How often each exact call was made.
        self.repeats: dict[str, int] = defaultdict(int)
        #: How many calls the model has asked for.
        self.calls = 0

    def new_call_id(self) -> str:
        """Our own, since servers repeat theirs; the same when the turn is replayed."""
        self.calls += 1
        return f"{self.delegation_id or 'd0'}c{self.calls}"


class TurnPlan(NamedTuple):
    """What a turn is started with: a new one has nothing behind it."""

    session_id: str
    #: Its place in the session.
    number: int
    text: str
    #: Whether a person can be asked while it runs or later; if not, the answer is no.
    can_ask: bool = True
    #: Empty: a new one.
    id: str = ""
    replay: Replay = NOTHING_DONE


def is_stopped_by(error: BaseException) -> bool:
    """Whether an error ends the task that is running, and is nobody's result."""
    if isinstance(error, asyncio.CancelledError):
        # Whatever is waited for may have been cancelled as well; that is no reason to stop.
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return isinstance(error, (KeyboardInterrupt, GeneratorExit))


def _new_id() -> str:
    """Ids sort by time: turns that run at the same time lie side by side in the file, and share its pages."""
    return f"{time.time_ns() // 1_000_000:011x}{os.urandom(4).hex()}"


class Turn:
    """Records events and hands them to whoever reads the turn."""

    def __init__(self, plan: TurnPlan, journal: Journal, limits: Limits) -> None:
        self.session_id = plan.session_id
        self.id = plan.id or _new_id()
        self.number = plan.number
        self.text = plan.text
        self.can_ask = plan.can_ask
        self.limits = limits
        self.resumed = bool(plan.id)
        self.replay = plan.replay
        #: The person's own words, as far as they are still in the conversation.
        self.user_words = plan.text
        self.rounds = 0
        self.usage = Usage()
        #: Agents that declined; they are not asked again in this turn.
        self.struck_off: set[str] = set()
        self.tool_calls: dict[str, int] = defaultdict(int)
        #: Questions that have to be decided before the turn can go on.
        self.waiting_for: list[str] = []
        #: Running delegations, and those that the person stopped.
        self.delegations: dict[str, asyncio.Task[object] | None] = {}
        self.stopped: set[str] = set()
        #: The storage failed: nothing more is written, so that the turn can be resumed from what is there.
        self.error: StorageError | None = None
        self._started = time.monotonic()
        self._model_calls = 0
        self._seq = self.replay.last_seq
        self._journal = journal
        #: What happened since it was started or resumed, without the pieces of streamed text.
        self.log: list[Event] = []
        #: Events that are written, and that nobody has read.
        self.unread: deque[Event] = deque()
        self._unwritten = 0
        self._news: asyncio.Future[None] | None = None
        self._closed = False

    def stamp(self, author: str, delegation_id: str = "") -> Stamp:
        self._seq += 1
        return Stamp(self.session_id, self.id, self._seq, author, delegation_id, time.time())

    def record(self, event: Event, *, sync: bool = False) -> None:
        """Have the event written; it is shown once it is, never before, and never twice."""
        if self.error is not None:
            raise self.error
        if self.resumed and self.replay.has(event):
            return
        self._journal.stage(event, self, sync=sync)
        self._unwritten += 1
        if not isinstance(event, TextStreamed):
            self.log.append(event)

    def show(self, event: Event) -> None:
        """Hand on an event that was written together with something else."""
        self.log.append(event)
        self.unread.append(event)
        self._wake()

    async def settle(self) -> None:
        """Go on only when all that was recorded is written: before an effect, and before a model is paid."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # Some tool has kept for itself that it was to stop.
            raise asyncio.CancelledError
        if self._unwritten:
            # The journal's commit is due before this task is again.
            await asyncio.sleep(0)
        if self.error is not None:
            raise self.error

    def flush(self) -> None:
        """Have all that was recorded written at once."""
        if self._unwritten:
            self._journal.commit()
        if self.error is not None:
            raise self.error

    def on_written(self, event: Event) -> None:
        self._unwritten -= 1
        self.unread.append(event)
        self._wake()

    def on_failed(self, error: StorageError) -> None:
        self.error = error
        self._wake()

    def close(self) -> None:
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, None
        # A reader that went away has cancelled it.
        if news is not None and not news.done():
            news.set_result(None)

    async def has_news(self) -> bool:
        """Wait for events to be written and unread; False when the turn is closed, or the storage failed."""
        while not self.unread:
            if self.error is not None or (self._closed and not self._unwritten):
                return False
            self._news = asyncio.get_running_loop().create_future()
            await self._news
        return True

    def spend_model_call(self) -> None:
        """Count a model call, and refuse one that the limits no longer allow."""
        limits, used = self.limits, self.usage.input_tokens + self.usage.output_tokens
        if self._model_calls >= limits.model_calls:
            raise LimitError(f"the limit of {limits.model_calls} model calls in one turn is reached")
        if limits.tokens is not None and used >= limits.tokens:
            raise LimitError(f"the limit of {limits.tokens} tokens in one turn is reached")
        if limits.dollars is not None and self.usage.nano_dollars >= limits.dollars * 1e9:
            raise LimitError(f"the limit of {limits.dollars:g} dollars in one turn is reached")
        self._model_calls += 1

    def count_past_call(self) -> None:
        """Count a model call that was paid for before the turn was resumed."""
        self._model_calls += 1

    def count_past(self, delegation_id: str) -> None:
        """Count what a delegation used that was over before the turn was resumed."""
        self._model_calls += self.replay.model_calls[delegation_id]
        for tool in self.replay.tool_calls.get(delegation_id, ()):
            self.tool_calls[tool] += 1

    @property
    def milliseconds(self) -> float:
        return self.replay.milliseconds + (time.monotonic() - self._started) * 1000

    @property
    def seconds_left(self) -> float:
        return self.limits.seconds - self.replay.milliseconds / 1000
