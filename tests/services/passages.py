"""Passages for the tests of retrieval, without the rows they usually come from."""

from sestet.core.label import CLEAN, Label
from sestet.storage.database import Database, label_columns


def keep(
    database: Database,
    text: str,
    *,
    title: str = "",
    collection: str = "documents",
    source: str = "",
    session_id: str = "",
    label: Label = CLEAN,
) -> int:
    """Store a passage and return its id."""
    (item,) = database.execute("SELECT coalesce(max(item_id), 0) + 1 FROM passages").only()
    (passage_id,) = database.execute(
        "INSERT INTO passages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) RETURNING id",
        (collection, item, title, text, source or text, session_id, *label_columns(label)),
    ).only()
    return passage_id


def forget(database: Database, passage_id: int) -> None:
    database.execute("DELETE FROM passages WHERE id = ?", (passage_id,))
