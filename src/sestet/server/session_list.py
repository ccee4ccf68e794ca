"""The API of the list of conversations: what each is doing, and its title."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from sestet.core.record import Meta, Record
from sestet.detached.turns import TurnState
from sestet.server.conversations import require_session
from sestet.server.endpoint import Body, Call, Endpoint, NoQuery, PageQuery
from sestet.services.sessions import SessionRow, rename_session


class SessionFacts(Record):
    id: str
    title: str
    created_at: float
    updated_at: float
    turns: int
    #: What its latest turn is doing; empty: it has none.
    state: TurnState | Literal[""] = ""
    #: The id of that turn.
    turn: str = ""
    #: When that turn began, or its message was accepted.
    since: float = 0.0
    #: No process runs that turn, although it has not ended: it can be resumed or given up.
    cut_off: bool = False


class SessionList(Record):
    sessions: list[SessionFacts]


class Title(Body):
    title: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]


async def list_sessions(call: Call[None, PageQuery]) -> SessionList:
    return SessionList(_facts(call, call.host.app.journal.sessions(call.query.limit)))


async def rename(call: Call[Title, NoQuery]) -> SessionFacts:
    row = require_session(call)
    rename_session(call.host.app.journal, row.id, call.body.title)
    call.host.turns.feeds.changed(row.id)
    (facts,) = _facts(call, [require_session(call)])
    return facts


def _facts(call: Call[Any, Any], rows: Sequence[SessionRow]) -> list[SessionFacts]:
    turns = call.host.turns
    latest = turns.feeds.latest_turns([row.id for row in rows])
    waiting = {each.session_id: each for each in reversed(turns.waiting())}
    facts: list[SessionFacts] = []
    for row in rows:
        about: tuple[TurnState | Literal[""], str, float, bool] = ("", "", 0.0, False)
        if turn := latest.get(row.id):
            state = turns.state(turn.id) or ""
            about = (state, turn.id, turn.began_at, state == "running" and turns.is_cut_off(turn.id))
        if about[0] not in ("running", "paused") and (message := waiting.get(row.id)):
            about = ("queued", message.turn_id, message.accepted_at, False)
        facts.append(SessionFacts(*row, *about))
    return facts


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/sessions",
        list_sessions,
        "The conversations, the most recent first, and what each is doing.",
        ("read",),
        query=PageQuery,
        answer=SessionList,
    ),
    Endpoint(
        "PATCH",
        "/api/sessions/{session}",
        rename,
        "Give a conversation a title.",
        body=Title,
        answer=SessionFacts,
    ),
)
