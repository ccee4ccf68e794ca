"""12: facts that replace others, how far was observed, and one index over all that is remembered."""

# ruff: noqa: S608 - every part of every statement is written here

from sestet.storage.migrations.passages import kept_in_passages

MEMORY: tuple[str, ...] = (
    # 12: who made a row and what replaced it; one index over all that is remembered; how far was observed.
    # What was said before is not observed: nobody expects a new version to read years of conversations.
    """
    ALTER TABLE memories ADD COLUMN made_by TEXT NOT NULL DEFAULT 'chronicler';
    ALTER TABLE observations ADD COLUMN made_by TEXT NOT NULL DEFAULT 'chronicler';
    ALTER TABLE reflections ADD COLUMN made_by TEXT NOT NULL DEFAULT 'chronicler';
    CREATE TABLE superseded (
        memory_id INTEGER PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
        by_id INTEGER NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
        at REAL NOT NULL
    ) STRICT;
    CREATE INDEX superseded_by ON superseded (by_id);
    CREATE TABLE gathered (
        reflection_id INTEGER NOT NULL REFERENCES reflections (id) ON DELETE CASCADE,
        source_id INTEGER NOT NULL REFERENCES reflections (id) ON DELETE CASCADE,
        PRIMARY KEY (reflection_id, source_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX gathered_by_source ON gathered (source_id);
    CREATE TABLE observed_in (
        observation_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
        turn_id TEXT NOT NULL,
        PRIMARY KEY (observation_id, turn_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX observed_in_by_turn ON observed_in (turn_id);
    INSERT INTO observed_in SELECT id, turn_id FROM observations;
    CREATE TABLE observed (
        session_id TEXT PRIMARY KEY,
        number INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO observed SELECT session_id, max(number) FROM turns GROUP BY session_id;
    CREATE TABLE passed_over (
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL REFERENCES turns (id),
        PRIMARY KEY (session_id, turn_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE forgotten_turns (turn_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE memory_work (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        stage TEXT NOT NULL CHECK (stage IN ('observe', 'reflect')),
        made_by TEXT NOT NULL,
        made INTEGER NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        nano_dollars INTEGER NOT NULL,
        at REAL NOT NULL,
        problem TEXT NOT NULL
    ) STRICT;
    DROP TRIGGER memories_inserted;
    DROP TRIGGER memories_deleted;
    DROP TABLE memories_index;
    CREATE VIEW remembered AS SELECT id, text, collection FROM passages
        WHERE collection IN ('memories', 'observations', 'reflections');
    CREATE VIRTUAL TABLE remembered_index USING fts5 (text, collection, content='remembered',
        content_rowid='id', tokenize='porter unicode61 remove_diacritics 2');
    CREATE TRIGGER remembered_inserted AFTER INSERT ON passages
    WHEN new.collection IN ('memories', 'observations', 'reflections') BEGIN
        INSERT INTO remembered_index (rowid, text, collection) VALUES (new.id, new.text, new.collection);
    END;
    CREATE TRIGGER remembered_deleted AFTER DELETE ON passages
    WHEN old.collection IN ('memories', 'observations', 'reflections') BEGIN
        INSERT INTO remembered_index (remembered_index, rowid, text, collection)
        VALUES ('delete', old.id, old.text, old.collection);
    END;
    INSERT INTO remembered_index (remembered_index) VALUES ('rebuild');
    INSERT INTO remembered_index (remembered_index, rank) VALUES ('rank', 'bm25(1.0, 0.0)');
    DROP TRIGGER reflections_into_passages;
    DROP TRIGGER reflections_out_of_passages;
    DROP TRIGGER reflections_anew_in_passages;
    DELETE FROM passages WHERE collection = 'reflections';
    """
    + kept_in_passages(
        "reflections", "''", "text", "iif(session_id = '', 'several sessions', 'session ' || session_id)"
    ),
)
