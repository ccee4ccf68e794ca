"""Facts that are linked with each other: adding them, asking for them, following them."""

from typing import Annotated

from sestet.agents._shared.text import day, given
from sestet.core.errors import ToolError
from sestet.core.tool import CallInfo, tool
from sestet.storage.graph import GraphStore, TripleRow

_MOST_FACTS = 100


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
    ),
)
async def graph_traverse(
    graph: GraphStore,
    /,
    start_node: Annotated[str, "The thing to start from, by its name"],
    max_depth: Annotated[int, "How many steps away at most", {"minimum": 1, "maximum": 6}] = 2,
    limit: Annotated[int, "How many facts at most", {"minimum": 1, "maximum": 200}] = 50,
) -> str:
    """Follow the linked facts around one thing, in both directions, the nearest first."""
    start = given(start_node, "start_node")
    found = graph.traverse(start, max_depth, limit)
    if not found.steps:
        return f"The graph holds nothing about {start!r}."
    steps = "1 step" if max_depth == 1 else f"{max_depth} steps"
    lines = [f"Within {steps} of {start}:"]
    lines += (f"- {depth}: {_show(triple)}" for triple, depth in found.steps)
    if found.depths:
        lines.append("Reached: " + ", ".join(f"{node} ({depth})" for node, depth in found.depths.items()))
    if not found.complete:
        lines.append(f"… stopped at the limit of {limit}; there are more facts")
    return "\n".join(lines)


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
    ),
)
async def graph_query(
    graph: GraphStore,
    /,
    subject: Annotated[str, "Who or what the fact is about; empty: anything"] = "",
    predicate: Annotated[str, "How they are linked, such as works_at; empty: in any way"] = "",
    object: Annotated[str, "What it is linked to; empty: anything"] = "",
) -> str:
    """Look facts up by any of their three parts: subject, predicate, object. At least one is needed."""
    asked = {"subject": subject.strip(), "predicate": predicate.strip(), "object": object.strip()}
    asked = {name: given(value, name) for name, value in asked.items() if value}
    if not asked:
        raise ToolError("give at least one of 'subject', 'predicate' and 'object'")
    found = graph.query(**asked, limit=_MOST_FACTS + 1)
    described = ", ".join(f"{name} {value!r}" for name, value in asked.items())
    if not found:
        return f"The graph holds no fact with {described}."
    lines = [f"Facts with {described}:"]
    lines += (f"- {_show(triple)} ({day(triple.created_at)})" for triple in found[:_MOST_FACTS])
    if len(found) > _MOST_FACTS:
        lines.append(f"… stopped at the limit of {_MOST_FACTS}; there are more facts")
    return "\n".join(lines)


@tool(
    risk="safe",
    reads=(),
    effect="local",
    # The fact is its own key: the store keeps each one once.
    recovery="keyed",
    examples=(
        "connect {subject} with {object} as {predicate}",
        "link {subject} to {object} as {predicate}",
        "add the fact {subject}, {predicate}, {object}",
        "add {subject}, {predicate}, {object} to the graph",
        "add to the graph: {subject}, {predicate}, {object}",
        "put {subject}, {predicate}, {object} into the graph",
    ),
)
async def graph_add(
    call: CallInfo,
    graph: GraphStore,
    /,
    subject: Annotated[str, "Who or what the fact is about, such as 'Ada'"],
    predicate: Annotated[str, "How they are linked, as a verb, such as works_at or related_to"],
    object: Annotated[str, "What it is linked to, such as 'Acme'"],
) -> str:
    """Add one fact to the graph: a subject, a predicate and an object."""
    row = graph.add(
        given(subject, "subject"),
        given(predicate, "predicate", 100),
        given(object, "object"),
        call.origin,
    )
    if row.turn_id == call.turn_id:
        return f"Added to the graph: {_show(row)}"
    return f"Already in the graph: {_show(row)} ({day(row.created_at)})"


def _show(triple: TripleRow) -> str:
    return f"{triple.subject} → {triple.predicate} → {triple.object}"
