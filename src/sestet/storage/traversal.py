"""Walks over the graph: all facts near a node, and a shortest path between two nodes."""

# ruff: noqa: S608 - every part of every statement is written in this file

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, TypeAlias

from sestet.core.record import Record
from sestet.storage.database import Database, Rows

#: ``out``: from subject to object. ``in``: from object to subject. ``both``: either.
Direction: TypeAlias = Literal["out", "in", "both"]

#: A search for a path stops after this many nodes.
MOST_NODES = 50_000

_OUT = ("subject_id", "object_id")
_IN = ("object_id", "subject_id")
_ENDS: dict[Direction, tuple[tuple[str, str], ...]] = {"out": (_OUT,), "in": (_IN,), "both": (_OUT, _IN)}
_BACK: dict[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}
_NAMED = " AND predicate IN (SELECT value FROM json_each(:predicates))"


def walk(
    database: Database,
    columns: str,
    start: int,
    depth: int,
    limit: int,
    predicates: Sequence[str],
    direction: Direction,
) -> Rows:
    """The given columns of the facts near a node, then the two ends of each fact and its steps.

    The first column must be the id.
    """
    rows = database.execute(
        _walk_statement(columns, direction, bool(predicates)),
        {
            "start": start,
            "depth": depth,
            # A node appears at most once for each depth, so this many rows cover more nodes than the limit.
            "rows": (limit + 1) * depth,
            "limit": limit,
            "predicates": json.dumps(predicates),
        },
    )
    # Usually sorted already; ORDER BY would sort whole rows once more in SQLite.
    rows.sort(key=_by_steps)
    return rows


def _by_steps(row: tuple[Any, ...]) -> tuple[int, int]:
    return row[-1], row[0]


@cache
def _walk_statement(columns: str, direction: Direction, named: bool) -> str:
    only = _NAMED if named else ""
    # The queue yields nodes by depth, so the row limit cuts off only the farthest.
    further = " ".join(
        f"UNION SELECT {there}, depth + 1 FROM walked JOIN triples ON {here} = node"
        f" WHERE depth + 1 < :depth{only}"
        for here, there in _ENDS[direction]
    )
    crossed = " UNION ALL ".join(
        f"SELECT id, depth + 1 FROM nearest JOIN triples ON {here} = node WHERE true{only}"
        for here, _ in _ENDS[direction]
    )
    # CROSS JOIN fixes the join order: first the few ids that were found, then their rows.
    return f"""
        WITH RECURSIVE
        walked (node, depth) AS (
            SELECT :start, 0 {further} ORDER BY 2 LIMIT :rows
        ),
        nearest (node, depth) AS (SELECT node, min(depth) FROM walked GROUP BY node),
        crossed (id, depth) AS ({crossed}),
        found (id, steps) AS (SELECT id, min(depth) FROM crossed GROUP BY id ORDER BY 2, 1 LIMIT :limit)
        SELECT {columns}, subject_id, object_id, steps
        FROM found CROSS JOIN triples ON triples.id = found.id
    """


class FoundPath(Record):
    triple_ids: tuple[int, ...]
    #: False if the search stopped at the limit.
    complete: bool


class _Side:
    """The nodes that the search has reached from one end."""

    def __init__(self, start: int, direction: Direction) -> None:
        self.direction: Direction = direction
        self.front: list[int] = [start]
        #: Node → the fact that led to it, and the node before it.
        self.came_by: dict[int, tuple[int, int]] = {start: (0, 0)}

    def advance(self, database: Database, predicates: Sequence[str]) -> None:
        rows = database.execute(
            _step_statement(self.direction, bool(predicates)),
            {"front": json.dumps(self.front), "predicates": json.dumps(predicates)},
        )
        self.front = []
        for here, triple, there in rows:
            if there not in self.came_by:
                self.came_by[there] = (triple, here)
                self.front.append(there)

    def way(self, node: int) -> list[int]:
        """The facts from a node back to the start of this side."""
        found: list[int] = []
        while (step := self.came_by[node])[0]:
            found.append(step[0])
            node = step[1]
        return found


def find_path(
    database: Database,
    start: int,
    end: int,
    longest: int,
    predicates: Sequence[str],
    direction: Direction,
) -> FoundPath:
    """A shortest path between two node ids, searched from both ends at once."""
    here, there = _Side(start, direction), _Side(end, _BACK[direction])
    for length in range(longest + 1):
        if meeting := here.came_by.keys() & there.came_by.keys():
            # Among several shortest paths, take the one over the oldest facts.
            ways = ([*reversed(here.way(node)), *there.way(node)] for node in meeting)
            return FoundPath(tuple(min(ways)), complete=True)
        side = min(here, there, key=lambda side: len(side.front))
        if not side.front or length == longest:
            break
        if len(here.came_by) + len(there.came_by) > MOST_NODES:
            return FoundPath((), complete=False)
        side.advance(database, predicates)
    return FoundPath((), complete=True)


@cache
def _step_statement(direction: Direction, named: bool) -> str:
    only = _NAMED if named else ""
    parts = " UNION ALL ".join(
        f"SELECT {here}, id, {there} FROM triples WHERE {here} IN (SELECT value FROM json_each(:front)){only}"
        for here, there in _ENDS[direction]
    )
    return f"{parts} ORDER BY 2"
