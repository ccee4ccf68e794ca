"""The API of the one stream that tells everything: events of all sessions, and changes without an event."""

from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, aclosing

from sestet import __version__
from sestet.core.record import to_json
from sestet.server.endpoint import Call, Endpoint, NoQuery
from sestet.server.event_stream import QUIET, QUIET_SECONDS, ServerSentEvents
from sestet.server.host import Host


class NewsStream(ServerSentEvents):
    """It ends when its token is revoked, or its client is too slow and had better read the journal."""

    def __init__(self, host: Host, may_go_on: Callable[[], bool], open_things: ExitStack) -> None:
        super().__init__(open_things)
        self._host = host
        self._may_go_on = may_go_on

    async def content(self) -> AsyncGenerator[bytes]:
        async with aclosing(self._host.turns.feeds.everything(QUIET_SECONDS)) as batches:
            # Nothing that is written from now on is left out, so the client may read the journal.
            await anext(batches)
            yield _message(
                to_json({"kind": "hello", "version": __version__, "started_at": self._host.started_at})
            )
            async for messages in batches:
                if not self._may_go_on():
                    break
                yield b"".join(map(_message, messages)) or QUIET


def _message(content: bytes) -> bytes:
    return b"data: %s\n\n" % content


async def follow_everything(call: Call[None, NoQuery]) -> NewsStream:
    host, token = call.host, call.token
    open_things = ExitStack()
    open_things.enter_context(call.limits.stream(token.name))
    return NewsStream(host, lambda: host.tokens.is_valid(token), open_things)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/stream",
        follow_everything,
        "Follow all conversations from now on.",
        ("read",),
        stream=True,
    ),
)
