"""The API of recorded events: parts of a conversation in order, and one whole event.

A stream has no end and no beginning of its own; a page that shows a conversation reads these first.
"""

from collections.abc import Iterable
from typing import Annotated, Any

from starlette.responses import Response

from sestet.core.record import Meta, Record, to_json
from sestet.server.endpoint import Body, Call, Endpoint, NoQuery
from sestet.server.errors import ApiError, not_found
from sestet.storage.session_log import Placed, SessionLog, read_place

#: Bytes after which an answer has no further event, or no further turn.
ENOUGH = 4_000_000
_LAST = 2**53
_JSON = "application/json"


class JournalQuery(Body):
    #: A place: the events after it. An empty text: the last turns of the conversation, or those before one.
    after: str = ""
    #: How many events there are at most after a place.
    limit: Annotated[int, Meta(ge=1, le=1000)] = 500
    #: The number of a turn: the turns before it.
    before: Annotated[int, Meta(ge=1, le=_LAST)] = _LAST
    #: How many turns there are at most.
    turns: Annotated[int, Meta(ge=1, le=100)] = 20


class JournalPart(Record):
    """Events in order. A text over 16,000 characters is cut, and ``clipped`` of its event has its length."""

    events: list[dict[str, Any]]
    #: Whether there are further events after these.
    more: bool
    #: Whether there is no turn before these.
    first: bool


async def read_journal(call: Call[None, JournalQuery]) -> Response:
    session_id, query = call.path("session"), call.query
    host = call.host
    if host.app.journal.session(session_id) is None and not host.turns.has_work(session_id):
        raise not_found("session", session_id)
    if query.after and query.before != _LAST:
        raise ApiError("bad_request", "'after' and 'before' cannot be combined", "give one of them")
    read = _after if query.after else _before
    content = await host.read(lambda data: read(data.session_log, session_id, query))
    return Response(content, media_type=_JSON)


def _after(log: SessionLog, session_id: str, query: JournalQuery) -> bytes:
    place = read_place(query.after)
    found = log.after(session_id, place, query.limit + 1)
    written: list[bytes] = []
    size = 0
    for each in found[: query.limit]:
        written.append(each.clipped)
        size += len(each.clipped)
        if size > ENOUGH:
            break
    first = not log.has_turn_before(session_id, found[0].place.turn if found else place.turn)
    return _written(written, more=len(written) < len(found), first=first)


def _before(log: SessionLog, session_id: str, query: JournalQuery) -> bytes:
    turns: list[list[Placed]] = []
    size = 0
    for turn in log.turns_before(session_id, query.before, query.turns):
        turns.insert(0, turn)
        size += sum(len(each.clipped) for each in turn)
        if size > ENOUGH:
            break
    events = [each for turn in turns for each in turn]
    first = not events or not log.has_turn_before(session_id, events[0].place.turn)
    more = bool(events) and log.last(session_id) > events[-1].place
    return _written((each.clipped for each in events), more=more, first=first)


def _written(events: Iterable[bytes], *, more: bool, first: bool) -> bytes:
    # The events are JSON already.
    return b'{"events":[%s],"more":%s,"first":%s}' % (b",".join(events), to_json(more), to_json(first))


async def show_event(call: Call[None, NoQuery]) -> Response:
    turn_id, seq = call.path("turn"), call.number("seq")
    content = await call.host.read(lambda data: _whole(data.session_log, turn_id, seq))
    if content is None:
        raise not_found("event", f"{turn_id[:60]}, {seq}")
    return Response(content, media_type=_JSON)


def _whole(log: SessionLog, turn_id: str, seq: int) -> bytes | None:
    found = log.event(turn_id, seq)
    return found.json if found else None


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/sessions/{session}/journal",
        read_journal,
        "The events after a place, or of the last turns, long texts cut.",
        ("chat", "read"),
        query=JournalQuery,
        answer=JournalPart,
    ),
    Endpoint(
        "GET",
        "/api/turns/{turn}/events/{seq}",
        show_event,
        "One whole event.",
        ("chat", "read"),
        answer=dict[str, Any],
    ),
)
