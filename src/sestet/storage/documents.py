"""Documents and their chunks. The text of a chunk is stored once, as its passage."""

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sestet.core.label import Label
from sestet.storage.database import Database, label_columns

_PAGE = 500
#: Matches a path itself and all paths below it.
_BELOW = "(path = ? OR substr(path, 1, length(rtrim(?, '/')) + 1) = rtrim(?, '/') || '/')"


class StoredChunk(NamedTuple):
    title: str
    text: str
    #: ``path:line``, or ``path p. 3``.
    source: str


class DocumentRow(NamedTuple):
    id: int
    path: str
    kind: str
    bytes: int
    digest: str
    ingested_at: float
    chunks: int


class DocumentStore:
    """One document for each path. Document text is labelled untrusted and private."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def digest_of(self, path: str) -> str | None:
        row = self._database.execute("SELECT digest FROM documents WHERE path = ?", (path,)).fetchone()
        return row[0] if row else None

    def replace(
        self, path: str, kind: str, size: int, digest: str, chunks: Iterable[StoredChunk]
    ) -> int | None:
        """Store a document in one transaction, replacing the old one; return the number of chunks.

        None: another process stored the same content meanwhile.
        """
        # Reading may take long. The chunks wait in a temporary table, so that no other writer has to.
        self._database.execute(
            "CREATE TEMP TABLE IF NOT EXISTS staged (number INTEGER PRIMARY KEY, title, text, source)"
        )
        self._database.execute("DELETE FROM staged")
        for chunk in chunks:
            self._database.execute("INSERT INTO staged VALUES (NULL, ?, ?, ?)", chunk)
        now = time.time()
        with self._database.transaction():
            if self.digest_of(path) == digest:
                return None
            self._database.execute("DELETE FROM documents WHERE path = ?", (path,))
            (document_id,) = self._database.execute(
                "INSERT INTO documents VALUES (NULL, ?, ?, ?, ?, ?) RETURNING id",
                (path, kind, size, digest, now),
            ).only()
            written = self._database.execute(
                "INSERT INTO chunks (document_id, number) SELECT ?, number FROM staged ORDER BY number",
                (document_id,),
            )
            label = label_columns(Label(untrusted=True, private=True, sources=(path,)))
            self._database.execute(
                """INSERT INTO passages
                   SELECT NULL, 'documents', chunks.id, title, text, source, '', ?, ?, ?, ?
                   FROM staged JOIN chunks ON document_id = ? AND chunks.number = staged.number
                   ORDER BY staged.number""",
                (*label, now, document_id),
            )
        self._database.execute("DELETE FROM staged")
        return written.rowcount

    def list(self, limit: int) -> "list[DocumentRow]":
        """The documents, ordered by path."""
        rows = self._database.execute(
            """SELECT *, (SELECT count(*) FROM chunks WHERE document_id = documents.id)
               FROM documents ORDER BY path LIMIT ?""",
            (limit,),
        )
        return [DocumentRow(*row) for row in rows]

    def chunks_of(self, path: str) -> "list[StoredChunk]":
        """The chunks of one document, in order."""
        rows = self._database.execute(
            """SELECT title, text, source FROM documents JOIN chunks ON document_id = documents.id
               JOIN passages ON collection = 'documents' AND item_id = chunks.id
               WHERE path = ? ORDER BY number""",
            (path,),
        )
        return [StoredChunk(*row) for row in rows]

    def paths_below(self, path: str) -> Iterator[str]:
        """The paths of the documents at and below a path, read page by page."""
        last = ""
        while rows := self._database.execute(
            f"SELECT path FROM documents WHERE {_BELOW} AND path > ? ORDER BY path LIMIT ?",  # noqa: S608 - a constant
            (path, path, path, last, _PAGE),
        ):
            yield from (found for (found,) in rows)
            (last,) = rows[-1]

    def remove(self, path: str) -> bool:
        """Remove one document; False if no document has this path."""
        return self._database.execute("DELETE FROM documents WHERE path = ?", (path,)).rowcount > 0

    def count(self) -> tuple[int, int]:
        """The number of documents, and of their chunks."""
        return self._database.execute(
            "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks)"
        ).only()
