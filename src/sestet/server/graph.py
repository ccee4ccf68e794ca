"""The API of the knowledge graph: facts, walks and paths, corrections, and decisions on proposals."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeAlias

from sestet.core.record import Meta, Record, as_builtins
from sestet.data import Data
from sestet.server.endpoint import Body, Call, Endpoint, Limit, NoQuery, Words
from sestet.server.errors import ApiError, not_found
from sestet.services.extraction import Extraction
from sestet.services.facts import (
    Direction,
    Facts,
    ProposalRow,
    Walk,
    describe_fact,
    describe_proposal,
    describe_walk,
)

Depth: TypeAlias = Annotated[int, Meta(ge=1, le=20)]
_Number: TypeAlias = Annotated[int, Meta(ge=1, le=10**18 - 1)]


class FactFacts(Record):
    """A fact with its whole origin."""

    id: int
    subject: str
    predicate: str
    object: str
    session: str
    turn: str
    #: The number of the turn in its session; 0 if there is none.
    turn_number: int
    at: float
    read_from: dict[str, Any] | None
    untrusted: bool
    private: bool
    sources: list[str]


class FactList(Record):
    facts: list[FactFacts]


class FactQuery(Body):
    #: Only facts of this link.
    predicate: str = ""
    limit: Limit = 50


class WalkQuery(Body):
    node: Words
    depth: Depth = 2
    direction: Direction = "both"
    predicate: str = ""
    limit: Limit = 100


class PathQuery(Body):
    start: Words
    end: Words
    depth: Depth = 6
    direction: Direction = "both"
    predicate: str = ""


class Around(Record):
    """The facts around a node, each with its distance."""

    node: str
    facts: list[dict[str, Any]]
    nodes: dict[str, int]
    #: How many facts each of these nodes has in all.
    links: dict[str, int]
    #: False: there are more.
    complete: bool


class NodeQuery(Body):
    #: A part of the name; empty: the nodes with the most facts.
    words: Annotated[str, Meta(max_length=2_000)] = ""
    limit: Limit = 20


class NodeFacts(Record):
    name: str
    facts: int


class NodeList(Record):
    nodes: list[NodeFacts]


class Chain(Record):
    """The shortest chain of facts between two nodes; empty: there is none."""

    nodes: list[str]
    facts: list[FactFacts]
    complete: bool


class NewFact(Body):
    subject: Words
    predicate: Words
    object: Words


class PredicateFacts(Record):
    name: str
    kind: str
    facts: int


class PredicateList(Record):
    predicates: list[PredicateFacts]


class ProposalList(Record):
    proposals: list[dict[str, Any]]


class Decisions(Body):
    accept: tuple[_Number, ...] = ()
    reject: tuple[_Number, ...] = ()


async def list_facts(call: Call[None, FactQuery]) -> dict[str, Any]:
    query = call.query

    def read(data: Data) -> list[dict[str, Any]]:
        rows = _facts(call, data).latest(query.limit, query.predicate)
        return _placed(data, [describe_fact(row) for row in rows])

    return {"facts": await call.host.read(read)}


async def walk_graph(call: Call[None, WalkQuery]) -> dict[str, Any]:
    query = call.query

    def walk(data: Data) -> dict[str, Any]:
        _require(data, query.node)
        wanted = Walk(query.node, query.depth, query.direction, _links(query.predicate))
        facts = _facts(call, data)
        found = facts.walk(wanted, query.limit)
        links = facts.count_facts((query.node, *found.depths))
        told = describe_walk(query.node, found)
        return {**told, "facts": _placed(data, told["facts"]), "links": links}

    return await call.host.read(walk)


async def list_nodes(call: Call[None, NodeQuery]) -> NodeList:
    query = call.query
    rows = await call.host.read(lambda data: _facts(call, data).nodes(query.words, query.limit))
    return NodeList([NodeFacts(*row) for row in rows])


async def find_path(call: Call[None, PathQuery]) -> dict[str, Any]:
    query = call.query

    def find(data: Data) -> dict[str, Any]:
        _require(data, query.start, query.end)
        wanted = Walk(query.start, query.depth, query.direction, _links(query.predicate))
        found = _facts(call, data).path(wanted, query.end)
        facts = _placed(data, [describe_fact(triple) for triple in found.triples])
        return {"nodes": list(found.nodes), "facts": facts, "complete": found.complete}

    return await call.host.read(find)


async def add_fact(call: Call[NewFact, NoQuery]) -> dict[str, Any]:
    body = call.body

    def add(data: Data) -> dict[str, Any]:
        row = _facts(call, data).add(body.subject, body.predicate, body.object)
        return _placed(data, [describe_fact(row)])[0]

    return await call.host.read(add)


async def remove_fact(call: Call[None, NoQuery]) -> dict[str, Any]:
    number = call.number("fact")

    def remove(data: Data) -> dict[str, Any]:
        removed = _facts(call, data).remove(number)
        if removed is None:
            raise not_found("fact", str(number))
        return _placed(data, [describe_fact(removed)])[0]

    return await call.host.read(remove)


async def list_predicates(call: Call[None, NoQuery]) -> PredicateList:
    rows = await call.host.read(lambda data: _facts(call, data).predicates())
    return PredicateList([PredicateFacts(*row) for row in rows])


async def list_proposals(call: Call[None, NoQuery]) -> ProposalList:
    def read(data: Data) -> ProposalList:
        facts = _facts(call, data)
        return _described(data, facts, facts.proposals())

    return await call.host.read(read)


async def decide_proposals(call: Call[Decisions, NoQuery]) -> ProposalList:
    body = call.body

    def decide(data: Data) -> ProposalList:
        facts = _facts(call, data)
        waiting = {row.id for row in facts.proposals()}
        if unknown := {*body.accept, *body.reject} - waiting:
            raise not_found("proposal that waits", str(min(unknown)))
        if both := {*body.accept} & {*body.reject}:
            raise ApiError("bad_request", f"proposal {min(both)} cannot be accepted and rejected at once")
        return _described(data, facts, facts.decide(body.accept, body.reject))

    return await call.host.read(decide)


def _described(data: Data, facts: Facts, rows: list[ProposalRow]) -> ProposalList:
    return ProposalList(_placed(data, [describe_proposal(row, facts.declared) for row in rows]))


def _placed(data: Data, facts: Iterable[Mapping[str, object]]) -> list[dict[str, Any]]:
    """The facts as JSON, each with the number of its turn."""
    turns: dict[str, int] = {"": 0}
    told = [as_builtins(fact) for fact in facts]
    for id in {fact["turn"] for fact in told} - {""}:
        turn = data.journal.turn(id)
        turns[id] = turn.number if turn else 0
    return [{**fact, "turn_number": turns[fact["turn"]]} for fact in told]


def _facts(call: Call[Any, Any], data: Data) -> Facts:
    """The graph on the connection of this thread."""
    app = call.host.app
    extraction = app.background.extraction
    own = extraction and Extraction(data.extractions, extraction.predicates, "off")
    return Facts(data.graph if app.graph else None, own)


def _require(data: Data, *nodes: str) -> None:
    for node in nodes:
        if not data.graph.holds(node):
            raise not_found("node", node)


def _links(predicate: str) -> tuple[str, ...]:
    return (predicate,) if predicate else ()


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/graph/facts",
        list_facts,
        "The facts of the graph, the latest first.",
        ("read",),
        query=FactQuery,
        answer=FactList,
    ),
    Endpoint("POST", "/api/graph/facts", add_fact, "Add a fact.", body=NewFact, answer=FactFacts, status=201),
    Endpoint("DELETE", "/api/graph/facts/{fact}", remove_fact, "Remove a fact for good.", answer=FactFacts),
    Endpoint(
        "GET",
        "/api/graph/nodes",
        list_nodes,
        "The things of the graph by a part of their name, with the number of their facts.",
        ("read",),
        query=NodeQuery,
        answer=NodeList,
    ),
    Endpoint(
        "GET",
        "/api/graph/walk",
        walk_graph,
        "The facts around a thing.",
        ("read",),
        query=WalkQuery,
        answer=Around,
    ),
    Endpoint(
        "GET",
        "/api/graph/path",
        find_path,
        "The shortest chain of facts between two things.",
        ("read",),
        query=PathQuery,
        answer=Chain,
    ),
    Endpoint(
        "GET",
        "/api/graph/predicates",
        list_predicates,
        "The links that facts can have.",
        ("read",),
        answer=PredicateList,
    ),
    Endpoint(
        "GET",
        "/api/graph/proposals",
        list_proposals,
        "The facts found in saved texts that wait for a decision.",
        ("read",),
        answer=ProposalList,
    ),
    Endpoint(
        "POST",
        "/api/graph/proposals",
        decide_proposals,
        "Accept and reject proposed facts.",
        body=Decisions,
        answer=ProposalList,
    ),
)
