"""Migrations from 16: changes of files. Append new ones."""

from sestet.storage.migrations.versions_9_onward import refused_after_forgetting

VERSIONS_16_ONWARD: tuple[str, ...] = (
    # 16: changes of files with what was there before, and what a question showed of them. Names and states of
    # files are bytes: they may be no UTF-8, and no text of them is searched for words.
    """
    ALTER TABLE approvals ADD COLUMN changes TEXT NOT NULL DEFAULT '';
    CREATE TABLE change_sets (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        at REAL NOT NULL,
        undoes INTEGER NOT NULL,
        undone INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX change_sets_by_turn ON change_sets (turn_id);
    CREATE INDEX change_sets_by_session ON change_sets (session_id);
    CREATE TABLE file_changes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        set_id INTEGER NOT NULL REFERENCES change_sets (id) ON DELETE CASCADE,
        call_id TEXT NOT NULL,
        result TEXT NOT NULL,
        is_move INTEGER NOT NULL,
        done INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX file_changes_by_set ON file_changes (set_id);
    CREATE TABLE changed_files (
        change_id INTEGER NOT NULL REFERENCES file_changes (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        root BLOB NOT NULL,
        path BLOB NOT NULL,
        before BLOB NOT NULL,
        after BLOB NOT NULL,
        kept BLOB NOT NULL,
        PRIMARY KEY (change_id, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX changed_files_kept ON changed_files (kept) WHERE length(kept);
    """
    + refused_after_forgetting("change_sets", "new.undoes = 0"),
)
