"""The API of model calls: those of a turn, and what the model was shown in one."""

from sestet.core.record import Record
from sestet.data import Data
from sestet.runtime.seen_requests import seen_request, stored_calls
from sestet.runtime.seen_sections import CallFacts, SeenFacts, describe_call, describe_seen
from sestet.server.endpoint import Call, Endpoint, NoQuery
from sestet.server.errors import ApiError, not_found


class CallList(Record):
    calls: list[CallFacts]


async def list_calls(call: Call[None, NoQuery]) -> CallList:
    turn_id = _require_turn(call)
    calls = await call.host.read(lambda data: stored_calls(data.journal, turn_id))
    return CallList([describe_call(each) for each in calls])


async def show_call(call: Call[None, NoQuery]) -> SeenFacts:
    turn_id, seq = _require_turn(call), call.number("seq")

    def read(data: Data) -> SeenFacts:
        wanted = next((each for each in stored_calls(data.journal, turn_id) if each.seq == seq), None)
        if wanted is None:
            raise not_found("model call", str(seq))
        if not wanted.seen.prompt:
            raise ApiError("conflict", "an earlier Sestet made this call, and did not record what it showed")
        return describe_seen(seen_request(data.journal, turn_id, seq))

    return await call.host.read(read)


def _require_turn(call: Call[None, NoQuery]) -> str:
    """The id of a turn that has begun."""
    turn_id = call.path("turn")
    if call.host.app.journal.turn(turn_id) is None:
        raise not_found("turn", turn_id)
    return turn_id


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/turns/{turn}/calls",
        list_calls,
        "The model calls of a turn, in order, with what each one used.",
        ("read",),
        answer=CallList,
    ),
    Endpoint(
        "GET",
        "/api/turns/{turn}/calls/{seq}",
        show_call,
        "What the model was shown in one call, word for word, and what it was not shown.",
        ("read",),
        answer=SeenFacts,
    ),
)
