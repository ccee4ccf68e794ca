"""Sestet's graph: fills the file once, then walks it as the tool does.

``python -m bench.own.graph fill|walk <home> <result>``
"""

import json
import sys
import time
from pathlib import Path

from bench.graph_data import DEPTH, LIMIT, Found, make_edges, time_walks
from sestet.core.label import CLEAN, Origin
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.graph import TOLD, GraphStore


def main() -> None:
    what, home, result = sys.argv[1:]
    path = Path(home) / FILE_NAME
    raw = _fill(path) if what == "fill" else _walk(path)
    Path(result).write_text(json.dumps(raw), encoding="utf-8")


def _fill(path: Path) -> dict[str, object]:
    database = Database(path)
    graph = GraphStore(database)
    with database.transaction():
        for number, edge in enumerate(make_edges()):
            graph.put(*edge, Origin(f"session-{number % 997}", f"turn-{number % 9973}", CLEAN), TOLD)
    size = graph.size()
    database.close()
    return {"facts": size.facts, "nodes": size.nodes}


def _walk(path: Path) -> dict[str, object]:
    began = time.perf_counter()
    database = Database(path)
    graph = GraphStore(database)
    ready_ms = (time.perf_counter() - began) * 1000
    return time_walks(lambda start: _answer(graph, start), ready_ms)


def _answer(graph: GraphStore, start: str) -> list[Found]:
    steps = graph.traverse(start, DEPTH, LIMIT).steps
    return [Found(depth, *triple[:7], triple.label.untrusted) for triple, depth in steps]


if __name__ == "__main__":
    main()
