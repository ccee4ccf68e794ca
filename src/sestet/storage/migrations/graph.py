"""11: a graph that is walked fast, and texts that are read for facts."""

GRAPH: tuple[str, ...] = (
    # 11: nodes as numbers, which makes a walk fast. A fact knows the row it was read out of, and goes with
    # it, unless another row says the same; a row whose text stays as it was keeps its facts.
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
)
