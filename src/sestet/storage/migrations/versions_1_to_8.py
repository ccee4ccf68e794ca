"""Migrations 1 to 8: conversations, memory, graph, knowledge, approvals, labels, passages."""

# ruff: noqa: S608 - every part of every statement is written here


def kept_in_passages(
    table: str, title: str, text: str, source: str, session_id: str = "session_id", at: str = "created_at"
) -> str:
    """SQL that creates a passage for each present row of a table, and triggers for later rows.

    The other arguments are SQL expressions over the table's columns.
    """
    passage = f"""INSERT INTO passages
        SELECT NULL, '{table}', id, {title}, {text}, {source}, {session_id}, untrusted, private, sources, {at}
        FROM {table}"""
    removal = f"DELETE FROM passages WHERE collection = '{table}' AND item_id = old.id;"
    return f"""
    CREATE TRIGGER {table}_into_passages AFTER INSERT ON {table} BEGIN
        {passage} WHERE id = new.id;
    END;
    CREATE TRIGGER {table}_out_of_passages AFTER DELETE ON {table} BEGIN
        {removal}
    END;
    CREATE TRIGGER {table}_anew_in_passages AFTER UPDATE ON {table} BEGIN
        {removal}
        {passage} WHERE id = new.id;
    END;
    {passage};
    """


VERSIONS_1_TO_8: tuple[str, ...] = (
    # 1: sessions, turns and events
    """
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL
    ) STRICT;
    CREATE TABLE turns (
        id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL REFERENCES sessions (id),
        number INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'failed', 'paused', 'cancelled')),
        UNIQUE (session_id, number)
    ) STRICT;
    CREATE TABLE events (
        turn_id TEXT NOT NULL REFERENCES turns (id),
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        author TEXT NOT NULL,
        delegation_id TEXT NOT NULL,
        at REAL NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (turn_id, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE VIEW log AS
        SELECT session_id, turn_id, seq, author, delegation_id, at, kind, data, number
        FROM events JOIN turns ON turns.id = events.turn_id;
    """,
    # 2: facts that the person asked to remember
    """
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        text TEXT NOT NULL,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        created_at REAL NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE memories_index USING fts5 (text, content='memories', content_rowid='id',
        tokenize='porter unicode61 remove_diacritics 2');
    CREATE TRIGGER memories_inserted AFTER INSERT ON memories BEGIN
        INSERT INTO memories_index (rowid, text) VALUES (new.id, new.text);
    END;
    CREATE TRIGGER memories_deleted AFTER DELETE ON memories BEGIN
        INSERT INTO memories_index (memories_index, rowid, text) VALUES ('delete', old.id, old.text);
    END;
    """,
    # 3: observations and reflections
    """
    CREATE TABLE observations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        text TEXT NOT NULL,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        created_at REAL NOT NULL
    ) STRICT;
    CREATE INDEX observations_by_session ON observations (session_id, id);
    CREATE TABLE reflections (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        text TEXT NOT NULL,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        created_at REAL NOT NULL,
        level INTEGER NOT NULL CHECK (level >= 1)
    ) STRICT;
    CREATE INDEX reflections_by_session ON reflections (session_id, id);
    CREATE TABLE covered (
        reflection_id INTEGER NOT NULL REFERENCES reflections (id) ON DELETE CASCADE,
        observation_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
        PRIMARY KEY (reflection_id, observation_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX covered_by_observation ON covered (observation_id);
    """,
    # 4: the graph; a key is equal for all spellings of a node
    """
    CREATE TABLE triples (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        subject TEXT NOT NULL,
        predicate TEXT NOT NULL,
        object TEXT NOT NULL,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        created_at REAL NOT NULL,
        subject_key TEXT NOT NULL,
        object_key TEXT NOT NULL,
        UNIQUE (subject_key, predicate, object_key)
    ) STRICT;
    CREATE INDEX triples_by_object ON triples (object_key, subject_key);
    CREATE INDEX triples_by_predicate ON triples (predicate);
    """,
    # 5: knowledge entries
    """
    CREATE TABLE knowledge (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL COLLATE NOCASE UNIQUE,
        content TEXT NOT NULL,
        category TEXT NOT NULL,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE knowledge_index USING fts5 (key, content, content='knowledge', content_rowid='id',
        tokenize='porter unicode61 remove_diacritics 2');
    CREATE TRIGGER knowledge_inserted AFTER INSERT ON knowledge BEGIN
        INSERT INTO knowledge_index (rowid, key, content) VALUES (new.id, new.key, new.content);
    END;
    CREATE TRIGGER knowledge_deleted AFTER DELETE ON knowledge BEGIN
        INSERT INTO knowledge_index (knowledge_index, rowid, key, content)
        VALUES ('delete', old.id, old.key, old.content);
    END;
    CREATE TRIGGER knowledge_updated AFTER UPDATE ON knowledge BEGIN
        INSERT INTO knowledge_index (knowledge_index, rowid, key, content)
        VALUES ('delete', old.id, old.key, old.content);
        INSERT INTO knowledge_index (rowid, key, content) VALUES (new.id, new.key, new.content);
    END;
    """,
    # 6: approval questions and standing grants
    """
    CREATE TABLE approvals (
        id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL REFERENCES turns (id),
        agent TEXT NOT NULL,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        pattern TEXT NOT NULL,
        digest TEXT NOT NULL,
        reason TEXT NOT NULL,
        sources TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'used')),
        asked_at REAL NOT NULL,
        expires_at REAL NOT NULL,
        scope TEXT NOT NULL CHECK (scope IN ('once', 'session', 'always'))
    ) STRICT;
    CREATE INDEX approvals_by_state ON approvals (state, expires_at);
    CREATE TABLE grants (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        agent TEXT NOT NULL,
        tool TEXT NOT NULL,
        pattern TEXT NOT NULL,
        session_id TEXT NOT NULL,
        granted_at REAL NOT NULL
    ) STRICT;
    CREATE INDEX grants_by_tool ON grants (agent, tool);
    CREATE INDEX turns_by_state ON turns (state) WHERE state IN ('running', 'paused');
    """,
    # 7: labels; rows stored before get the strictest label
    """
    ALTER TABLE memories ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE memories ADD COLUMN private INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE memories ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE observations ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE observations ADD COLUMN private INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE observations ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE reflections ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE reflections ADD COLUMN private INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE reflections ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE triples ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE triples ADD COLUMN private INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE triples ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE knowledge ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE knowledge ADD COLUMN private INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE knowledge ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
    """,
    # 8: passages, which triggers copy from the other tables, and their vectors;
    # a passage without a vector in the present space waits to be embedded
    """
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        collection TEXT NOT NULL CHECK (collection IN
            ('memories', 'knowledge', 'learnings', 'observations', 'reflections', 'documents')),
        item_id INTEGER NOT NULL,
        title TEXT NOT NULL,
        text TEXT NOT NULL,
        source TEXT NOT NULL,
        session_id TEXT NOT NULL,
        untrusted INTEGER NOT NULL,
        private INTEGER NOT NULL,
        sources TEXT NOT NULL,
        created_at REAL NOT NULL,
        UNIQUE (collection, item_id)
    ) STRICT;
    CREATE VIRTUAL TABLE passages_index USING fts5 (title, text, content='passages', content_rowid='id',
        tokenize='porter unicode61 remove_diacritics 2');
    CREATE TRIGGER passages_inserted AFTER INSERT ON passages BEGIN
        INSERT INTO passages_index (rowid, title, text) VALUES (new.id, new.title, new.text);
    END;
    CREATE TRIGGER passages_deleted AFTER DELETE ON passages BEGIN
        INSERT INTO passages_index (passages_index, rowid, title, text)
        VALUES ('delete', old.id, old.title, old.text);
    END;
    CREATE TABLE vectors (
        passage_id INTEGER PRIMARY KEY REFERENCES passages (id) ON DELETE CASCADE,
        space TEXT NOT NULL,
        vector BLOB NOT NULL
    ) STRICT;
    CREATE INDEX vectors_by_space ON vectors (space);
    """
    + kept_in_passages("memories", "''", "text", "'told on ' || date(created_at, 'unixepoch')")
    + kept_in_passages("observations", "''", "text", "'session ' || session_id")
    + kept_in_passages("reflections", "''", "text", "'session ' || session_id")
    + kept_in_passages("knowledge", "key", "content", "key", session_id="''", at="updated_at"),
)
