"""AG-UI: one run is one turn, or the rest of one whose questions the run answers."""

from functools import partial
from typing import Any, Literal

from starlette.responses import Response

from sestet.core.record import Record, ValidationError, convert
from sestet.server.agui_events import Run, RunEvents
from sestet.server.endpoint import Body, Call, Endpoint, NoQuery
from sestet.server.errors import ApiError, not_found
from sestet.server.followed_turn import FollowedTurn, TurnStream, accept
from sestet.services.approvals import Decision, Question, Scope, when_free


class ContentPart(Record):
    """A part of a message. Only texts are read."""

    type: str
    text: str = ""


class RunMessage(Record):
    role: str
    id: str = ""
    #: Another value than a text or parts is allowed for messages that are not the person's.
    content: Any = None


class ResumeEntry(Record, rename="camel"):
    """The answer to one interrupt."""

    interrupt_id: str
    status: Literal["resolved", "cancelled"]
    payload: Any = None  # read as a ResumePayload


class ResumePayload(Record):
    approved: bool
    scope: Scope = "once"

    @property
    def decision(self) -> Decision:
        return "approve" if self.approved else "deny"


class RunInput(Body, rename="camel", forbid_unknown_fields=False):
    """The fields of RunAgentInput that change something here: state, context and tools of a client do not."""

    thread_id: str
    run_id: str
    messages: list[RunMessage]
    parent_run_id: str | None = None
    resume: list[ResumeEntry] | None = None


async def run_agent(call: Call[RunInput, NoQuery]) -> Response:
    body = call.body
    if body.resume:
        turn, answered = await _resume(call, body.resume)
    else:
        # The same run sent again is the same turn.
        turn, answered = accept(call, body.thread_id, _text(body), body.run_id), frozenset[str]()
    run = Run(body.thread_id, body.run_id, body.parent_run_id)
    return TurnStream(call, turn, RunEvents(run, turn, call.host.app.journal, answered))


def _text(body: RunInput) -> str:
    """The text of the last message. Sestet has the earlier ones in its own session."""
    last = body.messages[-1] if body.messages else None
    if last is None or last.role != "user":
        raise ApiError("bad_request", "the last message must be one with the role 'user'")
    if isinstance(last.content, str):
        return last.content
    try:
        parts = convert(last.content, list[ContentPart])
    except ValidationError as error:
        raise ApiError("bad_request", f"the content of the last message cannot be read: {error}") from None
    for part in parts:
        if part.type != "text":
            raise ApiError("bad_request", f"only text can be read, and no '{part.type[:40]}'")
    return "\n".join(part.text for part in parts)


async def _resume(
    call: Call[RunInput, NoQuery], entries: list[ResumeEntry]
) -> tuple[FollowedTurn, frozenset[str]]:
    """Decide about the calls that a turn waits for, and go on with it. Returns the decided questions too."""
    host, session_id = call.host, call.body.thread_id
    if call.token.scope != "owner":
        way_out = "use a token with the scope 'owner', or decide with 'sestet approvals'"
        raise ApiError("forbidden", "this token may not decide about calls", way_out)
    decisions = [(_question(call, entry.interrupt_id), _payload(entry)) for entry in entries]
    (turn_id, *others) = {question.turn_id for question, _ in decisions}
    if others:
        raise ApiError("bad_request", "the interrupts of a run must be those of one run before")
    after = host.turns.feeds.last(session_id)
    for question, payload in decisions:
        await when_free(partial(host.app.decide, question.id, payload.decision, payload.scope))
    host.turns.resume(session_id, turn_id)
    turn = FollowedTurn(call, session_id, turn_id, after)
    return turn, frozenset(question.id for question, _ in decisions)


def _question(call: Call[RunInput, NoQuery], approval_id: str) -> Question:
    question = call.host.app.approvals.get(approval_id)
    if question is None or question.session_id != call.body.thread_id:
        raise not_found("interrupt", approval_id)
    if question.state != "pending":
        raise ApiError("conflict", f"the interrupt '{approval_id}' is already {question.state}")
    return question


def _payload(entry: ResumeEntry) -> ResumePayload:
    if entry.status == "cancelled":
        return ResumePayload(approved=False)
    try:
        return convert(entry.payload, ResumePayload)
    except ValidationError as error:
        way_out = 'send the payload {"approved": true} or {"approved": false}'
        raise ApiError("bad_request", f"in the payload of a resume entry: {error}", way_out) from None


ENDPOINTS = (
    Endpoint(
        "POST",
        "/agui",
        run_agent,
        "Run the assistant for an AG-UI client.",
        ("chat",),
        body=RunInput,
        stream=True,
    ),
)
