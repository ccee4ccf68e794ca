"""Background work after a turn: makes observations of messages, and reflections of observations.

All progress is stored: a process may end between any two statements, and the next one continues. The mark
of a session moves in the transaction that stores the observations, and only if no other process moved it
since the turns were read.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from sestet.core.errors import SestetError, StorageError
from sestet.core.label import CLEAN, Label, Origin
from sestet.core.message import whole
from sestet.core.model import CHARACTERS_PER_TOKEN, Usage
from sestet.core.secret_text import find_secret
from sestet.services.memory.writers import Draft, Drafts, EmptyReplyError, MemoryWriter
from sestet.services.sessions import is_callers
from sestet.services.worker import Worker, WorkLimits
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from sestet.storage.lock_wait import when_free
from sestet.storage.locks import SessionLocks
from sestet.storage.observation_progress import (
    MOST_EMPTY_REPLIES,
    EndedTurn,
    ObservationProgress,
    Stage,
    Unobserved,
)
from sestet.storage.observations import ObservationRow, ObservationStore, ReflectionRow, ReflectionSources

_log = logging.getLogger(__name__)

#: No session has this id, since it is not printable.
_LOCK = "\0observer"
#: Seconds between the end of a turn and its observation.
_MOMENT = 0.2
#: Sessions checked in one go, few enough not to delay a streaming reply.
_AT_ONCE = 5
#: Seconds that ``close`` may wait for a model.
_GRACE = 5.0
_FIRST_PAUSE = 60.0
_LONGEST_PAUSE = 6 * 3600.0


class Thresholds(NamedTuple):
    """How much must come together: tokens of messages, tokens of observations, reflections of one level."""

    observe_tokens: int = 1_000
    reflect_tokens: int = 2_000
    reflections_per_level: int = 5


class Observer:
    """Observes and reflects after a turn, once there is enough text."""

    def __init__(
        self,
        database: Database,
        locks: SessionLocks,
        writer: MemoryWriter,
        thresholds: Thresholds,
        on_stored: Callable[[], None] = lambda: None,
        work_limits: WorkLimits = WorkLimits(),  # noqa: B008 - immutable
    ) -> None:
        """``on_stored`` is called after observations or a reflection were stored."""
        self._database = database
        self._locks = locks
        self._writer = writer
        self._thresholds = thresholds
        self._on_stored = on_stored
        self._characters = thresholds.observe_tokens * CHARACTERS_PER_TOKEN
        self._observations = ObservationStore(database)
        self._observed = ObservationProgress(database, Journal(database))
        #: Sessions to check; None until the sessions left by an earlier process were read.
        self._sessions: dict[str, None] | None = None
        self._fresh: dict[str, None] = {}
        #: Up to which observation all are summed up: for untrusted ones or not, and since which forgetting.
        self._covered: dict[tuple[bool, int], int] = {}
        #: Whether there may be enough observations to reflect on.
        self._may_reflect = True
        self._closing = asyncio.Event()
        self._has_room = work_limits.has_room
        self._worker = Worker("observer", self._step_later, cpu_share=work_limits.cpu_share)

    def after_turn(self, session_id: str) -> None:
        """Called with the session id after a turn's last event was delivered."""
        if is_callers(session_id):
            return
        self._fresh[session_id] = None
        self.wake()

    def wake(self) -> None:
        """Look for work, such as turns that an earlier process left."""
        self._worker.wake()

    async def close(self) -> None:
        """Observe the latest turns within the grace; the next process does the rest."""
        self._closing.set()
        await self._worker.close()
        if self._fresh:
            self._sessions = self._sessions or {}
            try:
                async with asyncio.timeout(_GRACE):
                    while await self.step():
                        pass
            except TimeoutError:
                pass
            except StorageError as error:
                # No caller needs this error, and no turn is lost: the next process checks the same turns.
                _log.warning("observer: %s", error)

    async def _step_later(self) -> bool:
        """Wait a moment, so that turns that end together are observed together and replies are delivered."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), _MOMENT)
        return not self._closing.is_set() and await self.step()

    async def step(self) -> bool:
        """Do one piece of work; False if there was none."""
        if self._sessions is None:
            self._sessions = dict.fromkeys(self._observed.sessions_waiting())
        self._sessions |= self._fresh
        self._fresh = {}
        while self._sessions and not self._is_resting("observe"):
            some = list(islice(self._sessions, _AT_ONCE))
            for session_id in self._observed.may_have(some, self._characters):
                if await self._observe(session_id):
                    self._may_reflect = True
                    return True
            for session_id in some:
                self._sessions.pop(session_id, None)
            await asyncio.sleep(0)
        if self._may_reflect and not self._is_resting("reflect"):
            self._may_reflect = await self._reflect()
            return self._may_reflect
        return False

    async def _observe(self, session_id: str) -> bool:
        if self._observed.unobserved(session_id, self._characters) is None:
            return False
        if not self._has_room():
            return False
        # One process at a time, so that no model is paid twice for the same work.
        async with self._locks.hold(_LOCK):
            batch = self._observed.unobserved(session_id, self._characters)
            if batch is None:
                return False
            try:
                groups = [(turns, await self._writer.observe(turns)) for turns in _by_trust(batch.turns)]
            except SestetError as error:
                self._note_failure("observe", error)
                return True
            stored = await when_free(lambda: self._store_observations(batch, groups))
            self._on_stored()
            return stored

    def _store_observations(
        self, batch: Unobserved, groups: Sequence[tuple[Sequence[EndedTurn], Drafts]]
    ) -> bool:
        made, usage = 0, sum((written.usage for _, written in groups), Usage())
        with self._database.transaction():
            if self._observed.is_outdated(batch):
                # The turns may hold less than the model has read, so they are read again.
                self._observed.log("observe", self._writer.name, 0, usage)
                return True
            if not self._observed.move_mark(batch):
                return False
            for turns, written in groups:
                # The label of the whole group: a model that read a web page may name any turn as its source.
                label = _joined(turn.label for turn in turns)
                for draft in written.drafts:
                    if find_secret(draft.text) is None:
                        self._store(batch.session_id, draft, turns, label)
                        made += 1
            self._observed.log("observe", self._writer.name, made, usage)
        return True

    def _store(self, session_id: str, draft: Draft, turns: Sequence[EndedTurn], label: Label) -> None:
        about = [turn.id for turn in turns if turn.number in draft.turn_numbers] or [t.id for t in turns]
        origin = Origin(session_id, about[-1], label)
        self._observations.add_observation(draft.text, origin, self._writer.name, about)

    async def _reflect(self) -> bool:
        if self._next_reflection() is None or not self._has_room():
            return False
        async with self._locks.hold(_LOCK):
            rows = self._next_reflection()
            if rows is None:
                return False
            try:
                written = await self._writer.reflect([row.text for row in rows])
            except SestetError as error:
                self._note_failure("reflect", error)
                return True
            await when_free(lambda: self._store_reflection(rows, written))
            self._on_stored()
            return True

    def _store_reflection(
        self, rows: Sequence[ObservationRow] | Sequence[ReflectionRow], written: Drafts
    ) -> None:
        with self._database.transaction():
            # A source may have been forgotten or summed up while the model wrote.
            if self._next_reflection() != rows:
                return
            (draft,) = written.drafts
            level = 1 + max(row.level if isinstance(row, ReflectionRow) else 0 for row in rows)
            ids = [row.id for row in rows]
            sources = ReflectionSources(ids) if level == 1 else ReflectionSources(reflections=ids)
            self._observations.add_reflection(draft.text, _origin(rows), level, sources, self._writer.name)
            self._observed.log("reflect", self._writer.name, 1, written.usage)

    def _next_reflection(self) -> Sequence[ObservationRow] | Sequence[ReflectionRow] | None:
        """The rows for the next reflection. Trusted and untrusted rows are never summed up together."""
        forgetting = self._observed.last_forgetting()
        for untrusted in (False, True):
            left = self._thresholds.reflect_tokens * CHARACTERS_PER_TOKEN
            taken: list[ObservationRow] = []
            # All older ones are summed up, and reading them again would take longer every year. Forgetting
            # a reflection frees them.
            after = self._covered.get((untrusted, forgetting), 0)
            rows = self._observations.uncovered(untrusted=untrusted, after=after)
            self._covered[untrusted, forgetting] = rows[0].id - 1 if rows else after
            for row in rows:
                taken.append(row)
                left -= len(row.text)
                if left <= 0:
                    return taken
            levels: dict[int, list[ReflectionRow]] = {}
            for row in self._observations.ungathered(untrusted=untrusted):
                levels.setdefault(row.level, []).append(row)
            for rows in levels.values():
                if len(rows) >= self._thresholds.reflections_per_level:
                    return rows[: self._thresholds.reflections_per_level]
        return None

    def _note_failure(self, stage: Stage, error: SestetError) -> None:
        problem = whole(str(error)) or type(error).__name__
        _log.warning("%s: %s; will try again", stage, problem)
        is_empty = isinstance(error, EmptyReplyError)
        self._observed.log(stage, self._writer.name, 0, Usage(), problem, is_empty=is_empty)

    def _is_resting(self, stage: Stage) -> bool:
        if self._observed.empty_replies(stage, self._writer.name) >= MOST_EMPTY_REPLIES:
            # This model cannot do the work. Another one has another name, and is asked.
            return True
        failures, at = self._observed.failures(stage)
        pause = min(_FIRST_PAUSE * 2 ** min(failures - 1, 30), _LONGEST_PAUSE)
        # A clock that was set back does not prolong the pause.
        return bool(failures) and 0 <= time.time() - at < pause


def _by_trust(turns: Sequence[EndedTurn]) -> list[Sequence[EndedTurn]]:
    """Trusted and untrusted turns as two groups, so that untrusted text does not taint the rest."""
    groups = ([t for t in turns if not t.label.untrusted], [t for t in turns if t.label.untrusted])
    return [group for group in groups if group]


def _joined(labels: Iterable[Label]) -> Label:
    label = CLEAN
    for other in labels:
        label |= other
    return label


def _origin(rows: Sequence[ObservationRow] | Sequence[ReflectionRow]) -> Origin:
    """The origin of a summary; no session if its rows come from several."""
    sessions = {row.session_id for row in rows}
    session_id = sessions.pop() if len(sessions) == 1 else ""
    return Origin(session_id, rows[-1].turn_id, _joined(row.label for row in rows))
