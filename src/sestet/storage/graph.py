"""The graph: facts as triples, and the predicates that link them. Walks are in traversal.py."""

import json
import re
import time
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sestet.core.errors import ConfigError
from sestet.core.label import Label, Origin
from sestet.core.record import Record
from sestet.core.schema import suggest
from sestet.storage.database import Database, label_columns, label_from
from sestet.storage.traversal import Direction, find_path, walk

#: The predicates that every graph has. Walks follow a fact from both ends, so no predicate needs an inverse.
BUILT_IN_PREDICATES = (
    "related_to",
    "caused_by",
    "resolved_by",
    "follows",
    "similar_to",
    "contains",
    "in_session",
    "reflects_on",
    "learned_from",
    "is_a",
    "part_of",
    "located_in",
    "depends_on",
    "created_by",
    "works_at",
    "works_on",
    "studies_at",
    "lives_in",
    "born_in",
    "member_of",
    "manages",
    "reports_to",
    "knows",
    "friend_of",
    "married_to",
    "parent_of",
    "child_of",
    "sibling_of",
    "owns",
    "uses",
    "likes",
)
#: Many predicates share an ending such as ``_of``, so a suggestion has to be nearer than usual.
_NEAR = 0.75
_COLUMNS = """triples.id, subject, predicate, object, session_id, turn_id, created_at, collection, item_id,
    untrusted, private, sources"""
_FACTS_OF_NODE = "(SELECT count(*) FROM triples WHERE subject_id = nodes.id OR object_id = nodes.id)"


class Source(NamedTuple):
    """The row that a fact was extracted from; the fact is removed with it."""

    collection: str
    item_id: int


#: The fact was told directly, not extracted from a text.
TOLD = Source("", 0)


class TripleRow(NamedTuple):
    id: int
    subject: str
    predicate: str
    object: str
    session_id: str
    turn_id: str
    created_at: float
    source: Source
    label: Label


class Step(NamedTuple):
    """A fact on a walk, and the number of steps from the start up to and including it."""

    triple: TripleRow
    depth: int


class Traversal(NamedTuple):
    steps: tuple[Step, ...]
    #: Every node that was reached, in its first spelling, with its distance from the start.
    depths: dict[str, int]
    #: False if the limit left facts out.
    complete: bool


class GraphPath(NamedTuple):
    #: In order from start to end.
    triples: tuple[TripleRow, ...]
    #: The names of the nodes on the path, both ends included; empty if there is no path.
    nodes: tuple[str, ...]
    #: False if the search stopped at a limit before it had seen every node.
    complete: bool


class GraphSize(NamedTuple):
    nodes: int
    facts: int


class NodeRow(NamedTuple):
    #: In its first spelling.
    name: str
    facts: int


class Link(Record):
    """One fact as a link from a named node to another node."""

    key: str
    predicate: str
    other_key: str
    other: str
    label: Label


class UnknownPredicateError(ValueError):
    """An undeclared predicate; the text is a sentence that names the nearest known one."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"there is no predicate {name!r}{suggest(name, known, _NEAR) or '.'}")
        self.name = name
        self.known = known


class Predicates:
    """The built-in predicates and those that the settings declare."""

    def __init__(self, declared: Iterable[str] = ()) -> None:
        """A declared name may be spelled ``works at``, ``works-at`` or ``works_at``."""
        names = {name: predicate_name(name) for name in declared}
        if unusable := [name for name, spelled in names.items() if not re.search(r"\w", spelled)]:
            raise ConfigError([f"graph.predicates: {name!r} is not a name" for name in unusable])
        self.declared = tuple(
            dict.fromkeys(name for name in names.values() if name not in BUILT_IN_PREDICATES)
        )
        self.names = BUILT_IN_PREDICATES + self.declared

    def knows(self, text: str) -> bool:
        return predicate_name(text) in self.names

    def require(self, text: str, also: Iterable[str] = ()) -> str:
        """The stored spelling of a predicate that is known or in ``also``; else UnknownPredicateError."""
        name = predicate_name(text)
        known = tuple(dict.fromkeys((*self.names, *also)))
        if name not in known:
            raise UnknownPredicateError(name, known)
        return name


class GraphStore:
    """Each fact once, with its origin. Node names are equal regardless of case and spacing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, subject: str, predicate: str, object: str, origin: Origin, source: Source = TOLD
    ) -> TripleRow:
        """Store a fact. A known fact is returned as it was first stored.

        Only a better origin replaces the stored one: trusted instead of untrusted, told instead of extracted.
        """
        with self._database.transaction():
            return self.put(subject, predicate, object, origin, source)

    def put(self, subject: str, predicate: str, object: str, origin: Origin, source: Source) -> TripleRow:
        """Like ``add``, inside a transaction of the caller."""
        edge = (self._node(subject), predicate_name(predicate), self._node(object))
        self._database.execute(
            """INSERT INTO triples VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (subject_id, predicate, object_id) DO UPDATE SET
                   subject = excluded.subject, object = excluded.object,
                   session_id = excluded.session_id, turn_id = excluded.turn_id,
                   created_at = excluded.created_at,
                   collection = excluded.collection, item_id = excluded.item_id,
                   untrusted = excluded.untrusted, private = excluded.private, sources = excluded.sources
               WHERE (excluded.untrusted, excluded.collection <> '') < (untrusted, collection <> '')""",
            (
                *(tidy(subject), edge[1], tidy(object)),
                *(origin.session_id, origin.turn_id, time.time()),
                *source,
                *label_columns(origin.label),
                *(edge[0], edge[2]),
            ),
        )
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM triples WHERE subject_id = ? AND predicate = ? AND object_id = ?",  # noqa: S608 - columns from above
            edge,
        )
        return _row(rows.only())

    def query(
        self, subject: str = "", predicate: str = "", object: str = "", limit: int = 100
    ) -> list[TripleRow]:
        """The facts that match every given part, the oldest first; an empty part matches all."""
        wanted: dict[str, str] = {}
        if subject:
            wanted["subject_id = (SELECT id FROM nodes WHERE key = ?)"] = node_key(subject)
        if predicate:
            wanted["predicate = ?"] = predicate_name(predicate)
        if object:
            wanted["object_id = (SELECT id FROM nodes WHERE key = ?)"] = node_key(object)
        condition = " AND ".join(wanted) or "true"
        return _rows(
            self._database.execute(
                f"SELECT {_COLUMNS} FROM triples WHERE {condition} ORDER BY id LIMIT ?",  # noqa: S608 - parts from above
                (*wanted.values(), limit),
            )
        )

    def latest(self, limit: int, predicate: str = "") -> list[TripleRow]:
        """The facts with one predicate, or all facts, the latest first."""
        return _rows(
            self._database.execute(
                f"SELECT {_COLUMNS} FROM triples WHERE ? IN ('', predicate) ORDER BY id DESC LIMIT ?",  # noqa: S608
                (predicate and predicate_name(predicate), limit),
            )
        )

    def get(self, id: int) -> TripleRow | None:
        found = _rows(self._database.execute(f"SELECT {_COLUMNS} FROM triples WHERE id = ?", (id,)))  # noqa: S608
        return found[0] if found else None

    def remove(self, subject: str, predicate: str, object: str) -> TripleRow | None:
        """Remove one fact and return it; a later extraction does not add it again."""
        if not (subject and predicate and object):
            return None
        with self._database.transaction():
            if not (found := self.query(subject, predicate, object, 1)):
                return None
            self._database.execute("DELETE FROM triples WHERE id = ?", (found[0].id,))
            self._database.execute(
                "UPDATE proposals SET state = 'rejected'"
                " WHERE subject_key = ? AND predicate = ? AND object_key = ?",
                (node_key(subject), predicate_name(predicate), node_key(object)),
            )
        return found[0]

    def traverse(
        self,
        start: str,
        depth: int,
        limit: int,
        *,
        predicates: Sequence[str] = (),
        direction: Direction = "both",
    ) -> Traversal:
        """The facts within some steps of a node, the nearest first, each once.

        With predicates, only facts with one of them are followed.
        """
        if not (met := set(self._ids(start))):
            return Traversal((), {}, complete=True)
        (start_id,) = met
        names = tuple(predicate_name(name) for name in predicates)
        rows = walk(self._database, _COLUMNS, start_id, depth, limit + 1, names, direction)
        steps: list[Step] = []
        depths: dict[str, int] = {}
        for row in rows[:limit]:
            # After the columns of a fact come its two ends and the number of steps.
            away = row[14]
            steps.append(Step(_row(row), away))
            # Facts are ordered by depth, so a node not met before is exactly as far away as its fact.
            if row[12] not in met:
                met.add(row[12])
                depths[row[1]] = away
            if row[13] not in met:
                met.add(row[13])
                depths[row[3]] = away
        return Traversal(tuple(steps), depths, len(rows) <= limit)

    def path(
        self,
        start: str,
        end: str,
        longest: int,
        *,
        predicates: Sequence[str] = (),
        direction: Direction = "both",
    ) -> GraphPath:
        """A shortest path from one node to another, of at most ``longest`` facts."""
        names = tuple(predicate_name(name) for name in predicates)
        ids = self._ids(start), self._ids(end)
        if not ids[0] or not ids[1]:
            return GraphPath((), (), complete=True)
        found = find_path(self._database, ids[0][0], ids[1][0], longest, names, direction)
        if not found.triple_ids and ids[0] != ids[1]:
            return GraphPath((), (), found.complete)
        triples = [row for id in found.triple_ids if (row := self.get(id))]
        nodes = [start]
        for triple in triples:
            at_subject = node_key(triple.subject) == node_key(nodes[-1])
            nodes[-1] = triple.subject if at_subject else triple.object
            nodes.append(triple.object if at_subject else triple.subject)
        return GraphPath(tuple(triples), tuple(nodes), complete=True)

    def links(self, keys: Iterable[str], limit: int) -> list[Link]:
        """The facts about these nodes, in both directions, in an order that does not depend on their age."""
        rows = self._database.execute(
            """WITH named (id, key) AS
                   (SELECT nodes.id, nodes.key FROM json_each(?) JOIN nodes ON nodes.key = value)
               SELECT named.key, predicate, other.key AS other_key, object, untrusted, private, sources
               FROM named JOIN triples ON subject_id = named.id JOIN nodes AS other ON other.id = object_id
               UNION
               SELECT named.key, predicate, other.key, subject, untrusted, private, sources
               FROM named JOIN triples ON object_id = named.id JOIN nodes AS other ON other.id = subject_id
               ORDER BY 1, 2, 3 LIMIT ?""",
            (json.dumps(list(keys)), limit),
        )
        return [Link(*row[:-3], label=label_from(*row[-3:])) for row in rows]

    def holds(self, node: str) -> bool:
        return bool(self._ids(node))

    def similar_nodes(self, node: str, limit: int) -> list[str]:
        """The names of nodes that contain this text, in their first spelling."""
        return [row.name for row in self.nodes(node, limit)]

    def nodes(self, words: str, limit: int) -> list[NodeRow]:
        """The nodes whose names contain the words, the shortest first; without words, the most linked."""
        rows = self._database.execute(
            f"""SELECT coalesce(
                   (SELECT subject FROM triples WHERE subject_id = nodes.id LIMIT 1),
                   (SELECT object FROM triples WHERE object_id = nodes.id LIMIT 1)), {_FACTS_OF_NODE} AS facts
               FROM nodes WHERE instr(key, ?) ORDER BY iif(? = '', -facts, length(key)), id LIMIT ?""",  # noqa: S608
            (node_key(words), node_key(words), limit),
        )
        return [NodeRow(*row) for row in rows]

    def count_facts(self, names: Iterable[str]) -> dict[str, int]:
        """How many facts each of these nodes has."""
        keys = {node_key(name): name for name in names}
        rows = self._database.execute(
            f"SELECT key, {_FACTS_OF_NODE} FROM nodes WHERE key IN (SELECT value FROM json_each(?))",  # noqa: S608
            (json.dumps(list(keys)),),
        )
        return {keys[key]: number for key, number in rows}

    def used_predicates(self) -> dict[str, int]:
        """Every predicate that has facts, with the number of facts."""
        rows = self._database.execute("SELECT predicate, count(*) FROM triples GROUP BY predicate")
        return dict(rows)

    def size(self) -> GraphSize:
        return GraphSize(
            *self._database.execute("SELECT (SELECT count(*) FROM nodes), count(*) FROM triples").only()
        )

    def _node(self, text: str) -> int:
        self._database.execute("INSERT INTO nodes (key) VALUES (?) ON CONFLICT DO NOTHING", (node_key(text),))
        return self._ids(text)[0]

    def _ids(self, text: str) -> list[int]:
        return [
            id for (id,) in self._database.execute("SELECT id FROM nodes WHERE key = ?", (node_key(text),))
        ]


def _rows(rows: Iterable[Sequence[Any]]) -> list[TripleRow]:
    return [_row(row) for row in rows]


def _row(columns: Sequence[Any]) -> TripleRow:
    """A fact from the first columns of a row."""
    source = Source(columns[7], columns[8]) if columns[7] else TOLD
    # ``_make`` is the quickest way, and many rows are read at once.
    return TripleRow._make((*columns[:7], source, label_from(*columns[9:12])))


def node_key(text: str) -> str:
    """The key of a node: equal for every spelling of its name."""
    return unicodedata.normalize("NFKC", tidy(text)).casefold()


def tidy(text: str) -> str:
    """A name on one line with single spaces."""
    return " ".join(text.split())


def predicate_name(text: str) -> str:
    """The stored spelling of a predicate, such as ``works_at``."""
    return "_".join(re.findall(r"[^\s_-]+", text.casefold()))
