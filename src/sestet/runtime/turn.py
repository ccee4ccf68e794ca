"""The state of one turn: its events, its limits, and the run of each agent in it."""

import asyncio
import secrets
import time
from collections import Counter, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from sestet.core.agent import Agent
from sestet.core.errors import LimitError
from sestet.core.event import Event, OutcomeKind, Stamp
from sestet.core.message import Message
from sestet.core.model import Usage
from sestet.storage.journal import Journal


@dataclass(frozen=True, slots=True)
class Limits:
    """What one turn may use."""

    rounds: int = 5
    model_calls: int = 40
    seconds: float = 600.0
    tool_output: int = 16_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an agent's work ended. ``author`` is whose words ``text`` is."""

    kind: OutcomeKind
    author: str
    text: str = ""
    cause: str = ""


@dataclass(slots=True)
class AgentRun:
    """One agent at work: its own context, and what it has already tried."""

    agent: Agent
    messages: list[Message]
    delegation_id: str = ""
    usage: Usage = field(default_factory=Usage)
    nudged: bool = False
    #: Wrong names or malformed arguments in a row.
    mistakes: int = 0
    #: How often each exact call was made.
    repeats: Counter[str] = field(default_factory=Counter[str])


class Turn:
    """Records events and hands them to whoever reads the turn."""

    def __init__(self, session_id: str, journal: Journal, limits: Limits) -> None:
        self.session_id = session_id
        self.id = secrets.token_hex(8)
        self.limits = limits
        self.started = time.monotonic()
        self.rounds = 0
        self.usage = Usage()
        #: Agents that declined; they are not asked again in this turn.
        self.struck_off: set[str] = set()
        self.tool_calls: Counter[str] = Counter()
        self._model_calls = 0
        self._call_ids = 0
        self._seq = 0
        self._journal = journal
        self._unread: deque[Event] = deque()
        self._news = asyncio.Event()
        self._closed = False

    def stamp(self, author: str, delegation_id: str = "") -> Stamp:
        self._seq += 1
        return Stamp(self.session_id, self.id, self._seq, author, delegation_id, time.time())

    def new_call_id(self) -> str:
        self._call_ids += 1
        return f"{self.id}-{self._call_ids}"

    def record(self, event: Event) -> None:
        """Write the event, then show it; never the other way round."""
        self._journal.append(event)
        self._unread.append(event)
        self._news.set()

    def close(self) -> None:
        self._closed = True
        self._news.set()

    async def events(self) -> AsyncIterator[Event]:
        """Every event as it is recorded, until the turn is closed."""
        while True:
            while self._unread:
                yield self._unread.popleft()
            if self._closed:
                return
            self._news.clear()
            await self._news.wait()

    def spend_model_call(self) -> None:
        if self._model_calls >= self.limits.model_calls:
            raise LimitError(f"the limit of {self.limits.model_calls} model calls in one turn is reached")
        self._model_calls += 1

    @property
    def milliseconds(self) -> float:
        return (time.monotonic() - self.started) * 1000
