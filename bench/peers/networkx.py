"""The same walk with networkx, which loads the whole graph from the same file into memory.

``python -m bench.peers.networkx walk <home> <result>``
"""

import json
import sqlite3
import sys
import time
from pathlib import Path

import networkx

from bench.graph_data import DEPTH, LIMIT, Found, time_walks

_FACTS = "SELECT id, subject, predicate, object, session_id, turn_id, created_at, untrusted FROM triples"


def main() -> None:
    _, home, result = sys.argv[1:]
    began = time.perf_counter()
    graph = load(Path(home) / "sestet.db")
    ready_ms = (time.perf_counter() - began) * 1000
    raw = time_walks(lambda start: walk(graph, start), ready_ms)
    Path(result).write_text(json.dumps(raw), encoding="utf-8")


def load(path: Path) -> networkx.MultiDiGraph:
    """Add each fact as an edge, with the fields of an answer."""
    graph = networkx.MultiDiGraph()
    connection = sqlite3.connect(path)
    for id, subject, predicate, object_, session, turn, at, untrusted in connection.execute(_FACTS):
        whence = {"session": session, "turn": turn, "at": at, "untrusted": bool(untrusted)}
        graph.add_edge(subject, object_, key=predicate, id=id, **whence)
    connection.close()
    return graph


def walk(graph: networkx.MultiDiGraph, start: str) -> list[Found]:
    """Walk breadth first in both directions: each fact once, the oldest of a step first, up to the limit."""
    found: list[Found] = []
    seen: set[int] = set()
    met, front = {start}, [start]
    for depth in range(1, DEPTH + 1):
        level: list[Found] = []
        for node in front:
            for edges in (graph.out_edges, graph.in_edges):
                for subject, object_, predicate, data in edges(node, keys=True, data=True):
                    if (id := data["id"]) not in seen:
                        seen.add(id)
                        whence = data["session"], data["turn"], data["at"], data["untrusted"]
                        level.append(Found(depth, id, subject, predicate, object_, *whence))
        level.sort()
        found += level
        if len(found) > LIMIT:
            break
        front = []
        for fact in level:
            for node in (fact.subject, fact.object):
                if node not in met:
                    met.add(node)
                    front.append(node)
    return found[:LIMIT]


if __name__ == "__main__":
    main()
