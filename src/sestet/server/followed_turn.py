"""One turn as a surface reads it: accepted like every message, then followed on the session's feed."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, aclosing
from typing import Any, Protocol

from sestet.core.event import END_OF_TURN, ApprovalRequested, TurnPaused
from sestet.server.endpoint import Call
from sestet.server.errors import ApiError
from sestet.server.event_stream import QUIET, ServerSentEvents
from sestet.storage.journal import Journal
from sestet.storage.session_log import Place, Placed

#: Seconds without an event before a comment shows that the stream is alive, and the token is checked again.
_QUIET_SECONDS = 10.0
#: Seconds that the first bytes of an answer wait for the first events, so that both go out in one piece.
_FIRST_SECONDS = 0.02


class FollowedTurn:
    """A turn that a request started or resumed, and the events from there to its end or pause."""

    def __init__(self, call: Call[Any, Any], session_id: str, turn_id: str, after: Place) -> None:
        self.session_id = session_id
        self.turn_id = turn_id
        self.after = after
        #: The turn's end or pause was read.
        self.ended = False
        self._call = call
        self._begun = False

    async def batches(self) -> AsyncGenerator[list[Placed]]:
        """The turn's events, some at a time; an empty list if none comes at once, and after quiet seconds.

        Without ``ended``, the reading was cut off: the token was revoked, the server stops, or the message
        was cancelled before its turn began.
        """
        with self._call.host.turns.feeds.reading(self.session_id) as feed:
            async with aclosing(feed.follow(self.after, _QUIET_SECONDS, _FIRST_SECONDS)) as batches:
                async for batch in batches:
                    own = self._own(batch)
                    if not self._may_go_on():
                        return
                    if own or not batch:
                        yield own
                    if self.ended:
                        return

    def _own(self, batch: list[Placed]) -> list[Placed]:
        own: list[Placed] = []
        for each in batch:
            if each.event.stamp.turn_id == self.turn_id:
                own.append(each)
                if isinstance(each.event, END_OF_TURN):
                    self.ended = True
                    break
        self._begun = self._begun or bool(own)
        return own

    def _may_go_on(self) -> bool:
        host = self._call.host
        # A message that is cancelled in the queue has no event that would say so.
        in_vain = not self._begun and host.turns.was_never_begun(self.turn_id)
        return host.tokens.is_valid(self._call.token) and not in_vain


def accept(
    call: Call[Any, Any], session_id: str, text: str, key: str, *, mine: bool = True, agent: str = ""
) -> FollowedTurn:
    """Accept a message. The same key again is the same turn, read from its beginning."""
    host = call.host
    after = host.turns.feeds.last(session_id)
    message = host.turns.accept(session_id, text, key, mine=mine, agent=agent)
    # A message keeps its text until its turn begins.
    if not message.text and (row := host.app.journal.turn(message.turn_id)):
        after = Place(row.number, 0)
    return FollowedTurn(call, session_id, message.turn_id, after)


def open_questions(journal: Journal, paused: TurnPaused) -> list[ApprovalRequested]:
    """The questions that a paused turn waits for, also those of before it was resumed."""
    asked = {
        event.approval_id: event
        for event in journal.events_of(paused.stamp.turn_id)
        if isinstance(event, ApprovalRequested)
    }
    return [asked[approval] for approval in paused.waiting_for if approval in asked]


class Surface(Protocol):
    """How a surface writes a turn, as server-sent events."""

    def begin(self) -> bytes: ...

    def write(self, placed: Placed) -> bytes: ...

    def cut_off(self) -> bytes:
        """The last words of a stream that ends before its turn."""
        ...


class TurnStream(ServerSentEvents):
    """A turn as a stream of a surface's own events. A client that leaves does not stop the turn."""

    def __init__(self, call: Call[Any, Any], turn: FollowedTurn, surface: Surface) -> None:
        opened = ExitStack()
        opened.enter_context(call.limits.stream(call.token.name))
        super().__init__(opened)
        self._turn = turn
        self._surface = surface

    async def content(self) -> AsyncGenerator[bytes]:
        begun = self._surface.begin()
        async with aclosing(self._turn.batches()) as batches:
            async for batch in batches:
                yield begun + b"".join(map(self._surface.write, batch)) or QUIET
                begun = b""
        if not self._turn.ended:
            yield begun + self._surface.cut_off()


async def read_whole(call: Call[Any, Any], turn: FollowedTurn, read: Callable[[Placed], object]) -> None:
    """Read a turn to its end or pause for a client that waits; raise if it is cut off."""
    with call.limits.stream(call.token.name):
        reading = asyncio.create_task(_read(turn, read))
        leaving = asyncio.create_task(_until_gone(call))
        try:
            await asyncio.wait((reading, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reading, leaving):
                task.cancel()
            await asyncio.wait((reading, leaving))
    if not turn.ended:
        raise ApiError("unavailable", cut_off_text(turn), "GET /api/turns/{turn} tells its state")
    # A bug in a mapping is raised here.
    reading.result()


def cut_off_text(turn: FollowedTurn) -> str:
    return f"the answer was cut off; the turn '{turn.turn_id}' of the session '{turn.session_id}' is stored"


async def _read(turn: FollowedTurn, read: Callable[[Placed], object]) -> None:
    async with aclosing(turn.batches()) as batches:
        async for batch in batches:
            for placed in batch:
                read(placed)


async def _until_gone(call: Call[Any, Any]) -> None:
    while (await call.request.receive())["type"] != "http.disconnect":
        pass
