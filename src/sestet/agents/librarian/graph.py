"""Tools to add, query, follow and remove facts of the graph."""

from collections.abc import Iterable
from typing import Annotated

from sestet.agents._shared.text import given, refuse_secret
from sestet.core.errors import ToolError
from sestet.core.label import Labelled, stored_label
from sestet.core.message import Found
from sestet.core.tool import CallInfo, tool
from sestet.core.words import day
from sestet.storage.graph import BUILT_IN_PREDICATES, GraphStore, Predicates, TripleRow, UnknownPredicateError
from sestet.storage.traversal import Direction

_MOST_FACTS = 100
_LONGEST_PATH = 12
_FOLLOWED = "Only facts with these predicates, such as works_at; none: all"
_LINKED = f"How they are linked: {', '.join(BUILT_IN_PREDICATES)}"
_DIRECTION = "out: from subject to object; in: from object to subject; both: either way"


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "what is connected to {start_node}",
        "what is {start_node} connected to",
        "how is {start_node} connected",
        "what is related to {start_node}",
        "show the graph around {start_node}",
        "explore the graph from {start_node}",
        "follow the graph from {start_node}",
        "show the neighbours of {start_node} in the graph",
        "show the neighbourhood of {start_node}",
    ),
)
async def graph_traverse(
    graph: GraphStore,
    predicates_known: Predicates,
    /,
    start_node: Annotated[str, "The thing to start from, by its name"],
    max_depth: Annotated[int, "How many steps away at most", {"minimum": 1, "maximum": 6}] = 2,
    predicates: Annotated[tuple[str, ...], _FOLLOWED] = (),
    direction: Annotated[Direction, _DIRECTION] = "both",
    limit: Annotated[int, "How many facts at most", {"minimum": 1, "maximum": 200}] = 50,
) -> Labelled:
    """Follow the linked facts around one thing, the nearest first, with the distance of each."""
    start = given(start_node, "start_node")
    names = [_known(graph, predicates_known, name) for name in predicates]
    found = graph.traverse(start, max_depth, limit, predicates=names, direction=direction)
    if not found.steps:
        return _labelled(_nothing_about(graph, start), ())
    steps = "1 step" if max_depth == 1 else f"{max_depth} steps"
    lines = [f"Within {steps} of {start}:"]
    lines += (f"- {depth}: {_show(triple)}" for triple, depth in found.steps)
    if found.depths:
        lines.append("Reached: " + ", ".join(f"{node} ({depth})" for node, depth in found.depths.items()))
    if not found.complete:
        lines.append(f"… stopped at the limit of {limit}; there are more facts")
    return _labelled("\n".join(lines), (step.triple for step in found.steps))


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "what does the graph say about {subject}",
        "ask the graph about {subject}",
        "what does the graph know about {subject}",
        "which facts in the graph lead to {object}",
        "what does {subject} have as {predicate}",
        "what has {object} as {predicate}",
        "list the facts with {predicate} in the graph",
        "ask the graph what {subject} {predicate}",
        "ask the graph what {predicate} {object}",
        "look up in the graph what {predicate} {object}",
    ),
)
async def graph_query(
    graph: GraphStore,
    predicates: Predicates,
    /,
    subject: Annotated[str, "Who or what the fact is about; empty: anything"] = "",
    predicate: Annotated[str, f"{_LINKED}; empty: in any way"] = "",
    object: Annotated[str, "What it is linked to; empty: anything"] = "",
) -> Labelled:
    """Look facts up by any of their three parts: subject, predicate, object. At least one is needed."""
    asked = {"subject": subject.strip(), "predicate": predicate.strip(), "object": object.strip()}
    asked = {name: given(value, name) for name, value in asked.items() if value}
    if not asked:
        raise ToolError("give at least one of 'subject', 'predicate' and 'object'")
    if "predicate" in asked:
        asked["predicate"] = _known(graph, predicates, asked["predicate"])
    found = graph.query(**asked, limit=_MOST_FACTS + 1)
    described = ", ".join(f"{name} {value!r}" for name, value in asked.items())
    if not found:
        return _labelled(f"The graph holds no fact with {described}.", ())
    lines = [f"Facts with {described}:"]
    lines += (f"- {_show(triple)} ({day(triple.created_at)})" for triple in found[:_MOST_FACTS])
    if len(found) > _MOST_FACTS:
        lines.append(f"… stopped at the limit of {_MOST_FACTS}; there are more facts")
    return _labelled("\n".join(lines), found)


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "how is {from_node} connected with {to_node}",
        "how is {from_node} connected to {to_node}",
        "what connects {from_node} with {to_node}",
        "what connects {from_node} and {to_node}",
        "find the path from {from_node} to {to_node} in the graph",
        "what is the connection between {from_node} and {to_node}",
        "how are {from_node} and {to_node} connected",
        "what links {from_node} and {to_node}",
        "what has {from_node} to do with {to_node}",
        "is there a chain of facts from {from_node} to {to_node}",
    ),
)
async def graph_path(
    graph: GraphStore,
    predicates_known: Predicates,
    /,
    from_node: Annotated[str, "The thing at one end, by its name"],
    to_node: Annotated[str, "The thing at the other end, by its name"],
    predicates: Annotated[tuple[str, ...], _FOLLOWED] = (),
    direction: Annotated[Direction, _DIRECTION] = "both",
    max_depth: Annotated[int, "How many steps at most", {"minimum": 1, "maximum": _LONGEST_PATH}] = 6,
) -> Labelled:
    """Find the shortest chain of facts that connects two things."""
    start, end = given(from_node, "from_node"), given(to_node, "to_node")
    names = [_known(graph, predicates_known, name) for name in predicates]
    for node in (start, end):
        if not graph.holds(node):
            return _labelled(_nothing_about(graph, node), ())
    found = graph.path(start, end, max_depth, predicates=names, direction=direction)
    if not found.nodes:
        why = "" if found.complete else "; the search was given up, because the graph is too wide there"
        return _labelled(f"No facts lead from {start} to {end} within {max_depth} steps{why}.", ())
    if not found.triples:
        return _labelled(f"{start} and {end} are the same.", ())
    steps = "1 step" if len(found.triples) == 1 else f"{len(found.triples)} steps"
    lines = [f"From {start} to {end} in {steps}: {', '.join(found.nodes)}"]
    lines += (f"- {number}: {_show(triple)}" for number, triple in enumerate(found.triples, 1))
    return _labelled("\n".join(lines), found.triples)


@tool(
    risk="safe",
    reads=(),
    effect="store",
    # The fact is its own key: the store keeps each one once.
    recovery="keyed",
    examples=(
        "connect {subject} with {object} as {predicate}",
        "link {subject} to {object} as {predicate}",
        "add the fact {subject}, {predicate}, {object}",
        "add {subject}, {predicate}, {object} to the graph",
        "add to the graph: {subject}, {predicate}, {object}",
        "put {subject}, {predicate}, {object} into the graph",
        "add to the graph that {subject} {predicate} {object}",
        "put into the graph that {subject} {predicate} {object}",
        "note in the graph: {subject} {predicate} {object}",
    ),
)
async def graph_add(
    call: CallInfo,
    graph: GraphStore,
    predicates: Predicates,
    /,
    subject: Annotated[str, "Who or what the fact is about, such as 'the outage'"],
    predicate: Annotated[
        str,
        f"{_LINKED}, or one that the person declared",
    ],
    object: Annotated[str, "What it is linked to, such as 'a full disk'"],
) -> str:
    """Add one fact to the graph: a subject, a predicate and an object."""
    refuse_secret(f"{subject}: {object}")
    row = graph.add(
        given(subject, "subject"),
        _declared(predicates, given(predicate, "predicate", 100)),
        given(object, "object"),
        call.origin,
    )
    if row.turn_id == call.turn_id:
        return f"Added to the graph: {_show(row)}"
    return f"Already in the graph: {_show(row)} ({day(row.created_at)})"


@tool(
    # Removing a fact cannot be undone, so the person approves it.
    risk="guarded",
    caution="deleting a fact of the graph cannot be undone",
    standing="delete the fact {subject}, {predicate}, {object}",
    reads=("untrusted", "private"),
    effect="store",
    # Removing a fact again changes nothing.
    recovery="keyed",
    examples=(
        "remove the fact {subject}, {predicate}, {object}",
        "delete the fact {subject}, {predicate}, {object}",
        "remove {subject}, {predicate}, {object} from the graph",
        "delete {subject}, {predicate}, {object} from the graph",
        "take {subject}, {predicate}, {object} out of the graph",
        "unlink {subject} from {object} as {predicate}",
        "remove from the graph that {subject} {predicate} {object}",
        "take out of the graph that {subject} {predicate} {object}",
    ),
)
async def graph_remove(
    graph: GraphStore,
    predicates: Predicates,
    /,
    subject: Annotated[str, "Who or what the fact is about"],
    predicate: Annotated[str, _LINKED],
    object: Annotated[str, "What it is linked to"],
) -> Labelled:
    """Remove one fact from the graph for good. All three of its parts are needed: look it up first."""
    edge = (
        given(subject, "subject"),
        _known(graph, predicates, given(predicate, "predicate", 100)),
        given(object, "object"),
    )
    removed = graph.remove(*edge)
    if removed is None:
        return _labelled(f"Nothing was removed: the graph holds no fact {' → '.join(edge)}.", ())
    return _labelled(
        f"Removed from the graph: {_show(removed)} (added {day(removed.created_at)})", (removed,)
    )


def _declared(predicates: Predicates, name: str, also: Iterable[str] = ()) -> str:
    try:
        return predicates.require(name, also)
    except UnknownPredicateError as error:
        known = ", ".join(error.known)
        way_out = f"The person can add it with 'sestet graph predicates --add {error.name}'"
        raise ToolError(f"{error} Known: {known}. {way_out}") from error


def _known(graph: GraphStore, predicates: Predicates, name: str) -> str:
    """A predicate that is declared now, or that a stored fact has."""
    name = given(name, "predicate", 100)
    # Counting the used predicates takes time, and only an undeclared name needs it.
    return _declared(predicates, name, () if predicates.knows(name) else graph.used_predicates())


def _nothing_about(graph: GraphStore, node: str) -> str:
    if graph.holds(node):
        return f"The graph knows {node!r}, but has no such facts about it."
    return f"The graph holds nothing about {node!r}."


def _labelled(text: str, triples: Iterable[TripleRow]) -> Labelled:
    triples = list(triples)
    facts = tuple(
        Found(one.subject, f"{one.subject} {one.predicate.replace('_', ' ')} {one.object}") for one in triples
    )
    return Labelled(text, stored_label("the graph", (triple.label for triple in triples)), (), facts)


def _show(triple: TripleRow) -> str:
    return f"{triple.subject} → {triple.predicate} → {triple.object}"
