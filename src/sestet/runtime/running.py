"""The turns that this process runs now, and the ways to stop them."""

import asyncio
import time
from contextlib import suppress
from typing import NamedTuple

from sestet.core.errors import StorageError
from sestet.runtime.steering import steer
from sestet.runtime.turn import Turn
from sestet.storage.turn_log import TurnLog

#: Seconds between two looks at turns that are about to be cut off.
_LOOK_AGAIN = 0.02
#: Seconds between two looks for turns that another process wants to stop. Most turns end before the first.
_LOOK_ABROAD = 0.3


class _Running(NamedTuple):
    turn: Turn
    task: asyncio.Task[None]


class RunningTurns:
    """At most one turn of each session."""

    def __init__(self, log: TurnLog) -> None:
        self._log = log
        self._by_session: dict[str, _Running] = {}
        self._is_watching = False
        self._looking: asyncio.Task[None] | None = None

    def add(self, turn: Turn, task: asyncio.Task[None]) -> None:
        self._by_session[turn.session_id] = _Running(turn, task)
        if not self._is_watching:
            self._is_watching = True
            self._look_later()

    def _look_later(self) -> None:
        asyncio.get_running_loop().call_later(_LOOK_ABROAD, self._look)

    def _look(self) -> None:
        self._is_watching = bool(self._by_session)
        if self._is_watching:
            self._looking = asyncio.create_task(self._stop_requested())

    async def _stop_requested(self) -> None:
        """Stop the turns that another process wants to stop, and look again later."""
        try:
            # While the file cannot be read, the turns themselves say so.
            with suppress(StorageError):
                for turn_id in await self._log.stop_requests():
                    for session_id, running in list(self._by_session.items()):
                        if running.turn.id == turn_id:
                            self.cancel_turn(session_id)
        finally:
            self._look_later()

    def remove(self, turn: Turn) -> None:
        del self._by_session[turn.session_id]

    def turn_of(self, session_id: str) -> str | None:
        """The id of the turn that runs in a session."""
        running = self._by_session.get(session_id)
        return running.turn.id if running else None

    def number_of(self, turn_id: str) -> int:
        """The place of a running turn in its session; 0: it does not run here."""
        turns = (running.turn for running in self._by_session.values())
        return next((turn.number for turn in turns if turn.id == turn_id), 0)

    def cancel_turn(self, session_id: str) -> bool:
        """Stop the running turn of a session, with all of its delegations."""
        running = self._by_session.get(session_id)
        return running is not None and running.task.cancel()

    async def steer(self, turn_id: str, text: str, key: str = "", *, mine: bool = True) -> bool:
        """Add words to a running turn; False if it does not run here."""
        turns = (running.turn for running in self._by_session.values())
        turn = next((turn for turn in turns if turn.id == turn_id), None)
        if turn is not None:
            await steer(turn, text, key, mine=mine)
        return turn is not None

    def cancel_delegation(self, session_id: str, delegation_id: str) -> bool:
        """Stop one delegation; its result is ``cancelled``, and the turn goes on."""
        running = self._by_session.get(session_id)
        task = running.turn.delegations.get(delegation_id) if running else None
        if running is None or task is None:
            return False
        if delegation_id in running.turn.stopped:
            # The task may be that of the whole turn, which a second cancellation would stop.
            return True
        running.turn.stopped.add(delegation_id)
        return task.cancel()

    async def reach_safe_points(self, seconds: float) -> None:
        """Let no turn begin anything new, and wait at most so long for the calls that they have begun."""
        give_up = time.monotonic() + seconds
        turns = [running.turn for running in self._by_session.values()]
        for turn in turns:
            turn.held = True
        # The calls end in many places, and this happens once in the life of a process.
        while any(turn.open for turn in turns) and time.monotonic() < give_up:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_AGAIN)

    def cut_off(self) -> None:
        """Stop reading every running turn: its reader gets an error, and the turn can be resumed later."""
        error = StorageError("the assistant was closed before the turn ended; it can be resumed")
        for running in self._by_session.values():
            if not running.task.done():
                running.turn.on_failed(error)
