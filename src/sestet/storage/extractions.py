"""The queue of texts to read for facts, and the proposed facts found in them."""

import time
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, TypeAlias

from sestet.core.label import Label, Origin
from sestet.core.record import Record
from sestet.storage.database import Database, label_columns, label_from
from sestet.storage.graph import GraphStore, Source, TripleRow, node_key, predicate_name, tidy

ProposalState: TypeAlias = Literal["open", "accepted", "rejected"]
Proposer: TypeAlias = Literal["rules", "model"]

_COLUMNS = """id, subject, predicate, object, session_id, turn_id, created_at, collection, item_id,
    untrusted, private, sources, proposed_by, state"""
#: The collections that are read for facts. SQL takes no table name as a parameter.
_ORIGINS = {
    "memories": "SELECT session_id, turn_id FROM memories WHERE id = ?",
    "knowledge": "SELECT session_id, turn_id FROM knowledge WHERE id = ?",
    "learnings": "SELECT session_id, turn_id FROM learnings WHERE id = ?",
}
#: Seconds; no claim on a text lasts longer.
_LONGEST_CLAIM = 3600.0


class Fact(NamedTuple):
    subject: str
    predicate: str
    object: str


class Pending(Record):
    """A text that one process has claimed until ``claimed_until``."""

    id: int
    source: Source
    attempts: int
    claimed_until: float
    title: str
    text: str
    origin: Origin


class ProposalRow(NamedTuple):
    id: int
    subject: str
    predicate: str
    object: str
    session_id: str
    turn_id: str
    created_at: float
    source: Source
    label: Label
    proposed_by: Proposer
    state: ProposalState


class Waiting(NamedTuple):
    """The number of unread texts, and of facts that wait for a decision."""

    texts: int
    proposals: int


class ExtractionStore:
    """Triggers fill the queue table, so no text is lost when a process ends."""

    def __init__(self, database: Database, graph: GraphStore) -> None:
        self._database = database
        self._graph = graph

    def transaction(self) -> AbstractContextManager[None]:
        return self._database.transaction()

    def is_empty(self) -> bool:
        """Whether the queue is empty. Called after every turn, so it must be cheap."""
        return not self._database.execute("SELECT 1 FROM extractions LIMIT 1")

    def claim(self, seconds: float) -> Pending | None:
        """Claim the oldest text without a valid claim; the claim of a dead process expires."""
        now = time.time()
        claimed = self._database.execute(
            """UPDATE extractions SET attempts = attempts + 1, claimed_until = ?
               WHERE id = (SELECT id FROM extractions WHERE claimed_until NOT BETWEEN ? AND ?
                           ORDER BY id LIMIT 1)
               RETURNING id, collection, item_id, attempts, claimed_until""",
            # A claim that ends later than that was made before the clock was set back.
            (now + seconds, now, now + _LONGEST_CLAIM),
        )
        if not claimed:
            return None
        id, collection, item_id, attempts, until = claimed.only()
        title, text, *label = self._database.execute(
            """SELECT title, text, untrusted, private, sources FROM passages
               WHERE collection = ? AND item_id = ?""",
            (collection, item_id),
        ).only()
        session_id, turn_id = self._database.execute(_ORIGINS[collection], (item_id,)).only()
        origin = Origin(session_id, turn_id, label_from(*label))
        return Pending(id, Source(collection, item_id), attempts, until, title, text, origin)

    def release(self, pending: Pending, attempts: int) -> None:
        """Give up the claim on a text and set its number of attempts."""
        self._database.execute(
            "UPDATE extractions SET claimed_until = 0, attempts = ? WHERE id = ? AND claimed_until = ?",
            (attempts, pending.id, pending.claimed_until),
        )

    def finish(
        self, pending: Pending, facts: Iterable[Fact], proposed_by: Proposer, auto_accepted: Collection[str]
    ) -> None:
        """Inside a transaction: store the facts and remove the text from the queue.

        Facts with a predicate in ``auto_accepted`` go into the graph at once. Nothing is stored if the
        text was changed, removed or claimed by another process meanwhile.
        """
        done = self._database.execute(
            "DELETE FROM extractions WHERE id = ? AND claimed_until = ? RETURNING id",
            (pending.id, pending.claimed_until),
        )
        for fact in facts if done else ():
            self._propose(pending, fact, proposed_by, auto_accepted)

    def _propose(
        self, pending: Pending, fact: Fact, proposed_by: Proposer, auto_accepted: Collection[str]
    ) -> None:
        keys = _keys(fact)
        state = self._state(fact, keys, auto_accepted)
        new = self._database.execute(
            """INSERT INTO proposals VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT DO NOTHING RETURNING id""",
            (
                *(tidy(fact.subject), keys[1], tidy(fact.object)),
                *(pending.origin.session_id, pending.origin.turn_id, time.time()),
                *pending.source,
                *label_columns(pending.origin.label),
                *(keys[0], keys[2], proposed_by, state),
            ),
        )
        if new and state == "accepted":
            self._graph.put(*fact, pending.origin, pending.source)

    def _state(self, fact: Fact, keys: tuple[str, str, str], auto_accepted: Collection[str]) -> ProposalState:
        """A known fact needs no decision, and a rejected fact is not proposed again."""
        if self._graph.query(*fact, limit=1):
            return "accepted"
        rejected = self._database.execute(
            """SELECT 1 FROM proposals
               WHERE subject_key = ? AND predicate = ? AND object_key = ? AND state = 'rejected'""",
            keys,
        )
        if rejected:
            return "rejected"
        return "accepted" if keys[1] in auto_accepted else "open"

    def open_proposals(self, limit: int = 1_000) -> list[ProposalRow]:
        """The facts that wait for a decision, the oldest first."""
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM proposals WHERE state = 'open' ORDER BY id LIMIT ?",  # noqa: S608 - columns from above
            (limit,),
        )
        return [_row(row) for row in rows]

    def get(self, id: int) -> ProposalRow | None:
        rows = self._database.execute(f"SELECT {_COLUMNS} FROM proposals WHERE id = ?", (id,))  # noqa: S608
        return _row(rows.only()) if rows else None

    def accept(self, proposal: ProposalRow) -> TripleRow:
        """Put a fact into the graph; equal open proposals are accepted with it."""
        origin = Origin(proposal.session_id, proposal.turn_id, proposal.label)
        with self.transaction():
            self._decide(proposal, "accepted")
            return self._graph.put(*proposal[1:4], origin, proposal.source)

    def reject(self, proposal: ProposalRow) -> None:
        with self.transaction():
            self._decide(proposal, "rejected")

    def _decide(self, proposal: ProposalRow, state: ProposalState) -> None:
        self._database.execute(
            """UPDATE proposals SET state = ?
               WHERE subject_key = ? AND predicate = ? AND object_key = ? AND state = 'open'""",
            (state, *_keys(Fact(*proposal[1:4]))),
        )

    def waiting(self) -> Waiting:
        return Waiting(
            *self._database.execute(
                """SELECT (SELECT count(*) FROM extractions),
                          (SELECT count(*) FROM proposals WHERE state = 'open')"""
            ).only()
        )


def _keys(fact: Fact) -> tuple[str, str, str]:
    return node_key(fact.subject), predicate_name(fact.predicate), node_key(fact.object)


def _row(columns: tuple[Any, ...]) -> ProposalRow:
    return ProposalRow(
        *columns[:7],
        source=Source(*columns[7:9]),
        label=label_from(*columns[9:12]),
        proposed_by=columns[12],
        state=columns[13],
    )
