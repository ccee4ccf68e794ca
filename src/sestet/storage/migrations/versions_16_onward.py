"""Migrations from 16: changes of files, row ids, payments, states, a server's clients. Append new ones."""

# ruff: noqa: S608 - every part of every statement is written here

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
    # 17: the journal as a table with row ids. Without them, an event above 1 kB took pages of its own. Views
    # and triggers name the table: the legacy way of renaming leaves them alone. An event without a turn would
    # stop the copy, so it is left out: only a damaged file has one, and nothing reads it.
    """
    CREATE TABLE events_with_row_ids (
        turn_id TEXT NOT NULL REFERENCES turns (id),
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        author TEXT NOT NULL,
        delegation_id TEXT NOT NULL,
        at REAL NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (turn_id, seq)
    ) STRICT;
    INSERT INTO events_with_row_ids
        SELECT * FROM events WHERE turn_id IN (SELECT id FROM turns) ORDER BY turn_id, seq;
    DROP TABLE events;
    PRAGMA legacy_alter_table = ON;
    ALTER TABLE events_with_row_ids RENAME TO events;
    PRAGMA legacy_alter_table = OFF;
    CREATE TRIGGER events_rewritten BEFORE UPDATE ON events
    WHEN old.kind IN ('turn_started', 'turn_finished') BEGIN
        INSERT INTO exchanges_index (exchanges_index, rowid, asked, answered)
        SELECT 'delete', id, asked, answered FROM exchanges WHERE turn_id = old.turn_id;
        DELETE FROM searchable_turns WHERE turn_id = old.turn_id;
    END;
    """
    + refused_after_forgetting("events", "true"),
    # 18: payments. Addresses, hashes and nonces are bytes: no text of them is searched for words.
    """
    CREATE TABLE payments (
        nonce BLOB PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('send', 'x402')),
        state TEXT NOT NULL CHECK (state IN ('reserved', 'signed', 'settled', 'expired', 'failed')),
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        call_id TEXT NOT NULL,
        wallet BLOB NOT NULL,
        payee BLOB NOT NULL,
        payee_name TEXT NOT NULL,
        amount INTEGER NOT NULL CHECK (amount > 0),
        asset BLOB NOT NULL,
        chain_id INTEGER NOT NULL,
        purpose TEXT NOT NULL,
        unasked INTEGER NOT NULL,
        at REAL NOT NULL,
        valid_before INTEGER NOT NULL DEFAULT 0,
        transaction_hash BLOB NOT NULL DEFAULT x''
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX payments_by_time ON payments (chain_id, at);
    CREATE INDEX payments_open ON payments (state) WHERE state IN ('reserved', 'signed');
    """
    + refused_after_forgetting("payments", "1"),
    # 19: the states of a turn in lists of two. For a longer list, SQLite builds a temporary table each time a
    # turn begins or ends. The rows stay as they are, so only the text of the schema changes.
    """
    PRAGMA writable_schema = ON;
    UPDATE sqlite_master SET sql = replace(sql,
        'state IN (''running'', ''finished'', ''failed'', ''paused'', ''cancelled'')',
        'state IN (''running'', ''finished'') OR state IN (''failed'', ''paused'') OR state = ''cancelled''')
    WHERE type = 'table' AND name = 'turns';
    PRAGMA writable_schema = RESET;
    """,
    # 20: messages whose turns belong to no reader, and the tokens of a server's clients. The text of a
    # message goes once its turn has begun. Of a token, only a hash is kept.
    """
    CREATE TABLE accepted_messages (
        turn_id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        client_key TEXT NOT NULL,
        text TEXT NOT NULL,
        mine INTEGER NOT NULL,
        can_ask INTEGER NOT NULL,
        accepted_at REAL NOT NULL,
        cancelled INTEGER NOT NULL,
        UNIQUE (session_id, client_key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX accepted_and_waiting ON accepted_messages (accepted_at) WHERE text <> '';
    CREATE TABLE tokens (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        client TEXT NOT NULL UNIQUE,
        scope TEXT NOT NULL CHECK (scope IN ('owner', 'chat', 'read')),
        digest BLOB NOT NULL UNIQUE,
        created_at REAL NOT NULL,
        used_at REAL NOT NULL DEFAULT 0
    ) STRICT;
    """,
    # 21: the specialist that a message is for; empty: the orchestrator chooses.
    "ALTER TABLE accepted_messages ADD COLUMN agent TEXT NOT NULL DEFAULT '';",
    # 22: the instructions and tools that models were shown. Events name them by their digest.
    """
    CREATE TABLE prompts (
        digest TEXT PRIMARY KEY,
        instruction TEXT NOT NULL,
        tools TEXT NOT NULL
    ) STRICT;
    """,
    # 23: the text of a message goes with the beginning of its turn. A token may end some seconds after its
    # last use; 0: it stays until it is revoked. Those of browsers, which no person names, end after 30 days.
    """
    CREATE TRIGGER accepted_message_begun AFTER INSERT ON turns BEGIN
        UPDATE accepted_messages SET text = '' WHERE turn_id = new.id;
    END;
    UPDATE accepted_messages SET text = '' WHERE text <> '' AND turn_id IN (SELECT id FROM turns);
    ALTER TABLE tokens ADD COLUMN lifetime REAL NOT NULL DEFAULT 0;
    UPDATE tokens SET lifetime = 2592000 WHERE client GLOB 'browser-*';
    """,
    # 24: the last model call that the sums of `spending` contain; a report adds the later ones. Events have
    # ids, which no VACUUM changes. A new event may get the id of a deleted one, so the mark moves back when
    # its own event is deleted.
    """
    CREATE TABLE events_with_ids (
        id INTEGER PRIMARY KEY,
        turn_id TEXT NOT NULL REFERENCES turns (id),
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        author TEXT NOT NULL,
        delegation_id TEXT NOT NULL,
        at REAL NOT NULL,
        data TEXT NOT NULL,
        UNIQUE (turn_id, seq)
    ) STRICT;
    INSERT INTO events_with_ids SELECT rowid, * FROM events ORDER BY rowid;
    DROP TABLE events;
    PRAGMA legacy_alter_table = ON;
    ALTER TABLE events_with_ids RENAME TO events;
    PRAGMA legacy_alter_table = OFF;
    CREATE TRIGGER events_rewritten BEFORE UPDATE ON events
    WHEN old.kind IN ('turn_started', 'turn_finished') BEGIN
        INSERT INTO exchanges_index (exchanges_index, rowid, asked, answered)
        SELECT 'delete', id, asked, answered FROM exchanges WHERE turn_id = old.turn_id;
        DELETE FROM searchable_turns WHERE turn_id = old.turn_id;
    END;
    CREATE TABLE spending_mark (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        event_id INTEGER NOT NULL
    ) STRICT;
    INSERT INTO spending_mark SELECT 1, coalesce(max(id), 0) FROM events WHERE kind = 'model_called';
    CREATE TRIGGER spending_mark_deleted AFTER DELETE ON events WHEN old.kind = 'model_called' BEGIN
        UPDATE spending_mark SET event_id = coalesce(
            (SELECT id FROM events WHERE id < old.id AND kind = 'model_called' ORDER BY id DESC LIMIT 1), 0)
        WHERE event_id = old.id;
    END;
    """
    + refused_after_forgetting("events", "true"),
    # 25: turns that a process is asked to stop.
    """
    CREATE TABLE stop_requests (
        turn_id TEXT PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    """,
    # 26: callers, who are not the owner: the tokens for them, the sessions of each, and where they want to be
    # told how a task goes.
    """
    PRAGMA writable_schema = ON;
    UPDATE sqlite_master SET sql = replace(sql,
        'scope IN (''owner'', ''chat'', ''read'')', 'scope IN (''owner'', ''chat'', ''read'', ''a2a'')')
    WHERE type = 'table' AND name = 'tokens';
    PRAGMA writable_schema = RESET;
    ALTER TABLE accepted_messages ADD COLUMN caller TEXT NOT NULL DEFAULT '';
    CREATE TABLE caller_sessions (
        session_id TEXT PRIMARY KEY,
        token_id INTEGER NOT NULL,
        context_id TEXT NOT NULL,
        created_at REAL NOT NULL,
        UNIQUE (token_id, context_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE push_targets (
        turn_id TEXT NOT NULL,
        target_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (turn_id, target_id)
    ) STRICT, WITHOUT ROWID;
    """,
    # 27: whether a model answered without any text, when it was asked to observe or to reflect.
    "ALTER TABLE memory_work ADD COLUMN empty INTEGER NOT NULL DEFAULT 0;",
    # 28: the numbers of passages (under an empty name) and of vectors by space, and of changes of these
    # vectors. Counting all rows after each write would take longer every year.
    """
    CREATE TABLE passage_counts (
        space TEXT PRIMARY KEY,
        number INTEGER NOT NULL,
        changes INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    INSERT INTO passage_counts (space, number) SELECT '', count(*) FROM passages
        UNION ALL SELECT space, count(*) FROM vectors GROUP BY space;
    CREATE TRIGGER passages_counted AFTER INSERT ON passages BEGIN
        INSERT INTO passage_counts VALUES ('', 1, 0) ON CONFLICT DO UPDATE SET number = number + 1;
    END;
    CREATE TRIGGER passages_uncounted AFTER DELETE ON passages BEGIN
        UPDATE passage_counts SET number = number - 1 WHERE space = '';
    END;
    CREATE TRIGGER vectors_counted AFTER INSERT ON vectors BEGIN
        INSERT INTO passage_counts VALUES (new.space, 1, 1)
        ON CONFLICT DO UPDATE SET number = number + 1, changes = changes + 1;
    END;
    CREATE TRIGGER vectors_uncounted AFTER DELETE ON vectors BEGIN
        UPDATE passage_counts SET number = number - 1, changes = changes + 1 WHERE space = old.space;
    END;
    """,
    # 29: the slots of facts, derived from their texts; 0: not read yet, or the text has changed.
    """
    ALTER TABLE memories ADD COLUMN slots_read INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX memories_unread ON memories (id) WHERE slots_read = 0;
    CREATE INDEX memories_by_time ON memories (created_at);
    CREATE INDEX memories_by_turn ON memories (turn_id);
    CREATE TABLE fact_slots (
        memory_id INTEGER NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
        subject TEXT NOT NULL,
        relation TEXT NOT NULL,
        value TEXT NOT NULL
    ) STRICT;
    CREATE INDEX fact_slots_by_relation ON fact_slots (relation, subject);
    CREATE INDEX fact_slots_of_fact ON fact_slots (memory_id);
    CREATE TRIGGER memories_reworded AFTER UPDATE OF text ON memories BEGIN
        DELETE FROM fact_slots WHERE memory_id = new.id;
        UPDATE memories SET slots_read = 0 WHERE id = new.id;
    END;
    """,
)
