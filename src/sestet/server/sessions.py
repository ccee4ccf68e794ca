"""The API of stored conversations: show, export and delete one, give up a turn, undo its file changes."""

import asyncio
from typing import Any, Literal

from starlette.responses import Response

from sestet.core.record import Record, as_builtins
from sestet.data import Data
from sestet.server.conversations import TurnFacts, require_session, turn_facts
from sestet.server.endpoint import Body, Call, Endpoint, NoQuery, PageQuery
from sestet.server.errors import ApiError, not_found
from sestet.services.approvals import describe_grant, when_free
from sestet.services.file_changes.undo import UndoPlan, describe_plan, describe_set
from sestet.services.forgetting import Wipe
from sestet.services.session_deletion import describe_deleted
from sestet.services.session_markdown import session_markdown
from sestet.services.sessions import SessionRow, read_turns
from sestet.services.turn_summary import describe_conversation


class Conversation(Record):
    """A conversation with its turns, each with every event."""

    id: str
    title: str
    created_at: float
    updated_at: float
    turns: list[dict[str, Any]]


class ExportQuery(Body):
    form: Literal["markdown", "json"] = "markdown"


class DeletionPreview(Record):
    """What would go with a conversation."""

    session: str
    turns: int
    open_turns: int
    questions: int
    #: Calls that were cut off: they may have taken effect, and the conversation is the only record of them.
    in_doubt: list[str]
    #: Turns whose changes of files can then no longer be undone.
    undoable: int
    #: What the person asked to remember in it: it stays, unless ``with_memories`` is said.
    saved: dict[str, int]


class DeletionQuery(Body):
    #: Also delete what the person asked to remember in it.
    with_memories: bool = False


class Deleted(Record):
    deleted: str
    turns: int
    with_it: list[str]
    saved: dict[str, int]
    open_turns: int
    questions: int
    in_doubt: list[str]
    ended: list[str]
    scrubbed: bool
    wipe: str


class ChangeSets(Record):
    changes: list[dict[str, Any]]


class UndoFacts(Record):
    """What undo would do, or has done."""

    id: int
    session: str
    turn: str
    at: float
    undoes: int | None
    done: list[str]
    steps: list[dict[str, Any]]
    #: Paths that have changed since: while there is one, nothing is undone.
    changed_since: list[str]
    undone: bool


class GrantList(Record):
    grants: list[dict[str, Any]]


class Revoked(Record):
    revoked: int


async def show_session(call: Call[None, NoQuery]) -> dict[str, Any]:
    row = require_session(call)
    return await call.host.read(lambda data: _conversation(data, row))


async def export_session(call: Call[None, ExportQuery]) -> Response | dict[str, Any]:
    row = require_session(call)
    if call.query.form == "json":
        return await call.host.read(lambda data: _conversation(data, row))
    text = await call.host.read(lambda data: session_markdown(row, read_turns(data.journal, row.id)))
    return Response(f"{text}\n", media_type="text/markdown")


def _conversation(data: Data, row: SessionRow) -> dict[str, Any]:
    return as_builtins(describe_conversation(row, read_turns(data.journal, row.id)))


async def preview_deletion(call: Call[None, NoQuery]) -> DeletionPreview:
    row = require_session(call)
    found = await call.host.read(lambda data: data.session_deletion.preview(row))
    return DeletionPreview(
        row.id,
        row.turns,
        found.open_turns,
        found.questions,
        list(found.in_doubt),
        found.undoable,
        found.saved._asdict(),
    )


async def delete_session(call: Call[None, DeletionQuery]) -> dict[str, object]:
    """In a thread: every event that cites the conversation is read."""
    host, row = call.host, require_session(call)
    if host.turns.has_work(row.id):
        raise ApiError(
            "conflict", f"a turn is running in the session '{row.id}'", "cancel it, then delete the session"
        )
    preview = await host.read(lambda data: data.session_deletion.preview(row))
    with_memories = call.query.with_memories
    done = await host.read(
        lambda data: asyncio.run(data.session_deletion.delete(row, with_memories=with_memories))
    )
    host.turns.feeds.deleted(row.id)
    wipe: Wipe = await host.read(lambda data: data.forgetting.wipe())
    return as_builtins(describe_deleted(done, preview, wipe))


async def abandon_turn(call: Call[None, NoQuery]) -> TurnFacts:
    turn_id = call.path("turn")
    facts = turn_facts(call, turn_id)
    if facts.state not in ("paused", "running"):
        raise ApiError("conflict", f"the turn '{turn_id[:80]}' is {facts.state}")
    if call.host.turns.has_work(facts.session):
        raise ApiError("conflict", "a turn is running in this session", "cancel it instead")
    await call.host.turns.abandon(facts.session, turn_id)
    return turn_facts(call, turn_id)


async def resume_turn(call: Call[None, NoQuery]) -> TurnFacts:
    turn_id = call.path("turn")
    facts = turn_facts(call, turn_id)
    if facts.state == "paused":
        raise ApiError("conflict", "this turn waits for a decision", "decide its questions, or give it up")
    if facts.state != "running":
        raise ApiError("conflict", f"the turn '{turn_id[:80]}' is {facts.state}")
    if not call.host.turns.is_cut_off(turn_id):
        raise ApiError("conflict", "this turn was not cut off: it is running", "follow its events")
    call.host.turns.resume(facts.session, turn_id)
    return facts


async def list_changes(call: Call[None, PageQuery]) -> ChangeSets:
    sets = await call.host.read(lambda data: data.undo.sets())
    return ChangeSets([as_builtins(describe_set(each)) for each in sets[: call.query.limit]])


async def plan_undo(call: Call[None, NoQuery]) -> dict[str, object]:
    number = call.number("changes")
    plan = await call.host.read(lambda data: asyncio.run(_plan_undo(data, number)))
    return as_builtins(describe_plan(plan, undone=False))


async def undo_changes(call: Call[None, NoQuery]) -> dict[str, object]:
    number = call.number("changes")
    plan = await call.host.read(lambda data: asyncio.run(_undo(data, number)))
    return as_builtins(describe_plan(plan, undone=True))


async def _undo(data: Data, number: int) -> UndoPlan:
    plan = await _plan_undo(data, number)
    if plan.changed_since:
        raise ApiError("conflict", "files have changed since, so nothing was undone", "look at the plan")
    await data.undo.run(plan)
    return plan


async def _plan_undo(data: Data, number: int) -> UndoPlan:
    """The plan for a set that can be undone; raise if there is none. It may read many sets."""
    if not any(each.row.id == number for each in data.undo.sets()):
        raise not_found("set of changes that can be undone", str(number))
    return await data.undo.plan(number)


async def list_grants(call: Call[None, NoQuery]) -> GrantList:
    return GrantList([as_builtins(describe_grant(each)) for each in call.host.app.approvals.grants()])


async def revoke_grant(call: Call[None, NoQuery]) -> Revoked:
    number, approvals = call.number("grant"), call.host.app.approvals
    if not any(grant.id == number for grant in approvals.grants()):
        raise not_found("standing answer", str(number))
    await when_free(lambda: approvals.revoke(number))
    return Revoked(number)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/sessions/{session}",
        show_session,
        "A conversation with its turns and their events.",
        ("read",),
        answer=Conversation,
    ),
    Endpoint(
        "GET",
        "/api/sessions/{session}/export",
        export_session,
        "A conversation to keep: as Markdown, or as JSON with every event.",
        ("read",),
        query=ExportQuery,
        answer=Conversation,
        gives=("text/markdown",),
    ),
    Endpoint(
        "GET",
        "/api/sessions/{session}/deletion",
        preview_deletion,
        "What would be deleted with a conversation.",
        ("read",),
        answer=DeletionPreview,
    ),
    Endpoint(
        "DELETE",
        "/api/sessions/{session}",
        delete_session,
        "Delete a conversation for good; its readers' streams end.",
        query=DeletionQuery,
        answer=Deleted,
    ),
    Endpoint(
        "POST",
        "/api/turns/{turn}/abandon",
        abandon_turn,
        "Give up a turn that waits or was cut off.",
        answer=TurnFacts,
    ),
    Endpoint(
        "POST",
        "/api/turns/{turn}/resume",
        resume_turn,
        "Go on with a turn that was cut off.",
        answer=TurnFacts,
    ),
    Endpoint(
        "GET",
        "/api/changes",
        list_changes,
        "The changes of files that can be undone, the latest first.",
        ("read",),
        query=PageQuery,
        answer=ChangeSets,
    ),
    Endpoint(
        "GET",
        "/api/changes/{changes}/undo",
        plan_undo,
        "What undo would do with each file.",
        ("read",),
        answer=UndoFacts,
    ),
    Endpoint(
        "POST",
        "/api/changes/{changes}/undo",
        undo_changes,
        "Undo changes of files: all of them, or none.",
        answer=UndoFacts,
    ),
    Endpoint("GET", "/api/grants", list_grants, "The standing answers.", ("read",), answer=GrantList),
    Endpoint("DELETE", "/api/grants/{grant}", revoke_grant, "Take back a standing answer.", answer=Revoked),
)
