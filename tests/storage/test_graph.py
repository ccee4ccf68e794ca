"""Facts as triples: each once, found by any part, walked in both directions."""

import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.errors import ConfigError
from sestet.core.label import CLEAN, Label, Origin
from sestet.storage import traversal
from sestet.storage.database import Database
from sestet.storage.graph import (
    BUILT_IN_PREDICATES,
    TOLD,
    GraphStore,
    Predicates,
    Source,
    UnknownPredicateError,
)
from sestet.storage.migrations import MIGRATIONS
from sestet.storage.traversal import Direction

ORIGIN = Origin("s", "t", CLEAN)


class Edge(NamedTuple):
    subject: str
    predicate: str
    object: str


class Walk(NamedTuple):
    """Each edge with its step, and each node with its distance."""

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
_directions = st.sampled_from(get_args(Direction))
_chosen = st.lists(st.sampled_from(["likes", "knows"]), max_size=2)


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


@given(
    edges=_graphs,
    start=_nodes,
    depth=st.integers(1, 5),
    limit=st.integers(1, 12),
    direction=_directions,
    predicates=_chosen,
)
def test_a_walk_is_a_breadth_first_search_that_crosses_each_edge_once(
    shared: Database,
    edges: list[Edge],
    start: str,
    depth: int,
    limit: int,
    direction: Direction,
    predicates: list[str],
) -> None:
    followed = [edge for edge in dict.fromkeys(edges) if not predicates or edge.predicate in predicates]
    expected = _search(followed, start, depth, direction)

    walk = _fill(shared, edges).traverse(start, depth, limit, predicates=predicates, direction=direction)

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


@given(
    edges=_graphs,
    ends=st.tuples(_nodes, _nodes),
    longest=st.integers(1, 6),
    direction=_directions,
    predicates=_chosen,
)
def test_a_path_is_a_shortest_chain_of_facts_from_one_end_to_the_other(
    shared: Database,
    edges: list[Edge],
    ends: tuple[str, str],
    longest: int,
    direction: Direction,
    predicates: list[str],
) -> None:
    start, end = ends
    known = {node for edge in edges for node in (edge.subject, edge.object)}
    followed = [edge for edge in edges if not predicates or edge.predicate in predicates]
    distance = {start: 0, **_search(followed, start, longest, direction).depths}.get(end)

    path = _fill(shared, edges).path(start, end, longest, predicates=predicates, direction=direction)

    assert path.complete
    if distance is None or not known.issuperset(ends):
        assert path == ((), (), True)
        return
    assert len(path.triples) == distance
    assert len(path.nodes) == distance + 1
    assert (path.nodes[0], path.nodes[-1]) == (start, end)
    for triple, (here, there) in zip(path.triples, pairwise(path.nodes), strict=True):
        edge = Edge(*triple[1:4])
        assert edge in followed
        assert there in _other_end(edge, here, direction)


def test_a_path_through_too_wide_a_graph_is_given_up_and_says_so(
    graph: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traversal, "MOST_NODES", 5)
    for number in range(20):
        graph.add("hub", "to", f"node {number}", ORIGIN)
    graph.add("far", "to", "farther", ORIGIN)
    graph.add("farther", "to", "node 19", ORIGIN)

    assert graph.path("hub", "far", 9) == ((), (), False)


@pytest.mark.parametrize("seed", range(5))
def test_a_path_over_a_wide_graph_is_as_short_as_a_plain_search_finds_it(
    graph: GraphStore, seed: int
) -> None:
    rng = Random(seed)
    edges = [Edge(str(rng.randrange(150)), "to", str(rng.randrange(150))) for _ in range(220)]
    for edge in edges:
        graph.add(*edge, ORIGIN)
    depths = _search(edges, edges[0].subject, 20, "both").depths

    for end in [str(number) for number in range(150) if str(number) in depths]:
        assert len(graph.path(edges[0].subject, end, 20).triples) == depths[end]


def test_a_fact_that_is_removed_takes_its_lonely_nodes_along(graph: GraphStore) -> None:
    graph.add("a", "to", "b", ORIGIN)
    graph.add("b", "to", "c", ORIGIN)
    assert graph.size() == (3, 2)

    removed = graph.remove("A", "to", "b")

    assert removed is not None
    assert removed[1:4] == ("a", "to", "b")
    assert graph.size() == (2, 1)
    assert not graph.holds("a")
    assert graph.remove("a", "to", "b") is None


def test_a_better_origin_takes_over_and_a_worse_one_does_not(graph: GraphStore) -> None:
    strange = Label(untrusted=True, sources=("a page",))
    memory = Source("memories", 1)
    steps = (
        (Origin("s1", "t1", strange), TOLD, "t1"),
        (Origin("s2", "t2", CLEAN), memory, "t2"),
        (Origin("s3", "t3", strange), TOLD, "t2"),
        (Origin("s4", "t4", CLEAN), TOLD, "t4"),
        (Origin("s5", "t5", CLEAN), TOLD, "t4"),
        (Origin("s6", "t6", CLEAN), memory, "t4"),
    )

    for origin, source, holds in steps:
        assert graph.add("a", "to", "b", origin, source).turn_id == holds
    assert graph.size() == (2, 1)


def test_the_predicates_in_use_are_counted(graph: GraphStore) -> None:
    for object_ in "bc":
        graph.add("a", "likes", object_, ORIGIN)
    graph.add("a", "knows", "b", ORIGIN)

    assert graph.used_predicates() == {"likes": 2, "knows": 1}
    assert [row.object for row in graph.latest(5, "likes")] == ["c", "b"]
    assert graph.latest(1)[0].predicate == "knows"
    assert graph.similar_nodes("A", 5) == ["a"]


def test_declared_predicates_join_the_named_ones_in_one_spelling() -> None:
    predicates = Predicates(["Plays for", "plays-for", "contains", "sings_in"])

    assert predicates.names == (*BUILT_IN_PREDICATES, "plays_for", "sings_in")
    assert predicates.require("SINGS IN") == "sings_in"
    assert predicates.require("works at") == "works_at"
    with pytest.raises(UnknownPredicateError, match="did you mean 'sings_in'"):
        predicates.require("sing in")
    with pytest.raises(ConfigError, match="'-' is not a name"):
        Predicates(["-"])


def _fill(database: Database, edges: list[Edge]) -> GraphStore:
    database.execute("DELETE FROM triples")
    assert database.execute("SELECT count(*) FROM nodes").only() == (0,)
    graph = GraphStore(database)
    for edge in edges:
        graph.add(*edge, ORIGIN)
    return graph


def _search(edges: list[Edge], start: str, depth: int, direction: Direction) -> Walk:
    """The same walk in plain Python, over edges in the order in which they were added."""
    distance = {start: 0}
    front = [start]
    for step in range(1, depth):
        near = {other for edge in edges for node in front for other in _other_end(edge, node, direction)}
        front = [node for node in near if node not in distance]
        distance |= dict.fromkeys(front, step)
    entrances = {"out": ("subject",), "in": ("object",), "both": ("subject", "object")}[direction]
    crossed = [
        (1 + min(distance.get(getattr(edge, end), depth) for end in entrances), edge) for edge in edges
    ]
    within = sorted((c for c in crossed if c[0] <= depth), key=lambda c: c[0])
    for step, edge in within:
        for node in (edge.subject, edge.object):
            distance.setdefault(node, step)
    del distance[start]
    return Walk(within, distance)


def _other_end(edge: Edge, node: str, direction: Direction) -> Iterator[str]:
    if edge.subject == node and direction != "in":
        yield edge.object
    if edge.object == node and direction != "out":
        yield edge.subject


def test_facts_of_an_older_file_are_walked_like_new_ones(tmp_path: Path) -> None:
    old = sqlite3.connect(tmp_path / "old.db")
    for script in MIGRATIONS[:8]:
        old.executescript(script)
    old.execute("PRAGMA user_version = 8")
    for edge in (("Ada", "works_at", "Acme", "ada", "acme"), ("Ben", "works_at", "ACME", "ben", "acme")):
        old.execute(
            """INSERT INTO triples (subject, predicate, object, session_id, turn_id, created_at,
                   subject_key, object_key) VALUES (?, ?, ?, 's', 't', 7.5, ?, ?)""",
            edge,
        )
    old.commit()
    old.close()

    database = Database(tmp_path / "old.db")
    graph = GraphStore(database)

    assert graph.size() == (3, 2)
    assert graph.traverse("ada", 2, 10).depths == {"Acme": 1, "Ben": 2}
    (row,) = graph.query("Ben")
    # Rows from before labels get the strictest label.
    assert row == (2, "Ben", "works_at", "ACME", "s", "t", 7.5, TOLD, Label(untrusted=True, private=True))
    assert graph.add("ben", "works at", "acme", ORIGIN).id == 2
    database.close()
