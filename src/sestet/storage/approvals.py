"""Approval questions about one exact tool call, and standing grants."""

import json
import time
from collections.abc import Sequence
from typing import Literal, TypeAlias, cast, get_args

from sestet.core.errors import PersonError
from sestet.core.event import ApprovalRequested, ToolCalled
from sestet.core.preview import Changes
from sestet.core.record import Record, ValidationError, convert, to_json
from sestet.core.schema import JsonObject
from sestet.storage.database import Database, damaged, from_json
from sestet.storage.journal import Journal

Decision: TypeAlias = Literal["approve", "deny"]
Scope: TypeAlias = Literal["once", "session", "always"]
ApprovalState: TypeAlias = Literal["pending", "approved", "denied", "used"]

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_STATES: dict[Decision, ApprovalState] = {"approve": "approved", "deny": "denied"}


class Basis(Record):
    """What a standing answer is bound to: the targets, the rule that asked, and what had been read."""

    pattern: JsonObject
    why: str
    untrusted: bool
    private: bool


class Question(Record):
    """A tool call that waits for a decision, or has one."""

    id: str
    session_id: str
    turn_id: str
    agent: str
    tool: str
    arguments: str
    #: The targets of the call as JSON; a standing grant is bound to them.
    pattern: str
    digest: str
    reason: str
    sources: str
    state: ApprovalState
    asked_at: float
    expires_at: float
    scope: Scope
    #: The rule of the gate that asked, and the label of the context; a standing grant is bound to them too.
    why: str
    untrusted: int
    private: int
    #: What the call would change, as JSON; empty if its tool cannot tell.
    changes: str = ""


class Grant(Record):
    """A standing grant: this agent may call this tool with these targets, for this reason."""

    id: int
    agent: str
    tool: str
    pattern: str
    #: Empty: the grant holds in every session.
    session_id: str
    granted_at: float
    #: The rule of the gate that it answers, and the most that the context may have read.
    why: str
    untrusted: int
    private: int


class ApprovalStore:
    """Stores each question once, binds its decision to one exact call, and lets the decision be used once."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    def ask(self, event: ApprovalRequested, basis: Basis) -> bool:
        """Write the question with its event: both are stored, or neither."""
        return self._journal.append(event, together_with=lambda: self._insert(event, basis))

    def _insert(self, event: ApprovalRequested, basis: Basis) -> bool:
        stamp, call = event.stamp, event.call
        cursor = self._database.execute(
            """INSERT INTO approvals
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, 'once', ?, ?, ?, ?)""",
            (
                event.approval_id,
                stamp.session_id,
                stamp.turn_id,
                stamp.author,
                call.name,
                canonical(call.arguments),
                canonical(basis.pattern),
                call_digest(stamp.session_id, call.name, call.arguments),
                event.reason,
                json.dumps(event.sources),
                stamp.at,
                event.expires_at,
                basis.why,
                basis.untrusted,
                basis.private,
                to_json(event.changes).decode() if event.changes else "",
            ),
        )
        return cursor.rowcount == 1

    def get(self, approval_id: str) -> Question | None:
        row = self._database.execute("SELECT * FROM approvals WHERE id = ?", (approval_id,)).fetchone()
        return Question(*row) if row else None

    def pending(self, turn_id: str | None = None) -> list[Question]:
        """Open questions, the oldest first. Expired questions and questions of ended turns are left out."""
        rows = self._database.execute(
            """SELECT approvals.* FROM approvals JOIN turns ON turns.id = turn_id
               WHERE approvals.state = 'pending' AND expires_at > ? AND (? IS NULL OR turn_id = ?)
                   AND turns.state IN ('running', 'paused')
               ORDER BY asked_at, approvals.id""",
            (time.time(), turn_id, turn_id),
        )
        return [Question(*row) for row in rows]

    def decide(self, approval_id: str, decision: Decision, scope: Scope = "once") -> Question:
        """Store a decision for the resumed turn; raise PersonError if the question is not open."""
        # An unknown word must never become a standing grant.
        for word, known in ((decision, tuple(_STATES)), (scope, get_args(Scope))):
            if word not in known:
                raise PersonError(f"'{word}' is not a decision; use one of {', '.join(known)}")
        now = time.time()
        with self._database.transaction(patient=True):
            question = self.get(approval_id)
            if question is None:
                raise PersonError(f"there is no question '{approval_id}'; see 'sestet approvals'")
            if question.state != "pending":
                raise PersonError(f"the question '{approval_id}' is already {question.state}")
            if question.expires_at <= now:
                raise PersonError(f"the question '{approval_id}' has expired; ask for the task again")
            if self._journal.turn_state(question.turn_id) not in ("running", "paused"):
                raise PersonError(
                    f"the turn of the question '{approval_id}' has ended; ask for the task again"
                )
            self._database.execute(
                "UPDATE approvals SET state = ?, scope = ? WHERE id = ?",
                (_STATES[decision], scope, approval_id),
            )
            if decision == "approve" and scope != "once":
                self._grant(question, scope, now)
        return question

    def use(self, approval_id: str, intent: ToolCalled) -> bool:
        """Spend an approval on exactly this call, with its intent; False when it is for another call.

        Only the question expires: an approval that was given in time holds until the turn is resumed.
        """
        digest = call_digest(intent.stamp.session_id, intent.call.name, intent.call.arguments)
        return self._spend(
            "WHERE id = ? AND state = 'approved' AND digest = ?", (approval_id, digest), intent
        )

    def overtake(self, approval_id: str, intent: ToolCalled) -> bool:
        """Close an open question that a standing grant answers, with the intent; False: it was decided."""
        return self._spend("WHERE id = ? AND state = 'pending'", (approval_id,), intent)

    def _spend(self, which: str, values: tuple[str, ...], intent: ToolCalled) -> bool:
        statement = f"UPDATE approvals SET state = 'used' {which}"  # noqa: S608 - the callers are above
        return self._journal.append(
            intent,
            sync=True,
            together_with=lambda: self._database.execute(statement, values).rowcount == 1,
        )

    def is_granted(self, session_id: str, agent: str, tool: str, basis: Basis) -> bool:
        """Whether a standing grant covers this call: given for this reason, after no less had been read.

        A yes to a target that somebody else chose is also a yes to the risk of that call when you chose it.
        """
        reasons = (basis.why, "target" if basis.why == "risk" else basis.why)
        row = self._database.execute(
            """SELECT 1 FROM grants
               WHERE agent = ? AND tool = ? AND pattern = ? AND session_id IN ('', ?)
                   AND why IN (?, ?) AND untrusted >= ? AND private >= ? LIMIT 1""",
            (
                *(agent, tool, canonical(basis.pattern), session_id),
                *(*reasons, basis.untrusted, basis.private),
            ),
        ).fetchone()
        return row is not None

    def grants(self) -> list[Grant]:
        return [Grant(*row) for row in self._database.execute("SELECT * FROM grants ORDER BY id")]

    def revoke(self, grant_id: int) -> None:
        if self._database.execute("DELETE FROM grants WHERE id = ?", (grant_id,)).rowcount == 0:
            raise PersonError(f"there is no grant {grant_id}; 'sestet approvals grants' lists them")

    def _grant(self, question: Question, scope: Scope, now: float) -> None:
        session_id = question.session_id if scope == "session" else ""
        self._database.execute(
            """INSERT INTO grants (agent, tool, pattern, session_id, granted_at, why, untrusted, private)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                *(question.agent, question.tool, question.pattern, session_id, now),
                *(question.why, question.untrusted, question.private),
            ),
        )


def canonical(value: object) -> str:
    """A value as JSON with sorted keys, so that equal values give equal texts."""
    return _CANONICAL.encode(value)


def call_digest(session_id: str, tool: str, arguments: JsonObject) -> str:
    """A hash of session, tool and exact arguments; a decision is bound to it."""
    from hashlib import sha256

    return sha256(canonical([session_id, tool, arguments]).encode()).hexdigest()


def changes_of(question: Question) -> Changes:
    """What the call would change; nothing if its tool cannot tell."""
    if not question.changes:
        return Changes()
    try:
        return convert(from_json(question.changes, "the changes of a question"), Changes)
    except ValidationError as error:
        raise damaged("the changes of a question cannot be read") from error


def sources_of(question: Question) -> tuple[str, ...]:
    return tuple(cast("Sequence[str]", from_json(question.sources, "the sources of a question")))
