"""Migrations 9 to 15: knowledge versions, lessons, documents, graph nodes, memory, spending."""

# ruff: noqa: S608 - every part of every statement is written here

from sestet.storage.migrations.version_15 import VERSION_15
from sestet.storage.migrations.versions_1_to_8 import kept_in_passages

#: The tables that a turn writes to, each with the column ``turn_id``, and which of their rows a turn writes.
#: A graph fact with a collection was read from a row that stays, perhaps after its turn was ended.
_WRITTEN_BY_TURNS = {
    "events": "true",
    "memories": "true",
    "observations": "true",
    "knowledge_versions": "true",
    "learnings": "true",
    "triples": "new.collection = ''",
}


def refused_after_forgetting(table: str, rows: str) -> str:
    """A trigger that refuses further rows of a turn that forgetting has ended."""
    return f"""
    CREATE TRIGGER {table}_of_forgotten_turns BEFORE INSERT ON {table}
    WHEN {rows} AND EXISTS (SELECT 1 FROM forgotten_turns WHERE turn_id = new.turn_id AND ended) BEGIN
        SELECT RAISE(ABORT, 'the turn was ended by forgetting');
    END;
    """


VERSIONS_9_ONWARD: tuple[str, ...] = (
    # 9: versions and tags of knowledge, lessons, and the full-text index of past turns
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
    # 10: documents; the text of a chunk is stored only as its passage
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
    # 11: node ids, for fast walks. A fact refers to the row it was extracted from and is removed with it,
    # unless another row states the same fact; a row whose text does not change keeps its facts.
    """
    CREATE TABLE nodes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE
    ) STRICT;
    INSERT INTO nodes (key) SELECT subject_key FROM triples UNION SELECT object_key FROM triples;
    ALTER TABLE triples RENAME TO former_triples;
    CREATE TABLE triples (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        subject TEXT NOT NULL,
        predicate TEXT NOT NULL,
        object TEXT NOT NULL,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        created_at REAL NOT NULL,
        collection TEXT NOT NULL,
        item_id INTEGER NOT NULL,
        untrusted INTEGER NOT NULL,
        private INTEGER NOT NULL,
        sources TEXT NOT NULL,
        subject_id INTEGER NOT NULL REFERENCES nodes (id),
        object_id INTEGER NOT NULL REFERENCES nodes (id),
        UNIQUE (subject_id, predicate, object_id)
    ) STRICT;
    INSERT INTO triples
        SELECT former.id, subject, predicate, object, session_id, turn_id, created_at, '', 0,
            untrusted, private, sources, subject_node.id, object_node.id
        FROM former_triples AS former
        JOIN nodes AS subject_node ON subject_node.key = subject_key
        JOIN nodes AS object_node ON object_node.key = object_key
        ORDER BY former.id;
    DROP TABLE former_triples;
    CREATE INDEX triples_by_object ON triples (object_id, predicate, subject_id);
    CREATE INDEX triples_by_predicate ON triples (predicate);
    CREATE INDEX triples_by_source ON triples (collection, item_id) WHERE collection <> '';
    CREATE TRIGGER triples_deleted AFTER DELETE ON triples BEGIN
        DELETE FROM nodes WHERE id IN (old.subject_id, old.object_id)
            AND NOT EXISTS (SELECT 1 FROM triples WHERE subject_id = nodes.id)
            AND NOT EXISTS (SELECT 1 FROM triples WHERE object_id = nodes.id);
    END;
    CREATE TABLE extractions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        collection TEXT NOT NULL,
        item_id INTEGER NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        claimed_until REAL NOT NULL DEFAULT 0,
        UNIQUE (collection, item_id)
    ) STRICT;
    CREATE TABLE proposals (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        subject TEXT NOT NULL,
        predicate TEXT NOT NULL,
        object TEXT NOT NULL,
        session_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        created_at REAL NOT NULL,
        collection TEXT NOT NULL,
        item_id INTEGER NOT NULL,
        untrusted INTEGER NOT NULL,
        private INTEGER NOT NULL,
        sources TEXT NOT NULL,
        subject_key TEXT NOT NULL,
        object_key TEXT NOT NULL,
        proposed_by TEXT NOT NULL CHECK (proposed_by IN ('rules', 'model')),
        state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'rejected')),
        UNIQUE (collection, item_id, subject_key, predicate, object_key)
    ) STRICT;
    CREATE INDEX proposals_by_fact ON proposals (subject_key, predicate, object_key);
    CREATE INDEX proposals_open ON proposals (id) WHERE state = 'open';
    CREATE VIEW supports AS
        SELECT triples.id AS triple_id, proposals.id AS proposal_id
        FROM triples
        JOIN nodes AS subject_node ON subject_node.id = subject_id
        JOIN nodes AS object_node ON object_node.id = object_id
        JOIN proposals ON proposals.subject_key = subject_node.key
            AND proposals.predicate = triples.predicate AND proposals.object_key = object_node.key
        WHERE proposals.state = 'accepted'
        ORDER BY proposals.untrusted, proposals.id;
    CREATE TRIGGER passages_into_extractions AFTER INSERT ON passages
    WHEN new.collection IN ('memories', 'knowledge', 'learnings') BEGIN
        DELETE FROM extractions WHERE collection = new.collection AND item_id = new.item_id;
        INSERT INTO extractions (collection, item_id) VALUES (new.collection, new.item_id);
    END;
    CREATE TRIGGER passages_out_of_graph AFTER DELETE ON passages
    WHEN old.collection IN ('memories', 'knowledge', 'learnings')
        AND NOT EXISTS (SELECT 1 FROM memories
            WHERE old.collection = 'memories' AND id = old.item_id AND text = old.text)
        AND NOT EXISTS (SELECT 1 FROM knowledge
            WHERE old.collection = 'knowledge' AND id = old.item_id AND content = old.text)
        AND NOT EXISTS (SELECT 1 FROM learnings
            WHERE old.collection = 'learnings' AND id = old.item_id AND "trigger" = old.title
                AND fix || iif(cause = '', '', ' (because ' || cause || ')') = old.text)
    BEGIN
        DELETE FROM extractions WHERE collection = old.collection AND item_id = old.item_id;
        DELETE FROM proposals WHERE collection = old.collection AND item_id = old.item_id;
        UPDATE triples
        SET (session_id, turn_id, created_at, collection, item_id, untrusted, private, sources) = (
            SELECT session_id, turn_id, created_at, collection, item_id, untrusted, private, sources
            FROM proposals WHERE id = (SELECT proposal_id FROM supports WHERE triple_id = triples.id)
        )
        WHERE collection = old.collection AND item_id = old.item_id
            AND id IN (SELECT triple_id FROM supports WHERE triple_id = triples.id);
        DELETE FROM triples WHERE collection = old.collection AND item_id = old.item_id;
    END;
    """,
    # 12: author and successor of a memory; one index over everything remembered; marks of the observer.
    # Earlier turns are marked as observed: an update must not send years of conversations to a model.
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
    # 13: what a standing answer was given for. Earlier ones do not say it: they cover a risk in a context
    # that has read nothing untrusted or private.
    """
    ALTER TABLE approvals ADD COLUMN why TEXT NOT NULL DEFAULT 'risk';
    ALTER TABLE approvals ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE approvals ADD COLUMN private INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE grants ADD COLUMN why TEXT NOT NULL DEFAULT 'risk';
    ALTER TABLE grants ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE grants ADD COLUMN private INTEGER NOT NULL DEFAULT 0;
    """,
    # 14: when something was forgotten, and whether its traces are wiped; a turn that forgetting has ended
    # writes nothing more, whichever process runs it. The words themselves are kept nowhere.
    """
    CREATE TABLE forgettings (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at REAL NOT NULL,
        wiped INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX forgettings_unwiped ON forgettings (id) WHERE NOT wiped;
    ALTER TABLE forgotten_turns ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
    """
    + "".join(refused_after_forgetting(table, rows) for table, rows in _WRITTEN_BY_TURNS.items()),
    # 15: what model calls have used, and titles that the person gave to sessions
    VERSION_15,
)
