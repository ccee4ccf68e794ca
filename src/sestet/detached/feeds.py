"""The events of sessions as they happen, for any number of readers that come and go.

A reader keeps nothing but its place. The feed of a session holds the latest events once for all readers; a
reader that was away or is slow gets the older ones from the journal. So a slow reader costs no memory, and
never slows a turn down.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import contextmanager
from itertools import islice

from sestet.core.errors import StorageError
from sestet.core.event import END_OF_TURN, Event
from sestet.detached.news import News
from sestet.storage.session_log import LatestTurn, Place, Placed, SessionLog

#: Events of a session that are held in memory.
_HELD = 512
#: Events that a reader gets at once.
_AT_ONCE = 256
#: Seconds that readers wait for more after news: events come in bursts, and one write is cheaper than five.
#: The end of a turn does not wait.
_GATHERING = 0.002
#: Seconds between two looks for events that another process has written.
_LOOK_ABROAD = 0.5


class Feed:
    """The latest events of one session."""

    def __init__(self, log: SessionLog, session_id: str) -> None:
        self.session_id = session_id
        self.readers = 0
        #: The session was deleted, or the process stops.
        self.ended = False
        self._log = log
        self._held: list[Placed] = []
        #: The place of the last event that is not held, and before which none is.
        self._start = log.last(session_id)
        self._news: asyncio.Future[None] | None = None
        self._waking: asyncio.TimerHandle | None = None

    @property
    def last(self) -> Place:
        return self._held[-1].place if self._held else self._start

    def add(self, events: Sequence[Placed]) -> None:
        """Hold events that are written. Those that the feed has already are left out."""
        last = self.last
        new = [each for each in events if each.place > last]
        if not new:
            return
        self._held += new
        if len(self._held) > 2 * _HELD:
            self._start = self._held[-_HELD - 1].place
            del self._held[:-_HELD]
        if isinstance(new[-1].event, END_OF_TURN):
            self._wake()
        elif self._news is not None and self._waking is None:
            self._waking = asyncio.get_running_loop().call_later(_GATHERING, self._wake)

    def end(self) -> None:
        """Let the readers go."""
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
        news, self._news = self._news, None
        if news is not None and not news.done():
            news.set_result(None)

    def look(self) -> None:
        """Take over what another process has written."""
        while found := self._log.after(self.session_id, self.last, _AT_ONCE):
            self.add(found)

    def _after(self, place: Place) -> list[Placed]:
        if place < self._start:
            return self._log.after(self.session_id, place, _AT_ONCE)
        index = bisect_right(self._held, place, key=lambda each: each.place)
        return list(islice(self._held, index, index + _AT_ONCE))

    async def follow(
        self, after: Place, quiet: float | None = None, first: float | None = None
    ) -> AsyncGenerator[list[Placed]]:
        """The events after a place, some at a time; without end, unless the session is deleted.

        ``quiet``: give an empty list after so many seconds without an event; ``first``: the same before the
        first event or empty list.
        """
        wait = first or quiet
        while not self.ended:
            found = self._after(after)
            if found:
                after, wait = found[-1].place, quiet
                yield found
            elif after < self._start:
                # Everything up to the held events was folded or forgotten since.
                after = self._start
            elif not await self._has_news(wait):
                wait = quiet
                yield []

    async def _has_news(self, seconds: float | None) -> bool:
        # All readers wait for one future, and none of them cancels it.
        self._news = self._news or asyncio.get_running_loop().create_future()
        done, _ = await asyncio.wait((self._news,), timeout=seconds)
        return bool(done)


class Feeds:
    """The feeds of the sessions that somebody reads, and the news of all sessions."""

    def __init__(self, log: SessionLog) -> None:
        self.news = News(log)
        self._log = log
        self._feeds: dict[str, Feed] = {}
        self._version = log.version()
        self._looking: asyncio.Task[None] | None = None

    @contextmanager
    def reading(self, session_id: str) -> Generator[Feed]:
        """The feed of a session while it is read."""
        feed = self._feeds.get(session_id)
        if feed is None:
            feed = self._feeds[session_id] = Feed(self._log, session_id)
        feed.readers += 1
        self._keep_looking()
        try:
            yield feed
        finally:
            feed.readers -= 1
            if not feed.readers and self._feeds.get(session_id) is feed:
                del self._feeds[session_id]

    def everything(self, quiet: float | None = None) -> AsyncGenerator[list[bytes]]:
        """The news of all sessions from now on; ``quiet`` as in ``Feed.follow``."""
        self._keep_looking()
        return self.news.follow(quiet)

    def _keep_looking(self) -> None:
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_abroad())

    def last(self, session_id: str) -> Place:
        """The place of the latest event of a session."""
        feed = self._feeds.get(session_id)
        return feed.last if feed else self._log.last(session_id)

    def latest_turns(self, session_ids: Sequence[str]) -> dict[str, LatestTurn]:
        """The latest turn of each session that has one."""
        return self._log.latest_turns(session_ids)

    def add(self, turn: int, event: Event) -> None:
        """Hand a written event of this process to the readers of its session. ``turn``: its number."""
        feed = self._feeds.get(event.stamp.session_id)
        if feed is None and not self.news.readers:
            return
        placed = Placed(Place(turn, event.seq), event)
        self.news.add(placed)
        if feed is not None:
            feed.add((placed,))

    def changed(self, session_id: str) -> None:
        """Tell the readers what was written to a session outside of a running turn of this process."""
        if feed := self._feeds.get(session_id):
            feed.look()
        self.news.changed(session_id)

    def deleted(self, session_id: str) -> None:
        """Let the readers of a deleted session go."""
        self._end(session_id)
        self.news.deleted(session_id)

    def _end(self, session_id: str) -> None:
        if feed := self._feeds.pop(session_id, None):
            feed.end()

    async def _look_abroad(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_ABROAD)
            if not self._feeds and not self.news.readers:
                continue
            try:
                version = self._log.version()
                if version != self._version:
                    self._version = version
                    for feed in list(self._feeds.values()):
                        feed.look()
                    await self.news.look()
            except StorageError:
                # The database is locked or damaged: the turns report that.
                self._version = -1

    async def close(self) -> None:
        """Let every reader go."""
        for session_id in list(self._feeds):
            self._end(session_id)
        self.news.end()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait((self._looking,))
