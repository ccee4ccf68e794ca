"""9 and 10: versions, lessons, past conversations, documents."""

# ruff: noqa: S608 - every part of every statement is written here

from sestet.storage.migrations.passages import kept_in_passages

KNOWLEDGE: tuple[str, ...] = (
    # 9: knowledge has versions and tags, lessons a table; past turns are found once a search has indexed them
    """
    DROP TRIGGER knowledge_inserted;
    DROP TRIGGER knowledge_deleted;
    DROP TRIGGER knowledge_updated;
    DROP TABLE knowledge_index;
    DROP TRIGGER knowledge_into_passages;
    DROP TRIGGER knowledge_out_of_passages;
    DROP TRIGGER knowledge_anew_in_passages;
    DELETE FROM passages WHERE collection = 'knowledge';
    ALTER TABLE knowledge ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE knowledge ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
    CREATE TABLE knowledge_versions (
        knowledge_id INTEGER NOT NULL REFERENCES knowledge (id) ON DELETE CASCADE,
        version INTEGER NOT NULL,
        previous INTEGER,
        content TEXT NOT NULL,
        category TEXT NOT NULL,
        tags TEXT NOT NULL,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        saved_at REAL NOT NULL,
        untrusted INTEGER NOT NULL,
        private INTEGER NOT NULL,
        sources TEXT NOT NULL,
        PRIMARY KEY (knowledge_id, version)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO knowledge_versions
        SELECT id, 1, NULL, content, category, tags, session_id, turn_id, updated_at,
            untrusted, private, sources
        FROM knowledge;
    CREATE TABLE learnings (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        trigger TEXT NOT NULL COLLATE NOCASE,
        fix TEXT NOT NULL,
        cause TEXT NOT NULL,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        created_at REAL NOT NULL,
        untrusted INTEGER NOT NULL,
        private INTEGER NOT NULL,
        sources TEXT NOT NULL,
        UNIQUE (trigger, fix)
    ) STRICT;
    CREATE TABLE searchable_turns (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        turn_id TEXT NOT NULL UNIQUE REFERENCES turns (id)
    ) STRICT;
    CREATE VIEW exchanges AS
        SELECT searchable_turns.id, turn_id, session_id,
            (SELECT at FROM events WHERE events.turn_id = turns.id ORDER BY seq LIMIT 1) AS at,
            (SELECT json_extract(data, '$.text') FROM events
             WHERE events.turn_id = turns.id AND kind = 'turn_started') AS asked,
            (SELECT json_extract(data, '$.text') FROM events
             WHERE events.turn_id = turns.id AND kind = 'turn_finished') AS answered,
            (SELECT json_extract(data, '$.label') FROM events
             WHERE events.turn_id = turns.id AND kind = 'turn_finished') AS label
        FROM searchable_turns JOIN turns ON turns.id = turn_id;
    CREATE VIRTUAL TABLE exchanges_index USING fts5 (asked, answered, content='exchanges', content_rowid='id',
        tokenize='porter unicode61 remove_diacritics 2');
    CREATE TRIGGER searchable_turns_inserted AFTER INSERT ON searchable_turns BEGIN
        INSERT INTO exchanges_index (rowid, asked, answered)
        SELECT id, asked, answered FROM exchanges WHERE id = new.id;
    END;
    CREATE TRIGGER events_rewritten BEFORE UPDATE ON events
    WHEN old.kind IN ('turn_started', 'turn_finished') BEGIN
        INSERT INTO exchanges_index (exchanges_index, rowid, asked, answered)
        SELECT 'delete', id, asked, answered FROM exchanges WHERE turn_id = old.turn_id;
        DELETE FROM searchable_turns WHERE turn_id = old.turn_id;
    END;
    """
    + kept_in_passages(
        "knowledge",
        """key || coalesce(
            (SELECT ' (' || group_concat(value, ', ') || ')' FROM json_each(tags) HAVING count(*)), '')""",
        "content",
        "key",
        session_id="''",
        at="updated_at",
    )
    + kept_in_passages(
        "learnings",
        "trigger",
        "fix || iif(cause = '', '', ' (because ' || cause || ')')",
        "'lesson ' || id",
        session_id="''",
    ),
    # 10: documents; the text of a chunk is its passage, and nowhere else
    """
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        digest TEXT NOT NULL,
        ingested_at REAL NOT NULL
    ) STRICT;
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        UNIQUE (document_id, number)
    ) STRICT;
    CREATE TRIGGER chunks_out_of_passages AFTER DELETE ON chunks BEGIN
        DELETE FROM passages WHERE collection = 'documents' AND item_id = old.id;
    END;
    """,
)
