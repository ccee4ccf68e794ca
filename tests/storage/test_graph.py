"""Facts as triples: each once, found by any part, walked in both directions."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.label import CLEAN, Origin
from sestet.storage.database import Database
from sestet.storage.graph import GraphStore

ORIGIN = Origin("s", "t", CLEAN)


class Edge(NamedTuple):
    subject: str
    predicate: str
    object: str


class Walk(NamedTuple):
    """Each edge with the step that crosses it, and each node with its distance."""

    edges: list[tuple[int, Edge]]
    depths: dict[str, int]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "sestet.db")
    yield database
    database.close()


@pytest.fixture
def graph(database: Database) -> GraphStore:
    return GraphStore(database)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One database for all the examples of a property."""
    database = Database(tmp_path_factory.mktemp("graph") / "sestet.db")
    yield database
    database.close()


# Few nodes, so that they are often connected; few edges, so that the distances are not all the same.
_nodes = st.sampled_from("abcdef")
_edges = st.builds(Edge, _nodes, st.sampled_from(["likes", "knows"]), _nodes)
_graphs = st.lists(_edges, max_size=12)


def test_a_fact_is_kept_once_as_it_was_first_told(graph: GraphStore) -> None:
    first = graph.add("Ada Lovelace", "works at", "Acme", Origin("s1", "t1", CLEAN))

    assert graph.add(" ada  lovelace", "Works-At", "ACME", Origin("s2", "t2", CLEAN)) == first
    assert graph.query("ADA LOVELACE") == [first]
    assert first[1:6] == ("Ada Lovelace", "works_at", "Acme", "s1", "t1")


def test_spellings_of_one_word_are_one_node(graph: GraphStore) -> None:
    graph.add("Straße", "leads_to", "Cafe\u0301", ORIGIN)

    assert len(graph.query(subject="STRASSE", object="CAFÉ")) == 1
    assert graph.traverse("café", 1, 10).depths == {"Straße": 1}


@given(edges=_graphs, asked=_edges, parts=st.sets(st.sampled_from(Edge._fields), min_size=1))
def test_a_query_finds_what_fits_all_the_given_parts(
    shared: Database, edges: list[Edge], asked: Edge, parts: set[str]
) -> None:
    graph = _fill(shared, edges)
    wanted = {part: getattr(asked, part) for part in parts}

    found = [Edge(*row[1:4]) for row in graph.query(**wanted)]

    distinct = list(dict.fromkeys(edges))
    assert found == [edge for edge in distinct if all(getattr(edge, p) == v for p, v in wanted.items())]


@given(edges=_graphs, start=_nodes, depth=st.integers(1, 5), limit=st.integers(1, 12))
def test_a_walk_is_a_breadth_first_search_that_crosses_each_edge_once(
    shared: Database, edges: list[Edge], start: str, depth: int, limit: int
) -> None:
    expected = _search(list(dict.fromkeys(edges)), start, depth)

    walk = _fill(shared, edges).traverse(start, depth, limit)

    crossed = [(step.depth, Edge(*step.triple[1:4])) for step in walk.steps]
    assert crossed == expected.edges[:limit]
    assert walk.complete == (len(expected.edges) <= limit)
    shown = {node for _, edge in crossed for node in (edge.subject, edge.object)}
    assert walk.depths == {node: d for node, d in expected.depths.items() if node in shown}


@pytest.mark.parametrize("limit", range(1, 12))
def test_a_limit_leaves_out_only_the_farthest_facts_of_a_long_chain(graph: GraphStore, limit: int) -> None:
    for number in range(10):
        graph.add(f"node {number}", "to", f"node {number + 1}", ORIGIN)

    walk = graph.traverse("node 0", 20, limit)

    assert [step.depth for step in walk.steps] == list(range(1, min(limit, 10) + 1))
    assert walk.complete == (limit >= 10)


def test_a_walk_ends_in_a_circle(graph: GraphStore) -> None:
    for subject, object_ in (("a", "b"), ("b", "c"), ("c", "a"), ("a", "a")):
        graph.add(subject, "to", object_, ORIGIN)

    walk = graph.traverse("a", 1_000, 1_000)

    assert [step.depth for step in walk.steps] == [1, 1, 1, 2]
    assert walk.depths == {"b": 1, "c": 1}


def test_a_walk_from_a_hub_brings_no_more_than_the_limit_and_says_so(graph: GraphStore) -> None:
    for number in range(300):
        graph.add("hub", "to", f"node {number}", ORIGIN)
        graph.add(f"node {number}", "to", f"leaf {number}", ORIGIN)

    walk = graph.traverse("hub", 6, 20)

    assert [step.triple.object for step in walk.steps] == [f"node {number}" for number in range(20)]
    assert not walk.complete


def test_a_walk_from_an_unknown_node_brings_nothing(graph: GraphStore) -> None:
    graph.add("a", "to", "b", ORIGIN)

    assert graph.traverse("c", 3, 10) == ((), {}, True)


def _fill(database: Database, edges: list[Edge]) -> GraphStore:
    database.execute("DELETE FROM triples")
    graph = GraphStore(database)
    for edge in edges:
        graph.add(*edge, ORIGIN)
    return graph


def _search(edges: list[Edge], start: str, depth: int) -> Walk:
    """The same walk in plain Python, over edges in the order in which they were added."""
    distance = {start: 0}
    front = [start]
    for step in range(1, depth):
        near = {other for edge in edges for node in front for other in _other_end(edge, node)}
        front = [node for node in near if node not in distance]
        distance |= dict.fromkeys(front, step)
    crossed = [
        (1 + min(distance.get(edge.subject, depth), distance.get(edge.object, depth)), edge) for edge in edges
    ]
    within = sorted((c for c in crossed if c[0] <= depth), key=lambda c: c[0])
    for step, edge in within:
        for node in (edge.subject, edge.object):
            distance.setdefault(node, step)
    del distance[start]
    return Walk(within, distance)


def _other_end(edge: Edge, node: str) -> Iterator[str]:
    if edge.subject == node:
        yield edge.object
    if edge.object == node:
        yield edge.subject
