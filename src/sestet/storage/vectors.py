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


class _Counted(Record):
    """The numbers of passages, and of vectors by space, in one state of the database."""

    state: tuple[int, int]
    passages: int
    vectors: dict[str, int]


class VectorStore:
    """At most one vector for each passage. Passages never change: an edited text is a new passage."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counted = _Counted((0, 0), 0, {})

    def missing(self, spaces: Sequence[str], after: int, limit: int) -> list[Unembedded]:
        """The next passages without a vector in one of these spaces."""
        rows = self._database.execute(
            """SELECT id, trim(title || char(10) || text, char(10)) FROM passages
               LEFT JOIN vectors ON passage_id = id AND space IN (SELECT value FROM json_each(?))
               WHERE id > ? AND passage_id IS NULL ORDER BY id LIMIT ?""",
            (json.dumps(spaces), after, limit),
        )
        return [Unembedded(*row) for row in rows]

    def count_missing(self, *spaces: str) -> int:
        """The number of passages without a vector in these spaces."""
        # No vector outlives its passage, so counts suffice.
        counted = self._count()
        return counted.passages - sum(counted.vectors.get(space, 0) for space in spaces)

    def count(self, space: str) -> int:
        """The number of vectors in this space."""
        return self._count().vectors.get(space, 0)

    def _count(self) -> "_Counted":
        state = self.state()
        if self._counted.state != state:
            # Triggers keep these numbers.
            counts: dict[str, int] = dict(self._database.execute("SELECT space, number FROM passage_counts"))
            self._counted = _Counted(state, counts.pop("", 0), counts)
        return self._counted

    def of_passages(self, space: str, passage_ids: Collection[int]) -> list[tuple[int, bytes]]:
        """The vectors of these passages in this space, with the ids of the passages."""
        rows = self._database.execute(
            """SELECT passage_id, vector FROM vectors
               WHERE space = ? AND passage_id IN (SELECT value FROM json_each(?))""",
            (space, json.dumps(list(passage_ids))),
        )
        return [(passage_id, vector) for passage_id, vector in rows]

    def oldest(self, space: str, limit: int) -> list[bytes]:
        """Some vectors of this space."""
        rows = self._database.execute("SELECT vector FROM vectors WHERE space = ? LIMIT ?", (space, limit))
        return [vector for (vector,) in rows]

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
        length = len(vectors[0][1])
        with self._database.transaction():
            # All vectors of a space have one dimension, so one of them tells.
            known = self._database.execute(
                "SELECT length(vector) FROM vectors WHERE space = ? LIMIT 1", (space,)
            )
            if known and known.only()[0] != length:
                self._database.execute(
                    "DELETE FROM vectors WHERE space = ? AND length(vector) <> ?", (space, length)
                )
            # Deleted first: a row that is only replaced fires no trigger, and would be counted twice.
            self._database.execute_many(
                "DELETE FROM vectors WHERE passage_id = ?", [(passage_id,) for passage_id, _ in vectors]
            )
            self._database.execute_many(
                "INSERT INTO vectors SELECT id, ?, ? FROM passages WHERE id = ?",
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

    def changes(self, space: str) -> int:
        """A number that differs after any change of the vectors of this space, by whatever process."""
        rows = self._database.execute("SELECT changes FROM passage_counts WHERE space = ?", (space,))
        return rows.only()[0] if rows else 0

    def state(self) -> tuple[int, int]:
        """A value that differs after any write, by this process or another."""
        (by_others,) = self._database.execute("PRAGMA data_version").only()
        return by_others, self._database.connection.total_changes
