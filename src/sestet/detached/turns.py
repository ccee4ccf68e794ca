"""Turns that belong to this process and not to a reader: accepted durably, run to their end, open to readers.

A message is stored before it is acknowledged. Its turn runs although nobody reads it, and after a crash the
next process that starts goes on with it. Every reader follows the session's feed from the place it has seen.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Literal, TypeAlias

from sestet.app import App
from sestet.core.errors import BusyError, PersonError, StorageError
from sestet.core.event import Event, TurnSteered
from sestet.core.model import MESSAGE_KEY
from sestet.detached.feeds import Feeds
from sestet.runtime.delegation import require_agent
from sestet.runtime.runner import Runner
from sestet.runtime.turn import new_turn_id, require_usable
from sestet.services.sessions import require_own_session
from sestet.storage.accepted_messages import AcceptedMessage, AcceptedMessages
from sestet.storage.database import Database
from sestet.storage.journal import Journal, TurnRow
from sestet.storage.lock_wait import when_free
from sestet.storage.session_log import SessionLog

_log = logging.getLogger(__name__)

#: Messages of one session that may wait for the turns before them.
_MOST_WAITING = 20
_LONGEST_KEY = 200
#: Seconds before a turn that the storage has cut off is tried again; doubled with each failure in a row.
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
#: Seconds that another process has to stop a turn before the answer says that it was only asked to.
_STOP_SECONDS = 5.0
_LOOK_AGAIN = 0.05
#: Seconds that calls have to end when the process stops.
GRACE = 10.0

TurnState: TypeAlias = Literal["queued", "running", "paused", "finished", "failed", "cancelled"]
#: ``asked``: the process that runs the turn was asked to stop it, and has not done so yet.
Cancelled: TypeAlias = Literal["cancelled", "ended", "asked"]


class TooManyWaitingError(PersonError):
    """A session has so many messages waiting that it takes no more now."""


@asynccontextmanager
async def detached_turns(app: App, grace: float = GRACE) -> AsyncGenerator["DetachedTurns"]:
    """The detached turns of an assistant; ``start`` goes on with those of an earlier process.

    At the end, calls that have begun get so many seconds, and the turns are left to the next process.
    """
    turns = DetachedTurns(app.runner, app.journal, app.database)
    try:
        yield turns
    finally:
        await turns.stop(grace)


class DetachedTurns:
    """Runs the turns of messages that were accepted for others."""

    def __init__(self, runner: Runner, journal: Journal, database: Database) -> None:
        """Use ``detached_turns``, which also ends them."""
        self.feeds = Feeds(SessionLog(database))
        #: Each is called with every event of these turns, after it is written.
        self.listeners: list[Callable[[Event], None]] = []
        self._runner = runner
        self._journal = journal
        self._messages = AcceptedMessages(database)
        #: By turn: its session, and the task that reads it or waits for its session.
        self._tasks: dict[str, tuple[str, asyncio.Task[None]]] = {}
        self.is_stopping = False

    def accept(
        self,
        session_id: str,
        text: str,
        key: str = "",
        *,
        mine: bool = True,
        can_ask: bool = True,
        agent: str = "",
        caller: str = "",
    ) -> AcceptedMessage:
        """Store a message and start its turn; the same key again is the same message, and starts nothing.

        ``agent``: the specialist that answers; empty: the orchestrator chooses. ``caller``: somebody else who
        gets the answer, in a session of theirs.
        """
        agent = require_agent(self._runner.root, agent)
        require_usable(self._journal, session_id, text)
        require_own_session(session_id, caller, mine=mine)
        if len(key) > _LONGEST_KEY:
            raise PersonError(
                f"the key of a message has {len(key)} characters, and the most is {_LONGEST_KEY}"
            )
        if self.is_stopping:
            raise BusyError("the server is stopping; send the message again when it is back")
        if self._count(session_id) >= _MOST_WAITING and not self._is_known(session_id, key):
            raise TooManyWaitingError(
                f"{_MOST_WAITING} messages already wait in the session '{session_id}'; wait for an answer"
            )
        turn_id = new_turn_id()
        words = self._journal.scanner.clean(text)
        message = self._messages.add(
            turn_id,
            session_id,
            key or turn_id,
            words,
            mine=mine and not caller,
            can_ask=can_ask,
            agent=agent,
            caller=caller,
        )
        if message.turn_id == turn_id:
            self._begin(message)
            self.feeds.news.changed(session_id)
        return message

    @property
    def open_turns(self) -> int:
        """How many turns run here, or wait for their session."""
        return len(self._tasks)

    def _count(self, session_id: str) -> int:
        return sum(session == session_id for session, _ in self._tasks.values())

    def _is_known(self, session_id: str, key: str) -> bool:
        return bool(key) and self._messages.find(session_id, key) is not None

    def start(self) -> None:
        """Go on with what an earlier process has accepted and not brought to an end."""
        for turn in self._journal.open_turns():
            if turn.state == "running" and self._messages.get(turn.id):
                self.resume(turn.session_id, turn.id)
        for message in self._messages.waiting():
            self._begin(message)

    def resume(self, session_id: str, turn_id: str) -> None:
        """Go on with a turn that waited for a decision, or was cut off."""
        self._run(session_id, turn_id, lambda: self._runner.resume_turn(turn_id))

    def has_work(self, session_id: str) -> bool:
        """Whether a turn of the session runs or waits in this process."""
        return self._count(session_id) > 0

    def state(self, turn_id: str) -> TurnState | None:
        """What a turn is doing; None: there is no such turn."""
        if row := self._journal.turn(turn_id):
            if row.state == "paused" and turn_id in self._tasks:
                return "running"
            return row.state  # pyright: ignore[reportReturnType] - the schema has these words
        message = self._messages.get(turn_id)
        if message is None:
            return None
        return "cancelled" if message.cancelled else "queued"

    def is_cut_off(self, turn_id: str) -> bool:
        """Whether a turn has begun and not ended, waits for nothing, and no process runs it."""
        row = self._journal.turn(turn_id)
        return (
            row is not None
            and row.state == "running"
            and not self.has_work(row.session_id)
            and self._runner.locks.is_free(row.session_id)
        )

    def waiting(self) -> list[AcceptedMessage]:
        """The messages whose turns have not begun, the oldest first."""
        return self._messages.waiting()

    def was_never_begun(self, turn_id: str) -> bool:
        """Whether its message was cancelled in the queue: no event of the turn will ever come."""
        return self._journal.turn(turn_id) is None and self.state(turn_id) == "cancelled"

    def message(self, turn_id: str) -> AcceptedMessage | None:
        """The message of a turn that this or an earlier process has accepted."""
        return self._messages.get(turn_id)

    async def steer(self, turn_id: str, text: str, key: str = "", *, mine: bool = True) -> bool:
        """Add words to a turn that runs here; False if it does not. The same key again adds nothing."""
        if key and any(
            isinstance(event, TurnSteered) and event.key == key for event in self._journal.events_of(turn_id)
        ):
            return True
        return await self._runner.running.steer(turn_id, text, key, mine=mine)

    async def cancel(self, turn_id: str) -> Cancelled:
        """End a turn, wherever it runs or waits."""
        if self._messages.cancel(turn_id):
            if turn_id in self._tasks:
                self._tasks[turn_id][1].cancel()
            if message := self._messages.get(turn_id):
                self.feeds.changed(message.session_id)
            return "cancelled"
        row = self._journal.turn(turn_id)
        if row is None or row.state not in ("running", "paused"):
            return "ended"
        if self._runner.running.turn_of(row.session_id) == turn_id:
            return "cancelled" if self._runner.running.cancel_turn(row.session_id) else "ended"
        if row.state == "paused":
            await self.abandon(row.session_id, turn_id)
            return "cancelled"
        return await self._cancel_elsewhere(row)

    async def _cancel_elsewhere(self, turn: TurnRow) -> Cancelled:
        """Ask the process that runs a turn to stop it, and wait a moment for that."""
        await when_free(lambda: self._journal.stop_requests.add(turn.id))
        give_up = time.monotonic() + _STOP_SECONDS
        while (row := self._journal.turn(turn.id)) is not None and row.state == "running":
            if self._runner.locks.is_free(turn.session_id):
                # Its process has died.
                with suppress(PersonError):
                    await self.abandon(turn.session_id, turn.id)
            elif time.monotonic() > give_up:
                return "asked"
            else:
                await asyncio.sleep(_LOOK_AGAIN)
        self.feeds.changed(turn.session_id)
        return "cancelled" if row is not None and row.state == "cancelled" else "ended"

    async def abandon(self, session_id: str, turn_id: str) -> None:
        """End a turn that waits or was cut off, and tell the readers of its session."""
        await self._runner.abandon_turn(turn_id)
        self.feeds.changed(session_id)

    async def stop(self, seconds: float) -> None:
        """Accept no more, let calls that have begun end, at most so long, and cut the turns off.

        The next process goes on with them.
        """
        self.is_stopping = True
        tasks = list(self._tasks.items())
        for turn_id, (session_id, task) in tasks:
            # A turn that waits for its session has written nothing: it stays accepted.
            if self._runner.running.turn_of(session_id) != turn_id:
                task.cancel()
        await self._runner.running.reach_safe_points(seconds)
        self._runner.running.cut_off()
        if tasks:
            await asyncio.wait([task for _, (_, task) in tasks])
        await self.feeds.close()

    def _begin(self, message: AcceptedMessage) -> None:
        session_id, turn_id = message.session_id, message.turn_id
        self._run(
            session_id,
            turn_id,
            lambda: self._runner.run_turn(
                session_id,
                message.text,
                can_ask=message.can_ask,
                mine=message.mine,
                turn_id=turn_id,
                agent=message.agent,
                caller=message.caller,
            ),
        )

    def _run(self, session_id: str, turn_id: str, events: Callable[[], AsyncGenerator[Event]]) -> None:
        if turn_id not in self._tasks:
            task = asyncio.create_task(self._read(turn_id, events), name=f"turn {turn_id}")
            self._tasks[turn_id] = (session_id, task)
            task.add_done_callback(lambda task: self._tasks.pop(turn_id))

    async def _read(self, turn_id: str, events: Callable[[], AsyncGenerator[Event]]) -> None:
        """Read a turn to its end. What the storage cuts off is resumed, with longer and longer pauses."""
        message = self._messages.get(turn_id)
        MESSAGE_KEY.set(message.key if message else "")
        pause = _FIRST_PAUSE
        while True:
            begun = pause > _FIRST_PAUSE and self._journal.turn(turn_id) is not None
            try:
                await self._hand_on(turn_id, self._runner.resume_turn(turn_id) if begun else events())
                return
            except StorageError as error:
                if self.is_stopping:
                    return
                _log.warning("turn %s was cut off: %s; will try again", turn_id, error)
            except PersonError as error:
                # It has ended in another way meanwhile, for example by a command.
                _log.warning("turn %s: %s", turn_id, error)
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _hand_on(self, turn_id: str, events: AsyncGenerator[Event]) -> None:
        number = 0
        async with aclosing(events) as stream:
            async for event in stream:
                number = number or self._runner.running.number_of(turn_id)
                self.feeds.add(number, event)
                for listener in self.listeners:
                    listener(event)
