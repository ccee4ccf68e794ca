"""Facts of the graph as links from one passage to another: which nodes stand beside the named ones."""

import json
from collections.abc import Iterable

from sestet.core.label import Label
from sestet.core.record import Record
from sestet.storage.database import Database
from sestet.storage.labels import label_from


class Link(Record):
    """From a node that was named, over a fact, to another."""

    key: str
    predicate: str
    other_key: str
    other: str
    label: Label


class LinkStore:
    """Reads the triples; the graph's own store writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, keys: Iterable[str], limit: int) -> list[Link]:
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
