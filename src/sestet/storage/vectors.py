"""The embedding vectors of passages, and the queue of passages without one."""

import json
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager

from sestet.core.record import Record
from sestet.storage.database import Database
from sestet.storage.forgettings import Forgettings


class Unembedded(Record):
    """A passage without a vector in the current space."""

    passage_id: int
    text: str


class StoredVector(Record):
    passage_id: int
    collection: str
    session_id: str
    #: Little-endian float32, of unit length.
    vector: bytes


class VectorStore:
    """At most one vector for each passage. Passages never change: an edited text is a new passage."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counted: tuple[object, int] | None = None

    def missing(self, space: str, after: int, limit: int) -> list[Unembedded]:
        """The next passages without a vector in this space."""
        rows = self._database.execute(
            """SELECT id, trim(title || char(10) || text, char(10)) FROM passages
               LEFT JOIN vectors ON passage_id = id AND space = ?
               WHERE id > ? AND passage_id IS NULL ORDER BY id LIMIT ?""",
            (space, after, limit),
        )
        return [Unembedded(*row) for row in rows]

    def count_missing(self, space: str) -> int:
        """The number of passages without a vector; no vector outlives its passage, so counts suffice."""
        state = (space, self.state())
        if self._counted is None or self._counted[0] != state:
            (number,) = self._database.execute(
                "SELECT (SELECT count(*) FROM passages) - (SELECT count(*) FROM vectors WHERE space = ?)",
                (space,),
            ).only()
            self._counted = (state, number)
        return self._counted[1]

    def count_there(self, passage_ids: Collection[int]) -> int:
        """How many of these passages still exist."""
        if not passage_ids:
            return 0
        (number,) = self._database.execute(
            "SELECT count(*) FROM passages WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(passage_ids)),),
        ).only()
        return number

    def add(self, space: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Store vectors of existing passages, replacing their vectors of other spaces.

        Vectors of another dimension are deleted: the same name now means a different model.
        """
        if not vectors:
            return
        with self._database.transaction():
            self._database.execute(
                "DELETE FROM vectors WHERE space = ? AND length(vector) <> ?", (space, len(vectors[0][1]))
            )
            self._database.execute_many(
                "INSERT OR REPLACE INTO vectors SELECT id, ?, ? FROM passages WHERE id = ?",
                [(space, vector, passage_id) for passage_id, vector in vectors],
            )

    def ids(self, space: str) -> str:
        """The ids of all passages with a vector in this space, in order, joined by commas."""
        (joined,) = self._database.execute(
            """SELECT coalesce(group_concat(passage_id), '') FROM
               (SELECT passage_id FROM vectors WHERE space = ? ORDER BY passage_id)""",
            (space,),
        ).only()
        return joined

    def page(self, space: str, after: int, limit: int) -> list[StoredVector]:
        """The next vectors of this space, ordered by passage id."""
        rows = self._database.execute(
            """SELECT passage_id, collection, session_id, vector
               FROM vectors JOIN passages ON id = passage_id
               WHERE space = ? AND passage_id > ? ORDER BY passage_id LIMIT ?""",
            (space, after, limit),
        )
        return [StoredVector(*row) for row in rows]

    def snapshot(self) -> AbstractContextManager[None]:
        """All reads inside see the database at one moment."""
        return self._database.snapshot()

    def outdated_at(self) -> int:
        """A number that grows when copies of vectors have to be read again."""
        return Forgettings(self._database).last()

    def state(self) -> tuple[int, int]:
        """A value that differs after any write, by this process or another."""
        (by_others,) = self._database.execute("PRAGMA data_version").only()
        return by_others, self._database.connection.total_changes
