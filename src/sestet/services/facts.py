"""The knowledge graph for a person: walks, paths, corrections, and decisions on proposed facts."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sestet.core.errors import ModelError, PersonError
from sestet.core.label import CLEAN, Origin
from sestet.services.extraction import Extraction
from sestet.storage.extractions import ProposalRow
from sestet.storage.graph import (
    BUILT_IN_PREDICATES,
    GraphPath,
    GraphStore,
    NodeRow,
    Predicates,
    Source,
    Traversal,
    TripleRow,
    UnknownPredicateError,
    node_key,
    predicate_name,
)
from sestet.storage.traversal import Direction

__all__ = [
    "Direction",
    "Facts",
    "GraphPath",
    "NodeRow",
    "PredicateRow",
    "Predicates",
    "ProposalRow",
    "Source",
    "Traversal",
    "TripleRow",
    "Walk",
    "node_key",
    "predicate_name",
]

#: A person wrote it outside of any conversation.
_BY_HAND = Origin("", "", CLEAN)
_SIMILAR = 5


class Walk(NamedTuple):
    """What a walk or a path starts from, and how far it goes."""

    node: str
    depth: int
    direction: Direction = "both"
    #: Only these links; empty: all.
    predicates: Sequence[str] = ()


class PredicateRow(NamedTuple):
    name: str
    kind: str
    facts: int


class Facts:
    """The graph and the facts that were found in saved texts."""

    def __init__(self, graph: GraphStore | None, extraction: Extraction | None) -> None:
        if graph is None or extraction is None:
            raise PersonError("the graph is switched off; graph.enabled in the settings turns it on")
        self._graph = graph
        self._extraction = extraction

    @property
    def declared(self) -> Predicates:
        """The predicates that a new fact can have."""
        return self._extraction.predicates

    def walk(self, wanted: Walk, limit: int) -> Traversal:
        """Everything that is connected with a node."""
        self._require_nodes(wanted.node)
        names = [self.known_predicate(name) for name in wanted.predicates]
        return self._graph.traverse(
            wanted.node, wanted.depth, limit, predicates=names, direction=wanted.direction
        )

    def path(self, wanted: Walk, end: str) -> GraphPath:
        """The shortest chain of facts between two nodes."""
        self._require_nodes(wanted.node, end)
        names = [self.known_predicate(name) for name in wanted.predicates]
        return self._graph.path(wanted.node, end, wanted.depth, predicates=names, direction=wanted.direction)

    def nodes(self, words: str, limit: int) -> list[NodeRow]:
        """The nodes whose names contain the words; without words, those with the most facts."""
        return self._graph.nodes(words, limit)

    def count_facts(self, names: Iterable[str]) -> dict[str, int]:
        """How many facts each of these nodes has, whether a walk has shown them or not."""
        return self._graph.count_facts(names)

    def latest(self, limit: int, predicate: str = "") -> list[TripleRow]:
        """The facts, the latest first."""
        return self._graph.latest(limit, self.known_predicate(predicate) if predicate else "")

    def add(self, subject: str, predicate: str, object: str) -> TripleRow:
        if not node_key(subject) or not node_key(object):
            raise PersonError("a fact needs a subject and an object")
        return self._graph.add(subject, self.declared_predicate(predicate), object, _BY_HAND)

    def remove(self, fact: int | tuple[str, str, str]) -> TripleRow | None:
        """Remove a fact by its number or its parts; None when there is none."""
        if isinstance(fact, int):
            row = self._graph.get(fact)
            return self._graph.remove(row.subject, row.predicate, row.object) if row else None
        subject, predicate, object_ = fact
        return self._graph.remove(subject, self.known_predicate(predicate), object_)

    def predicates(self) -> list[PredicateRow]:
        """The built-in ones, the declared ones, and those that only old facts have."""
        used, known = self._graph.used_predicates(), self.declared
        kinds = {
            **dict.fromkeys(used, "no longer declared"),
            **dict.fromkeys(known.declared, "declared"),
            **dict.fromkeys(BUILT_IN_PREDICATES, "built in"),
        }
        names = (*known.names, *(name for name in used if name not in known.names))
        return [PredicateRow(name, kinds[name], used.get(name, 0)) for name in names]

    def declared_predicate(self, name: str, also: Iterable[str] = ()) -> str:
        """The one spelling of a predicate that is declared, or an error that names the nearest."""
        try:
            return self.declared.require(name, also)
        except UnknownPredicateError as error:
            command = "sestet graph predicates"
            way_out = f"'{command}' lists the known ones, and '{command} --add {error.name}' adds this one"
            raise PersonError(f"{error} {way_out}") from error

    def known_predicate(self, name: str) -> str:
        """The same for a predicate that is declared, or that some fact has."""
        return self.declared_predicate(
            name, () if self.declared.knows(name) else self._graph.used_predicates()
        )

    async def read_texts(self) -> str:
        """Read the saved texts that wait for facts; why some are left, or an empty text."""
        try:
            await self._extraction.read_all()
        except (ModelError, TimeoutError) as error:
            return f"{self._extraction.store.waiting().texts} saved texts are still to be read: {error}"
        return ""

    def proposals(self) -> list[ProposalRow]:
        """The facts that wait for a decision."""
        return self._extraction.store.open_proposals()

    def decide(self, accept: Sequence[int], reject: Sequence[int]) -> list[ProposalRow]:
        """Accept and reject proposals, and return them with their new state.

        Every number is checked before the first decision takes effect.
        """
        store = self._extraction.store
        rows = {id: store.get(id) for id in (*accept, *reject)}
        for id, row in rows.items():
            if row is None or row.state != "open":
                what = f"was {row.state} already" if row else "does not exist"
                raise PersonError(f"proposal {id} {what}; 'sestet graph review' lists those that wait")
            if id in accept:
                self.declared_predicate(row.predicate)
        if both := set(accept) & set(reject):
            raise PersonError(f"proposal {min(both)} cannot be accepted and rejected at once")
        for id, row in rows.items():
            if row is not None and id in accept:
                store.accept(row)
            elif row is not None:
                store.reject(row)
        return self._rows(rows)

    def accept_declared(self) -> list[ProposalRow]:
        """Accept every proposal whose predicate is declared, and return them."""
        known = self.declared.names
        rows = [row for row in self.proposals() if row.predicate in known]
        for row in rows:
            self._extraction.store.accept(row)
        return self._rows(row.id for row in rows)

    def _rows(self, ids: Iterable[int]) -> list[ProposalRow]:
        found = (self._extraction.store.get(id) for id in ids)
        return [row for row in found if row is not None]

    def _require_nodes(self, *nodes: str) -> None:
        for node in nodes:
            if not self._graph.holds(node):
                similar = self._graph.similar_nodes(node, _SIMILAR) if node.strip() else []
                known = f"; it knows {', '.join(repr(name) for name in similar)}" if similar else ""
                raise PersonError(f"the graph holds nothing about '{node}'{known}")


def describe_walk(start: str, found: Traversal) -> dict[str, Any]:
    return {
        "node": start,
        "facts": [{**describe_fact(step.triple), "depth": step.depth} for step in found.steps],
        "nodes": found.depths,
        "complete": found.complete,
    }


def describe_fact(fact: TripleRow | ProposalRow) -> dict[str, object]:
    """A fact as JSON, with its whole origin."""
    return {
        "id": fact.id,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "session": fact.session_id,
        "turn": fact.turn_id,
        "at": fact.created_at,
        "read_from": {"collection": fact.source.collection, "id": fact.source.item_id}
        if fact.source.collection
        else None,
        "untrusted": fact.label.untrusted,
        "private": fact.label.private,
        "sources": fact.label.sources,
    }


def describe_proposal(row: ProposalRow, predicates: Predicates) -> dict[str, object]:
    declared = row.predicate in predicates.names
    return {**describe_fact(row), "proposed_by": row.proposed_by, "state": row.state, "declared": declared}
