"""Facts as triples, and walking from one to the next."""

import re
import time
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sestet.core.label import Label, Origin
from sestet.storage.database import Database
from sestet.storage.labels import label_columns, label_from

# Nodes come out of the queue by depth, so the limit on rows only ever cuts off the farthest.
_TRAVERSE = """
    WITH RECURSIVE
    walked (node, depth) AS (
        SELECT :start, 0
        UNION
        SELECT object_key, depth + 1 FROM walked JOIN triples ON subject_key = node WHERE depth + 1 < :depth
        UNION
        SELECT subject_key, depth + 1 FROM walked JOIN triples ON object_key = node WHERE depth + 1 < :depth
        ORDER BY 2 LIMIT :rows
    ),
    nearest (node, depth) AS (SELECT node, min(depth) FROM walked GROUP BY node),
    crossed (id, depth) AS (
        SELECT id, depth + 1 FROM nearest JOIN triples ON subject_key = node
        UNION ALL
        SELECT id, depth + 1 FROM nearest JOIN triples ON object_key = node
    )
    SELECT triples.*, min(depth) AS steps
    FROM crossed JOIN triples ON triples.id = crossed.id
    GROUP BY triples.id ORDER BY steps, triples.id LIMIT :limit
"""


class TripleRow(NamedTuple):
    id: int
    subject: str
    predicate: str
    object: str
    session_id: str
    turn_id: str
    created_at: float
    label: Label


class Step(NamedTuple):
    """A fact on the way, and how many steps from the start one is after it."""

    triple: TripleRow
    depth: int


class Traversal(NamedTuple):
    steps: tuple[Step, ...]
    #: Every node that was reached, as it was written first, with its distance from the start.
    depths: Mapping[str, int]
    #: False when the limit left facts out.
    complete: bool


class GraphStore:
    """Each fact once, with the turn it came from. Case and spacing do not tell two nodes apart."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, subject: str, predicate: str, object: str, origin: Origin) -> TripleRow:
        """Store a fact. One that is known already is returned as it was stored the first time."""
        edge = (node_key(subject), predicate_name(predicate), node_key(object))
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO triples VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (
                    *(_tidy(subject), edge[1], _tidy(object)),
                    *(origin.session_id, origin.turn_id, time.time()),
                    *(edge[0], edge[2]),
                    *label_columns(origin.label),
                ),
            )
            row = self._database.execute(
                "SELECT * FROM triples WHERE subject_key = ? AND predicate = ? AND object_key = ?", edge
            ).only()
        return _row(row)

    def query(
        self, subject: str = "", predicate: str = "", object: str = "", limit: int = 100
    ) -> list[TripleRow]:
        """The facts that fit all that is given, the oldest first; what is empty fits everything."""
        given = {
            "subject_key": node_key(subject),
            "predicate": predicate_name(predicate),
            "object_key": node_key(object),
        }
        wanted = {column: value for column, value in given.items() if value}
        condition = " AND ".join(f"{column} = ?" for column in wanted) or "true"
        rows = self._database.execute(
            f"SELECT * FROM triples WHERE {condition} ORDER BY id LIMIT ?",  # noqa: S608 - names from above
            (*wanted.values(), limit),
        )
        return [_row(row) for row in rows]

    def traverse(self, start: str, depth: int, limit: int) -> Traversal:
        """The facts within some steps of a node, in both directions, the nearest first, each once."""
        # A node is walked at most once a depth, so that many rows hold more nodes than the limit has facts.
        rows = self._database.execute(
            _TRAVERSE,
            {"start": node_key(start), "depth": depth, "rows": (limit + 2) * depth, "limit": limit + 1},
        )
        steps: list[Step] = []
        met, depths = {node_key(start)}, dict[str, int]()
        for *columns, away in rows[:limit]:
            step, (subject_key, object_key) = Step(_row(columns), away), columns[-5:-3]
            steps.append(step)
            # Facts come by depth, so a node that was not met before is exactly as far as its fact.
            for key, node in ((subject_key, step.triple.subject), (object_key, step.triple.object)):
                if key not in met:
                    met.add(key)
                    depths[node] = away
        return Traversal(tuple(steps), depths, len(rows) <= limit)


def _row(columns: Sequence[Any]) -> TripleRow:
    """The keys near the end are only for finding it."""
    return TripleRow(*columns[:-5], label=label_from(*columns[-3:]))


def node_key(text: str) -> str:
    """The form in which two spellings of a node are the same."""
    return unicodedata.normalize("NFKC", _tidy(text)).casefold()


def predicate_name(text: str) -> str:
    """The one spelling of a predicate: works_at."""
    return "_".join(re.findall(r"[^\s_-]+", text.casefold())) or text.strip()


def _tidy(text: str) -> str:
    return " ".join(text.split())
