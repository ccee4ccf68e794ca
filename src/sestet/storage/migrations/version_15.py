"""Migration 15: what model calls have used, filled from the journal once, and titles of sessions."""

# ruff: noqa: S608 - every part of every statement is written here

#: More than any call uses: a damaged row must not make the sums overflow.
_MOST_USED = 2**53


def _number(column: str) -> str:
    """The column as a whole number from 0 on, whatever an event holds."""
    return f"iif({column} > 0, min(CAST({column} AS INTEGER), {_MOST_USED}), 0) AS {column}"


# Earlier events do not say that a call was free: the models of this machine were. An event that is no JSON is
# left out, so that a damaged row does not keep the file from being opened.
VERSION_15 = f"""
    CREATE TABLE spending (
        day TEXT NOT NULL,
        work TEXT NOT NULL CHECK (work IN ('turn', 'observe', 'reflect', 'extract', 'embed')),
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        model TEXT NOT NULL,
        calls INTEGER NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL,
        estimated_tokens INTEGER NOT NULL,
        unpriced_tokens INTEGER NOT NULL,
        nano_dollars INTEGER NOT NULL,
        PRIMARY KEY (day, work, session_id, agent, model)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE session_titles (
        session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
        title TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    WITH calls (at, work, session_id, agent, model, input, output, cached, estimated, dollars) AS (
        SELECT at, 'turn', session_id, author, json_extract(data, '$.model'),
            json_extract(data, '$.usage.input_tokens'), json_extract(data, '$.usage.output_tokens'),
            json_extract(data, '$.usage.cached_tokens'), json_extract(data, '$.estimated_tokens'),
            json_extract(data, '$.usage.nano_dollars')
        FROM log WHERE kind = 'model_called' AND json_valid(data)
        UNION ALL
        SELECT at, stage, '', '', made_by, input_tokens, output_tokens, 0, 0, nano_dollars
        FROM memory_work
    ),
    numbers AS (
        SELECT coalesce(date(at, 'unixepoch', 'localtime'), '1970-01-01') AS day, work, session_id, agent,
            CAST(coalesce(model, '') AS TEXT) AS model, {_number("input")}, {_number("output")},
            {_number("cached")}, {_number("estimated")}, {_number("dollars")},
            coalesce(model = 'offline' OR model LIKE 'local/%', 0) AS free
        FROM calls
    )
    INSERT INTO spending
        SELECT day, work, session_id, agent, model, count(*), sum(input), sum(output), sum(cached),
            sum(iif(free, 0, estimated)), sum(iif(free OR dollars, 0, input + output + estimated)),
            sum(dollars)
        FROM numbers WHERE input + output + dollars OR (estimated AND NOT free)
        GROUP BY day, work, session_id, agent, model;
    """
