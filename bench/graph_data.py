"""The graph and the walks, in plain Python, so that both environments can import it."""

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from random import Random
from statistics import median, quantiles
from typing import NamedTuple

NODES = 50_000
FACTS = 100_000
#: A twentieth of the facts leads to one of these hubs: in a real graph, too, many facts are about few things.
HUBS = 50
HUB_SHARE = 0.05
SEED = 4
PREDICATES = ("related_to", "caused_by", "resolved_by", "follows", "similar_to", "contains")

DEPTH = 3
#: The largest limit that the tool accepts.
LIMIT = 200
WALKS = 300


class Edge(NamedTuple):
    subject: str
    predicate: str
    object: str


class Found(NamedTuple):
    """One fact of an answer: its distance, its text and its origin."""

    depth: int
    id: int
    subject: str
    predicate: str
    object: str
    session: str
    turn: str
    at: float
    untrusted: bool


def node(number: int) -> str:
    return f"Thing number {number}"


def make_edges() -> list[Edge]:
    """Return random facts, each once. A node has four on average, a hub a hundred more."""
    random = Random(SEED)  # noqa: S311 - the same graph every time
    edges: dict[Edge, None] = {}
    while len(edges) < FACTS:
        other = random.randrange(HUBS) if random.random() < HUB_SHARE else random.randrange(NODES)
        edges[Edge(node(random.randrange(NODES)), random.choice(PREDICATES), node(other))] = None
    return list(edges)


def make_starts() -> list[str]:
    """Return random things that have facts."""
    random = Random(SEED + 1)  # noqa: S311
    edges = random.choices(make_edges(), k=WALKS)
    return [random.choice((edge.subject, edge.object)) for edge in edges]


def time_walks(walk: Callable[[str], Sequence[Found]], ready_ms: float) -> dict[str, object]:
    """Time the first walk; then make all walks once to warm up, and once more with a timer."""
    starts = make_starts()
    began = time.perf_counter()
    walk(starts[0])
    first_ms = (time.perf_counter() - began) * 1000
    digest = hash_answers(walk(start) for start in starts)
    times: list[float] = []
    for start in starts:
        began = time.perf_counter()
        walk(start)
        times.append((time.perf_counter() - began) * 1000)
    return {
        "ready_ms": ready_ms,
        "first_ms": first_ms,
        "walk_ms": median(times),
        "slow_ms": quantiles(times, n=20)[-1],
        "digest": digest,
    }


def hash_answers(answers: Iterable[Sequence[Found]]) -> str:
    digest = hashlib.sha256()
    for answer in answers:
        digest.update(repr([tuple(found) for found in answer]).encode())
    return digest.hexdigest()
