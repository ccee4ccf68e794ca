"""The events of a session as server-sent events, from any place on."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, aclosing

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from sestet.core.event import Event
from sestet.detached.feeds import Feeds
from sestet.server.errors import ApiError
from sestet.storage.session_log import Place, Placed

#: Seconds without an event before a comment shows that the stream is alive, and the token is checked again.
QUIET_SECONDS = 5.0
QUIET = b": quiet\n\n"
HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    # Proxies must not collect the events.
    "x-accel-buffering": "no",
}


_HEAD: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(name.encode(), value.encode()) for name, value in HEADERS.items()],
}


class ServerSentEvents(Response):
    """An answer that goes on until ``content`` ends, or its client leaves."""

    def __init__(self, open_things: ExitStack | None = None) -> None:
        """``open_things`` is closed at the end."""
        super().__init__(headers=HEADERS)
        self._open_things = open_things or ExitStack()
        self._begun = False

    def content(self) -> AsyncGenerator[bytes]:
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._open_things:
            if scope["method"] == "HEAD":
                await send(_HEAD)
                await _end(send)
                return
            sending = asyncio.current_task()
            assert sending is not None
            leaving = asyncio.create_task(_until_gone(receive))

            def stop(_: asyncio.Task[None]) -> None:
                sending.cancel()

            leaving.add_done_callback(stop)
            try:
                await self._send(send)
            except asyncio.CancelledError:
                # The server may stop this request at the same moment.
                if not leaving.done() or sending.uncancel():
                    raise
                await self._give_up(leaving, send)
            finally:
                leaving.remove_done_callback(stop)
                leaving.cancel()

    async def _give_up(self, leaving: asyncio.Task[None], send: Send) -> None:
        """The client has left, or sends a body that is too large."""
        try:
            leaving.result()
        except ApiError:
            if not self._begun:
                raise
            await _end(send)

    async def _send(self, send: Send) -> None:
        async with aclosing(self.content()) as parts:
            # In the same step as the first part, so that both go out in one piece.
            first = await anext(parts, b"")
            self._begun = True
            await send(_HEAD)
            await _write(send, first)
            async for part in parts:
                await _write(send, part)
        await _end(send)


class EventStream(ServerSentEvents):
    """The events of one session. It ends when its token is revoked, or ``is_last`` says so."""

    def __init__(
        self,
        feeds: Feeds,
        session_id: str,
        after: Place,
        *,
        may_go_on: Callable[[], bool],
        is_last: Callable[[Event], bool] = lambda event: False,
        wanted: Callable[[Event], bool] = lambda event: True,
        open_things: ExitStack | None = None,
    ) -> None:
        """``may_go_on`` is asked again and again; ``open_things`` is closed at the end."""
        super().__init__(open_things)
        self._feeds = feeds
        self._session_id = session_id
        self._after = after
        self._may_go_on = may_go_on
        self._is_last = is_last
        self._wanted = wanted

    async def content(self) -> AsyncGenerator[bytes]:
        # The first bytes go out at once, so that a client knows that it is connected.
        yield b": connected\n\n"
        if not self._may_go_on():
            # Otherwise the first look would wait for an event that may never come.
            return
        with self._feeds.reading(self._session_id) as feed:
            async with aclosing(feed.follow(self._after, QUIET_SECONDS)) as batches:
                async for events in batches:
                    if not self._may_go_on():
                        break
                    yield self._written(events) or QUIET
                    if any(self._is_last(each.event) for each in events):
                        break

    def _written(self, events: Sequence[Placed]) -> bytes:
        return b"".join(sse(each) for each in events if self._wanted(each.event))


def sse(placed: Placed) -> bytes:
    """One event in the form of server-sent events; its id is its place."""
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (
        str(placed.place).encode(),
        placed.event.kind.encode(),
        placed.json,
    )


async def _write(send: Send, content: bytes) -> None:
    await send({"type": "http.response.body", "body": content, "more_body": True})


async def _end(send: Send) -> None:
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive) -> None:
    """Wait until the client has left; raise if it sends a body that is too large."""
    while (await receive())["type"] != "http.disconnect":
        pass
