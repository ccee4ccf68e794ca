"""The API of conversations: sessions, messages, turns, their events, and the questions of a turn."""

from contextlib import ExitStack
from typing import Annotated, Any

from sestet.core.event import END_OF_TURN
from sestet.core.record import Meta, Record, as_builtins
from sestet.data import Data
from sestet.detached.turns import TurnState
from sestet.runtime.steering import NotSteerableError
from sestet.server.endpoint import Body, Call, Endpoint, Limit, NoQuery, Words
from sestet.server.errors import ApiError, not_found
from sestet.server.event_stream import EventStream
from sestet.services.approvals import Decision, Question, Scope, describe_question, when_free
from sestet.services.sessions import SessionRow, new_session_id, require_session_name
from sestet.services.turn_summary import describe_exchange
from sestet.storage.session_log import START, Place, read_place

_SEND_LATER = "send it as a message of the session"
#: Why words cannot be added to a turn in a state, and the way out.
_NOT_STEERABLE: dict[TurnState, tuple[str, str]] = {
    "queued": ("the turn has not begun", "cancel it, and send the whole message again"),
    "running": ("another process runs this turn", _SEND_LATER),
    "paused": ("the turn waits for a decision", "decide with POST /api/approvals/{approval}, then add it"),
    "finished": ("the turn has already finished", _SEND_LATER),
    "failed": ("the turn has already failed", _SEND_LATER),
    "cancelled": ("the turn was cancelled", _SEND_LATER),
}


class Found(Record):
    """A past turn in which the words were said, with the parts of its texts around them."""

    session: str
    title: str
    turn: str
    at: float
    asked: str
    answered: str


class FoundList(Record):
    found: list[Found]


class SearchQuery(Body):
    words: Words
    limit: Limit = 20


class NewMessage(Body):
    text: Annotated[str, Meta(min_length=1, pattern=r"\S")]
    #: The client's own name for the message: sent again, it is the same message, and no second turn.
    key: str = ""
    #: False: the person did not write the text; it is untrusted, and chooses no receiver.
    mine: bool = True
    #: False: a call that needs an approval is denied, instead of waiting for it.
    can_ask: bool = True
    #: The specialist that answers; empty: the orchestrator chooses.
    agent: str = ""


class AddedWords(Body):
    text: Annotated[str, Meta(min_length=1, pattern=r"\S")]
    #: The client's own name for the words: sent again, they are the same words.
    key: Annotated[str, Meta(max_length=200)] = ""
    #: False: the person did not write the text; it is untrusted, and chooses no receiver.
    mine: bool = True


class AcceptedFacts(Record):
    session: str
    turn: str
    state: TurnState
    #: Follow the session from here to see this turn from its beginning.
    after: str


class TurnFacts(Record):
    session: str
    turn: str
    state: TurnState
    #: The questions that wait for a decision.
    approvals: list[dict[str, Any]]
    #: The place of the latest event of its session: follow from here to see what comes next.
    after: str


class FollowQuery(Body):
    #: A place: the id of the last event that was seen. The header Last-Event-ID says the same.
    after: str = ""


class QuestionList(Record):
    approvals: list[dict[str, Any]]


class DecisionBody(Body):
    decision: Decision
    scope: Scope = "once"


class Cancelled(Record):
    turn: str
    state: TurnState


async def search_sessions(call: Call[None, SearchQuery]) -> dict[str, Any]:
    words, limit = call.query.words, call.query.limit

    def search(data: Data) -> list[dict[str, object]]:
        found = data.search_sessions(words, limit)
        rows = (data.journal.session(each.session_id) for each in found)
        titles = {row.id: row.title for row in rows if row}
        return [describe_exchange(each, words, titles) for each in found]

    return {"found": await call.host.read(search)}


async def new_session(call: Call[NewMessage, NoQuery]) -> AcceptedFacts:
    return _accept(call, new_session_id(call.host.app.journal))


async def send_message(call: Call[NewMessage, NoQuery]) -> AcceptedFacts:
    return _accept(call, call.path("session"))


def _accept(call: Call[NewMessage, NoQuery], session_id: str) -> AcceptedFacts:
    host, body = call.host, call.body
    after = host.turns.feeds.last(session_id)
    message = host.turns.accept(
        session_id, body.text, body.key, mine=body.mine, can_ask=body.can_ask, agent=body.agent
    )
    if row := host.app.journal.turn(message.turn_id):
        after = Place(row.number, 0)
    return AcceptedFacts(session_id, message.turn_id, _state(call, message.turn_id), str(after))


async def session_events(call: Call[None, FollowQuery]) -> EventStream:
    session_id = call.path("session")
    require_session_name(call.host.app.journal, session_id)
    return _stream(call, session_id, _place(call))


async def turn_events(call: Call[None, FollowQuery]) -> EventStream:
    """The events of one turn, up to its end or its pause."""
    turn_id = call.path("turn")
    row = call.host.app.journal.turn(turn_id)
    if row is None:
        message = call.host.turns.message(turn_id)
        if message is None:
            raise not_found("turn", turn_id)
        session_id, start = message.session_id, call.host.turns.feeds.last(message.session_id)
    else:
        session_id, start = row.session_id, Place(row.number, 0)
    after = max(start, _place(call))
    return _stream(call, session_id, after, turn_id)


def _stream(call: Call[None, FollowQuery], session_id: str, after: Place, turn_id: str = "") -> EventStream:
    host, token = call.host, call.token
    open_things = ExitStack()
    open_things.enter_context(call.limits.stream(token.name))
    return EventStream(
        host.turns.feeds,
        session_id,
        after,
        may_go_on=lambda: (
            host.tokens.is_valid(token) and not (turn_id and host.turns.was_never_begun(turn_id))
        ),
        is_last=lambda event: (
            bool(turn_id) and event.stamp.turn_id == turn_id and isinstance(event, END_OF_TURN)
        ),
        wanted=lambda event: not turn_id or event.stamp.turn_id == turn_id,
        open_things=open_things,
    )


async def get_turn(call: Call[None, NoQuery]) -> TurnFacts:
    return turn_facts(call, call.path("turn"))


async def cancel_turn(call: Call[None, NoQuery]) -> TurnFacts:
    turn_id = call.path("turn")
    _state(call, turn_id)
    await call.host.turns.cancel(turn_id)
    return turn_facts(call, turn_id)


async def steer_turn(call: Call[AddedWords, NoQuery]) -> TurnFacts:
    host, body, turn_id = call.host, call.body, call.path("turn")
    state = _state(call, turn_id)
    try:
        steered = await host.turns.steer(turn_id, body.text, body.key, mine=body.mine)
    except NotSteerableError as error:
        raise ApiError("conflict", str(error), _SEND_LATER) from None
    if not steered:
        raise ApiError("conflict", *_NOT_STEERABLE[state])
    return turn_facts(call, turn_id)


async def cancel_delegation(call: Call[None, NoQuery]) -> TurnFacts:
    turn = turn_facts(call, call.path("turn"))
    delegation = call.path("delegation")
    if not call.host.app.cancel_delegation(turn.session, delegation):
        raise not_found("running delegation", delegation)
    return turn


async def list_questions(call: Call[None, NoQuery]) -> QuestionList:
    return QuestionList([_question(each) for each in call.host.app.approvals.pending()])


async def decide(call: Call[DecisionBody, NoQuery]) -> TurnFacts:
    host, body, approval_id = call.host, call.body, call.path("approval")
    question = host.app.approvals.get(approval_id)
    if question is None:
        raise not_found("question", approval_id)
    if question.state != "pending":
        raise ApiError("conflict", f"the question '{approval_id}' is already {question.state}")
    await when_free(lambda: host.app.decide(approval_id, body.decision, body.scope))
    host.turns.resume(question.session_id, question.turn_id)
    return turn_facts(call, question.turn_id)


def turn_facts(call: Call[Any, Any], turn_id: str) -> TurnFacts:
    state = _state(call, turn_id)
    row, message = call.host.app.journal.turn(turn_id), call.host.turns.message(turn_id)
    session_id = row.session_id if row else message.session_id if message else ""
    questions = [_question(each) for each in call.host.app.approvals.pending(turn_id)]
    after = call.host.turns.feeds.last(session_id)
    return TurnFacts(session_id, turn_id, state, questions, str(after))


def _state(call: Call[Any, Any], turn_id: str) -> TurnState:
    state = call.host.turns.state(turn_id)
    if state is None:
        raise not_found("turn", turn_id)
    return state


def _place(call: Call[None, FollowQuery]) -> Place:
    said = call.header("last-event-id") or call.query.after
    return read_place(said) if said else START


def require_session(call: Call[Any, Any]) -> SessionRow:
    session_id = call.path("session")
    row = call.host.app.journal.session(session_id)
    if row is None:
        raise not_found("session", session_id)
    return row


def _question(question: Question) -> dict[str, Any]:
    return as_builtins(describe_question(question))


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/sessions",
        new_session,
        "Begin a conversation with a message.",
        ("chat",),
        body=NewMessage,
        answer=AcceptedFacts,
        status=202,
    ),
    Endpoint(
        "GET",
        "/api/search",
        search_sessions,
        "The past turns in which words were said.",
        ("read",),
        query=SearchQuery,
        answer=FoundList,
    ),
    Endpoint(
        "POST",
        "/api/sessions/{session}/messages",
        send_message,
        "Send a message: its turn is accepted.",
        ("chat",),
        body=NewMessage,
        answer=AcceptedFacts,
        status=202,
    ),
    Endpoint(
        "GET",
        "/api/sessions/{session}/events",
        session_events,
        "Follow a conversation from any place.",
        ("chat", "read"),
        query=FollowQuery,
        stream=True,
    ),
    Endpoint(
        "GET", "/api/turns/{turn}", get_turn, "What a turn is doing.", ("chat", "read"), answer=TurnFacts
    ),
    Endpoint(
        "GET",
        "/api/turns/{turn}/events",
        turn_events,
        "Follow one turn to its end or pause.",
        ("chat", "read"),
        query=FollowQuery,
        stream=True,
    ),
    Endpoint("POST", "/api/turns/{turn}/cancel", cancel_turn, "Stop a turn.", ("chat",), answer=TurnFacts),
    Endpoint(
        "POST",
        "/api/turns/{turn}/steer",
        steer_turn,
        "Add words to a running turn.",
        ("chat",),
        body=AddedWords,
        answer=TurnFacts,
    ),
    Endpoint(
        "POST",
        "/api/turns/{turn}/delegations/{delegation}/cancel",
        cancel_delegation,
        "Stop one delegation; the turn goes on.",
        ("chat",),
        answer=TurnFacts,
    ),
    Endpoint(
        "GET",
        "/api/approvals",
        list_questions,
        "The calls that wait for a decision.",
        ("read",),
        answer=QuestionList,
    ),
    Endpoint(
        "POST",
        "/api/approvals/{approval}",
        decide,
        "Approve or deny one call; its turn goes on.",
        body=DecisionBody,
        answer=TurnFacts,
    ),
)
