"""The state of one turn: its events, its limits, and the work of each agent in it."""

import asyncio
import os
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

from sestet.core.agent import Agent
from sestet.core.effects import open_calls
from sestet.core.errors import BusyError, LimitError, PersonError, StorageError
from sestet.core.event import PIECES, Event, OutcomeKind, Stamp, ToolCalled, TurnSteered
from sestet.core.label import CLEAN, Label, outside_label
from sestet.core.message import Found, Message
from sestet.core.model import Usage
from sestet.core.record import Record
from sestet.runtime.limits import Limits
from sestet.runtime.replay import NOTHING_DONE, Replay
from sestet.runtime.seen_so_far import SeenSoFar, ShownTurn
from sestet.services.sessions import require_session_name
from sestet.storage.journal import Journal
from sestet.storage.lock_wait import LockWait, held_too_long
from sestet.storage.turn_log import TurnLog

EventT = TypeVar("EventT", bound=Event)


class Outcome(NamedTuple):
    """How an agent's work ended. ``author`` names the agent that wrote ``text``."""

    kind: OutcomeKind
    author: str
    text: str = ""
    cause: str = ""
    #: The turn was stopped, and this delegation with it: a resumed turn makes the delegation again.
    ended_with_turn: bool = False
    #: The cause for the person, where ``cause`` instructs a model.
    for_person: str = ""
    #: A request to a remote agent was denied.
    denied: bool = False
    #: What the agent's tools found.
    found: tuple[Found, ...] = ()


class TurnPlan(Record):
    """What a turn starts with. A new turn has nothing to replay; an empty id gets it a new one."""

    session_id: str
    #: The turn's place in its session.
    number: int
    #: The last forgetting when the turn was planned.
    last_forgetting: int
    text: str
    #: Whether a person can answer a question, now or later; if not, every question counts as denied.
    can_ask: bool = True
    id: str = ""
    replay: Replay = NOTHING_DONE
    #: Whether the person wrote the text; if not, it is untrusted.
    mine: bool = True
    #: The person's local time when the turn began.
    said_at: str = ""
    #: The specialist that the person chose; empty: the orchestrator chooses.
    agent: str = ""
    #: Somebody else whose program sent the text and gets the answer; empty: the owner.
    caller: str = ""


def require_usable(journal: Journal, session_id: object, text: object) -> None:
    """Refuse a value that is no text, a name that no session can have, and an empty message."""
    require_texts(session_id, text)
    require_session_name(journal, str(session_id))


def require_texts(session_id: object, text: object) -> None:
    """Refuse a value that is no text, and an empty message."""
    for what, value in (("session id", session_id), ("message", text)):
        if not isinstance(value, str):
            raise TypeError(f"the {what} must be a text (str), not {type(value).__name__}")
    if not str(text).strip():
        raise PersonError("the message is empty")


def new_turn_id() -> str:
    """Ids sort by time, so that turns of the same moment share pages of the database file."""
    return f"{time.time_ns() // 1_000_000:011x}{os.urandom(4).hex()}"


class Turn:
    """Records the events of one turn and hands them to its reader."""

    def __init__(self, plan: TurnPlan, log: TurnLog, limits: Limits) -> None:
        self.session_id = plan.session_id
        self.id = plan.id or new_turn_id()
        self.number = plan.number
        self.last_forgetting = plan.last_forgetting
        self.scanner = log.scanner
        self.scanner.look_again()
        self.text = self.scanner.clean(plan.text)
        self.can_ask = plan.can_ask
        self.limits = limits
        self.replay = plan.replay
        self.resumed = self.replay is not NOTHING_DONE
        self.mine, self.caller = plan.mine, plan.caller
        self.said_at = plan.said_at
        self.agent = plan.agent
        #: The person's message before this one, as far as the root agent is shown it.
        self.previous_text = ""
        #: The earlier turns of the session that the root agent is shown.
        self.past_turns: Sequence[ShownTurn] = ()
        self.rounds = 0
        # What was used before a resume counts at once, and not when its agent is replayed.
        self.usage = self.replay.usage
        #: For calls whose tokens nobody counted.
        self.estimated_tokens = self.replay.estimated_tokens
        #: Models whose price is unknown, and the person knows that.
        self.unpriced = set(self.replay.unpriced)
        #: What the person added while the turn ran.
        self.steered = list(self.replay.steered)
        #: Agents that rejected a request; this turn asks them no more.
        self.struck_off: set[str] = set()
        self.tool_calls: dict[str, int] = defaultdict(int)
        #: Tool calls of all agents that were answered, by the tool or by a refusal.
        self.answered_calls = 0
        #: Ids of the questions that a person must decide before the turn can go on.
        self.waiting_for: list[str] = []
        #: Running delegations, and those that the person stopped.
        self.delegations: dict[str, asyncio.Task[object] | None] = {}
        self.stopped: set[str] = set()
        #: Calls that were begun and have no result yet, by id.
        self.open: dict[str, ToolCalled] = open_calls(self.replay.acts)
        #: Set when the storage failed. Then nothing more is written, and the turn can be resumed later.
        self.error: StorageError | None = None
        #: Set when the process is about to end: nothing new is begun, so that the turn can be cut off.
        self.held = False
        self._started = time.monotonic()
        self._model_calls = self.replay.model_calls
        self._seq = self.replay.last_seq
        self._storage = log
        self.prompts = log.prompts
        #: Events since the start or the resume, without the pieces of streamed text.
        self.log: list[Event] = []
        #: Events that are written and not yet read.
        self.unread: deque[Event] = deque()
        #: How many events were recorded, and how many of them are written.
        self._recorded = 0
        #: How many events must be written before an effect or a paid model call.
        self._needed = 0
        self._written = 0
        self._news: asyncio.Future[None] | None = None
        self._closed = False

    @property
    def own_text(self) -> str:
        """The message and the words added to it, as far as the person wrote them."""
        own = self.text if self.mine else ""
        if not self.steered:
            return own
        return "\n\n".join(filter(None, (own, *(event.text for event in self.steered if event.mine))))

    @property
    def user_words(self) -> str:
        """The person's words that can name a target of a call."""
        if not self.previous_text and not self.steered:
            return self.own_text
        from sestet.runtime.mentions import words_that_count

        # Text that the person did not write must not use their earlier words either.
        is_whole = self.mine and all(event.mine for event in self.steered)
        previous = self.previous_text if is_whole else ""
        return words_that_count(
            self.text if self.mine else "", previous, [e.text for e in self.steered if e.mine]
        )

    def stamp(self, author: str, delegation_id: str = "") -> Stamp:
        self._seq += 1
        return Stamp(self.session_id, self.id, self._seq, author, delegation_id, time.time())

    def record(self, event: Event, *, sync: bool = False, repeatable: bool = False) -> None:
        """Write the event in the journal's next commit; the reader gets it after that, and only once.

        ``repeatable``: after a crash the same work is done again, so ``settle`` does not wait for the event.
        """
        if self.error is not None:
            raise self.error
        if self.resumed and self.replay.has(event):
            return
        event = self._storage.stage(event, self, sync=sync)
        self._recorded += 1
        self._needed = self._needed if repeatable else self._recorded
        if not isinstance(event, PIECES):
            self.log.append(event)

    async def record_with(
        self, make: Callable[[], EventT], write: Callable[[EventT], Awaitable[bool]]
    ) -> EventT | None:
        """Record an event that ``write`` stores at once, together with a row of its own.

        None when ``write`` stored nothing; then the event did not happen.
        """
        wait = LockWait()
        while True:
            # SQLite never suspends, so no task runs between these lines, and the events keep their order.
            await self._flush()
            event = self._storage.clean(make())
            try:
                if not await write(event):
                    return None
                break
            except BusyError as error:
                if wait.is_over:
                    raise held_too_long(error) from error
            await asyncio.sleep(wait.next_wait())
        self.log.append(event)
        self.unread.append(event)
        self._wake()
        return event

    async def add_words(self, event: TurnSteered) -> bool:
        """Write words of the person; they count from then on."""
        await self._storage.append(event)
        self.steered.append(event)
        return True

    async def safe_point(self) -> None:
        """Before an effect and before a model call. A turn that is held waits here until it is cut off."""
        if self.held:
            await asyncio.get_running_loop().create_future()

    async def settle(self) -> None:
        """Wait until the recorded events are written: before an effect, and before a paid model call."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # A tool swallowed its cancellation.
            raise asyncio.CancelledError
        needed = self._needed
        if self._written < needed:
            # The journal commits before the event loop resumes this task, unless another process writes.
            await asyncio.sleep(0)
            while self._written < needed and self.error is None:
                await self._storage.settled()
        if self.error is not None:
            raise self.error

    async def _flush(self) -> None:
        """Write every recorded event; when this returns, none is left."""
        while self._written < self._recorded and self.error is None:
            await self._storage.flushed()
            if self._written < self._recorded:
                await self._storage.settled()
        if self.error is not None:
            raise self.error

    async def finish_writing(self) -> None:
        """Write every recorded event, even while this task is cancelled."""
        cancelled: asyncio.CancelledError | None = None
        while self._written < self._recorded and self.error is None:
            try:
                await self._flush()
            except asyncio.CancelledError as error:
                cancelled = error
        if self.error is not None:
            raise self.error
        if cancelled is not None:
            raise cancelled

    def on_written(self, event: Event) -> None:
        self._written += 1
        self.unread.append(event)
        if self._news is not None:
            self._wake()

    def on_failed(self, error: StorageError) -> None:
        self.error = error
        self._wake()

    def close(self) -> None:
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, None
        # A reader that left has cancelled the future.
        if news is not None and not news.done():
            news.set_result(None)

    async def has_news(self) -> bool:
        """Wait for an unread event; False when the turn is closed or the storage failed."""
        while not self.unread:
            if self.error is not None or (self._closed and self._written == self._recorded):
                return False
            self._news = asyncio.get_running_loop().create_future()
            await self._news
        return True

    def spend_model_call(self) -> None:
        """Count a model call; raise ``LimitError`` when the limits allow no more."""
        limits, usage = self.limits, self.usage
        used = usage.input_tokens + usage.output_tokens + self.estimated_tokens
        if self._model_calls >= limits.model_calls:
            raise LimitError(f"the limit of {limits.model_calls} model calls in one turn is reached")
        if limits.tokens is not None and used >= limits.tokens:
            raise LimitError(f"the limit of {limits.tokens} tokens in one turn is reached")
        if limits.dollars is not None and self.usage.nano_dollars >= limits.dollars * 1e9:
            raise LimitError(f"the limit of {limits.dollars:g} dollars in one turn is reached")
        self._model_calls += 1

    def count_past(self, delegation_id: str) -> None:
        """Count the tool calls of a delegation that ended before the turn was resumed."""
        self.answered_calls += self.replay.answered_calls[delegation_id]
        for tool in self.replay.tool_calls.get(delegation_id, ()):
            self.tool_calls[tool] += 1

    @property
    def calls_left(self) -> int:
        """How many tool calls the turn may still make."""
        return max(0, self.limits.tool_calls - self.answered_calls)

    @property
    def milliseconds(self) -> float:
        return self.replay.milliseconds + (time.monotonic() - self._started) * 1000

    @property
    def seconds_left(self) -> float:
        return self.limits.seconds - self.replay.milliseconds / 1000


class AgentRun:
    """One agent at work in one turn: its context with its label, and the calls it has made.

    Every step of the agent gets this object, and through it the turn.
    """

    def __init__(
        self,
        turn: Turn,
        agent: Agent,
        messages: list[Message],
        delegation_id: str = "",
        label: Label = CLEAN,
        past: int = 0,
    ) -> None:
        self.turn = turn
        self.agent = agent
        self.messages = messages
        #: How many of the messages are from earlier turns.
        self.past = past
        #: Empty for the root agent.
        self.delegation_id = delegation_id
        self.label = label | outside_label(tool.outside for tool in agent.tools or ())
        self.usage = Usage()
        self.nudged = False
        #: The model's last reply was paid for, and may not be written yet.
        self.has_new_reply = False
        #: Replies in a row whose calls were all wrong or refused.
        self.mistakes = 0
        #: What its delegations returned.
        self.results: list[Outcome] = []
        #: How often the agent made each exact call.
        self.repeats: dict[str, int] = defaultdict(int)
        #: How many calls the model has asked for, without those that were left out.
        self.calls = 0
        #: How many calls of the last reply were left out, because they exceed the limit of the turn.
        self.left_out = 0
        #: How many of the texts that the person added the agent has read.
        self.steered = 0
        #: Replies that asked for tools when the turn allowed no more calls.
        self.overdrawn = 0
        self.seen = SeenSoFar()

    def stamp(self) -> Stamp:
        """The stamp of the next event that this agent causes."""
        return self.turn.stamp(self.agent.name, self.delegation_id)

    def new_call_id(self) -> str:
        """An id of our own, since servers repeat theirs; a replayed turn gives the same ids."""
        self.calls += 1
        return f"{self.delegation_id or 'd0'}c{self.calls}"
