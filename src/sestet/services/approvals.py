"""Questions to the person and their standing answers, as data: what is asked, and as JSON."""

from collections.abc import Sequence

from sestet.core.errors import PersonError
from sestet.core.record import as_builtins, as_dict
from sestet.core.schema import JsonObject
from sestet.storage.approvals import (
    ApprovalStore,
    Decision,
    Grant,
    Question,
    Scope,
    changes_of,
    sources_of,
)
from sestet.storage.database import from_json
from sestet.storage.lock_wait import when_free

__all__ = [
    "Decision",
    "Grant",
    "Question",
    "Scope",
    "arguments_of",
    "changes_of",
    "describe_grant",
    "describe_question",
    "pick_question",
    "sources_of",
    "targets_of",
    "when_free",
]


def arguments_of(question: Question) -> JsonObject:
    return from_json(question.arguments, "the arguments of a question")


def targets_of(answered: Question | Grant) -> JsonObject:
    """The arguments that a standing answer is bound to, with their values."""
    return from_json(answered.pattern, "the targets of a standing answer")


def describe_question(question: Question) -> dict[str, object]:
    """A question as JSON: its own columns, with arguments, pattern and sources as values."""
    described: dict[str, object] = as_dict(question)
    for name in ("arguments", "pattern", "sources"):
        described[name] = from_json(described[name], f"the {name} of a question")
    described["changes"] = as_builtins(changes_of(question)) if question.changes else None
    return described


def describe_grant(grant: Grant) -> dict[str, object]:
    return {**as_dict(grant), "pattern": targets_of(grant), "session_id": grant.session_id or None}


def pick_question(store: ApprovalStore, questions: Sequence[Question], wanted: str) -> Question:
    """Of the open questions the one with that id, or the only one whose id begins so; else an error."""
    found = [question for question in questions if question.id == wanted]
    found = found or [question for question in questions if wanted and question.id.startswith(wanted)]
    if len(found) > 1:
        names = ", ".join(question.id for question in found)
        raise PersonError(f"'{wanted}' is the beginning of several questions: {names}")
    if not found:
        decided = store.get(wanted)
        why = f"is {decided.state}, or its turn has ended" if decided else "does not exist"
        raise PersonError(f"the question '{wanted}' {why}; 'sestet approvals' lists the open ones")
    return found[0]
